"""Levels, tallies, contrasts, and the file that keeps them."""
