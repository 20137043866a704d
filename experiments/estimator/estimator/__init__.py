"""A model as another source of tallies, and p-values for the table that people see."""
