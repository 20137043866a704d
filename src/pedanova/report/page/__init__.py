"""The report: one HTML file that moves."""
