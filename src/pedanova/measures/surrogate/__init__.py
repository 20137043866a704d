"""The model that answers where rows are few, and who decides whether it does."""
