"""Counting on a GPU, from arrays in its memory, with the same results."""
