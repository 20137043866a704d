"""Divide the objective into levels, count rows by level and parameter cell, and store the counts in a file.

Nothing behind this subpackage sees how large the data are. A new statistic of rows by level and cell goes into
`tally.py` and, in its plainest form, into `reference.py`, with which tests compare every other way of counting.
"""
