"""The page with somebody who answers: a session, its guard, and a server on this machine."""
