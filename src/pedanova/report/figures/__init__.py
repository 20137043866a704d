"""Figures for papers and notebooks.

For a new figure, copy a function of `draw.py` (lists, pairs, objectives) or `spread.py` (values of one parameter): it
takes a result and an Axes. Add a method to `plots.py` and a line to ``docs/figures.md``.
"""
