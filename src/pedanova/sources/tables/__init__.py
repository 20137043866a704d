"""Tables as people keep them: arrays, frames, text and binary files."""
