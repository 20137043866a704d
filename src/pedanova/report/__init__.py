"""Show results in the terminal, on an HTML page and in figures.

Nothing here computes statistics or reads rows. Sentences are in `sentences.py` and colours in `palette.py`, for all
kinds of output. A new figure, card or table goes into the folder of its medium, which says what to copy.
"""
