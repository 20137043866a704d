"""One reader for each tool's log; what they share lies beside them."""
