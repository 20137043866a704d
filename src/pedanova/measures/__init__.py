"""Measures from counts (importances, intervals and p-values, interactions, effects) and from models."""
