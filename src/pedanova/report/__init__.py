"""Show numbers in the terminal, on a page and in figures."""
