"""Rank rows, find dependent parameters and compute p-values, to test whether an effect may be due to chance."""
