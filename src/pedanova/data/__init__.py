"""Columns, objectives and conditions become `Observations`."""
