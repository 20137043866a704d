"""Search spaces as other tools write them."""
