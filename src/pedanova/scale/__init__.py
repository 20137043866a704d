"""Counting in parts, on clusters, in databases and on GPUs, with the same results."""
