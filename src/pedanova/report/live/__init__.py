"""The live page: a session that answers it, access control, and a server on this machine."""
