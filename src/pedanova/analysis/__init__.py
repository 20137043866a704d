"""`analyze`, `Analysis` and `load`."""
