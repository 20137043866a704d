"""Tables of any size, read in parts."""
