"""Engines: observations and levels in, tallies out. Every engine counts the same."""
