"""One reader for the log of each tool, and their common parts."""
