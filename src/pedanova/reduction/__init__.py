"""Smaller spaces, with a reason for every parameter."""
