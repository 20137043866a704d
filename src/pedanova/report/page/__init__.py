"""The report: one interactive HTML file."""
