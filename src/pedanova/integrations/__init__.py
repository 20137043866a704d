"""Plug-ins with which other tools use pedanova.

For a new plug-in, copy `optuna.py`; its tool is an optional dependency and is imported only there.
"""
