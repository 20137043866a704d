"""The functions `analyze` and `load`, and `Analysis`, the class of their results.

A public method builds a question, calls one function of `measures` or `reduction`, and does nothing else: for a new
one, copy a method of `analysis.py`, export the type of its answer in ``results.py``, and write its docstring with an
example. `watched.py` follows a source that grows.
"""
