"""The live page: a session that answers its requests, access control, and a server on this machine.

Every request is checked against the space and answered by `session.py`; `server.py` and `notebook.py` only carry it.
For another way to carry requests, copy `notebook.py`.
"""
