"""Optuna's studies: as objects, in databases, in journals."""
