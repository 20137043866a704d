"""Divide the objective into levels, count rows by level and parameter cell, and store the counts in a file."""
