"""Readers for the logs of other tools, and functions that several readers use."""
