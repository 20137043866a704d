"""The same counts in parts, on clusters and in databases."""
