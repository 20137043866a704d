"""Tables and plots as text.

Results declare their columns; `tables.py` makes them fit the terminal. For a new kind of plot, copy `curves.py`.
"""
