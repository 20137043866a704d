"""Tables of any size, as parts that are read one after the other."""
