"""Tables of any size, read in parts.

`scan.py` describes a table by its parts and columns without reading its rows. For a new format or library that yields
batches of rows, follow the ones in `batches.py`; for a new place where files lie, follow `objects.py`.
"""
