"""Questions to what was counted: the data of an analysis, and a function for each question."""
