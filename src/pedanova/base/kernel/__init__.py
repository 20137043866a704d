"""Exact algorithms on plain arrays, in C++ or NumPy.

The loops are in ``src/kernel``; `library.py` declares the calls and compares their signatures with those of the
compiled kernel. For a new loop, copy `dense.py` here and ``dense.hpp`` there: a header without Python, a call in
``bindings.cpp`` without arithmetic, and the same result in plain NumPy.
"""
