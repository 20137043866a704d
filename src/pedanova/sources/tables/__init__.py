"""Tables: arrays, data frames, text and binary files."""
