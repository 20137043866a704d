"""Advice: what tuning gains, which trials to run next, and when to stop.

For new advice, copy `needed.py`: a frozen result with its printed columns and its summary in words, and a function that
computes it.
"""
