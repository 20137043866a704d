"""`analyze`, `Analysis` and `load`: the whole way on one page."""
