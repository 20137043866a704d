"""Rank rows, find dependent parameters and compute p-values, to test whether an effect may be due to chance.

The order of rows and columns must not matter, so all work is done on the sorted copy that `ranked_rows.py` makes. For a
new test, start from that copy, and simulate its errors as ``tests/measures/chance`` does.
"""
