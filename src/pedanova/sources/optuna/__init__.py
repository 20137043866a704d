"""Optuna studies: objects, databases and journals.

Each kind of storage fills in a `StudyLog` (`study_log.py`), and the rest is common to all. For a new storage, copy
`journal.py`.
"""
