"""Could chance alone have made it look so? Rows in ranks, kin among parameters, p-values."""
