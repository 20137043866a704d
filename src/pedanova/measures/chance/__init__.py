"""Test whether an effect may be due to chance: ranked rows, dependent parameters, p-values."""
