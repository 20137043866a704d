"""The model of the objective that is used if there are few rows, and the choice between model and counts."""
