"""Machinery without a word of the subject: threads, progress, notes, printed tables."""
