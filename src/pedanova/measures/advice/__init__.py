"""What follows from an analysis: what tuning wins, what to try next, and when to stop."""
