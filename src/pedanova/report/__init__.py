"""Show results in the terminal, on an HTML page and in figures."""
