"""The model that answers if there are few rows, and the choice between model and counts."""
