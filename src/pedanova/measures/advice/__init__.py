"""Advice: what tuning gains, which trials to run next, and when to stop."""
