"""Count tables in parts, on clusters, in databases and on GPUs, with the same results as in memory.

An engine is a `Countable` (``counting/countable.py``). For a new one, copy `pushdown.py`, and add a row to
``tests/counting/test_same_tallies.py``, which compares all engines cell by cell.
"""
