"""Reduce the search space, with a reason for every parameter.

How slices are cut off is in `box.py`; a new verdict goes into `reduce.py`, and its domains into `domains.py`.
"""
