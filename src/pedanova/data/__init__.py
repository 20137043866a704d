"""Read the columns and objectives of a table, apply conditions, and produce `Observations`."""
