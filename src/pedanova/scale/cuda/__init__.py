"""The same counts on a graphics card, from arrays that lie there."""
