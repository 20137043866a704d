"""The functions `analyze` and `load`, and the class `Analysis` of their results."""
