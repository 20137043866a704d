"""Counts become numbers: importance, sureness, pairs, effects; models stand beside them."""
