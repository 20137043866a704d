"""Measures from counts (importances, intervals and p-values, interactions, effects) and from models.

A measure is a function from counts to a frozen result, which declares its printed columns once. For a new measure,
copy `effects.py`, and add a function in `measures/questions`, a method of `Analysis` and tests of exact values and
general laws. A new p-value or interval is also simulated, in ``tests/measures`` and in ``benchmarks/worlds.py``.
"""
