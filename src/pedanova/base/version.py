"""The version number, which is defined only here."""

__version__ = "0.1.0"
