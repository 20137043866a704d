"""Exact algorithms on plain arrays, in C++ or NumPy."""
