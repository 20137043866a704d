"""The live page: a session that answers its requests, access control, and a server on this machine."""
