"""The functions `analyze` and `load`, and the class `Analysis`, which both return."""
