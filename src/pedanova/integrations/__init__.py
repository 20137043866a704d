"""Doors into other tools."""
