"""Readers for the logs of other tools, and functions that several readers use.

For a new reader, copy `ultralytics.py`: `fits` recognises the log, and `read` makes a list of trials, which
`trials.py` converts to columns. Then add its kind to the list in ``sources/registry.py`` (the order matters), a test
in ``tests/sources/logs``, and a line in ``docs/sources.md``.
"""
