"""Plug-ins with which other tools use pedanova."""
