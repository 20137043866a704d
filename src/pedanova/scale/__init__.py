"""Count tables in parts, on clusters, in databases and on GPUs, with the same results as in memory."""
