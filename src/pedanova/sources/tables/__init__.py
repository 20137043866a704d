"""Tables in memory: arrays, data frames, text and binary files.

For a new file format, copy `json_text.py`, and add its suffix to `files.py`. Columns of every source are made by
`frames.py`. A new way to write numbers needs a case in ``tests/helpers/messy.py``.
"""
