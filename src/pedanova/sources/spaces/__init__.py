"""Search spaces in the formats of other tools."""
