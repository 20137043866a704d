"""General tools that know nothing about hyperparameters: threads, progress, notes, files, printed tables.

A module belongs here if another project could use it unchanged. Numbers, names and tables are printed in one way
everywhere, because all output goes through `digits.py`, `names.py` and `table.py`. For a new kind of note, add it to
the list in `notes.py`.
"""
