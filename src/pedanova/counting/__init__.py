"""Levels, tallies and contrasts, and the file that stores them."""
