"""Optuna studies: objects, databases and journals."""
