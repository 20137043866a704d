"""Reduce the search space, with a reason for every parameter."""
