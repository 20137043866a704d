"""From columns, objectives and conditions to `Observations`."""
