"""The same counts on a GPU, from arrays in its memory."""
