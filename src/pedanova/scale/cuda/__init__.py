"""The same counts on a GPU, from arrays that lie there."""
