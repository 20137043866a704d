"""The data of an analysis, and one function for each question."""
