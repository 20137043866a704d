"""Integrations into other tools."""
