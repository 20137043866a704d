"""Reduce the search space, with a reason for every parameter.

A new rule for narrowing, fixing or widening a parameter goes into `reduce.py`, and its reason in words into
`result.py`.
"""
