"""Measures from counts: importance, intervals and p-values, pairs, effects; and models."""
