"""The functions `analyze` and `load`, and `Analysis`, the class of their results."""
