"""Search spaces in the formats of other tools.

For a new format with files of its own, copy `configspace.py`, and let `read.py` recognise it. Spaces are written in
other formats by ``space/exports.py``.
"""
