"""Several budgets, seeds or studies: two studies are compared, many are pooled.

Studies are compared by their answers, not by their rows. For a new comparison, copy `seeds.py` (inside one table) or
`study_difference.py` (between two).
"""
