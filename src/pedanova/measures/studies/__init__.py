"""Several budgets, seeds or studies: two studies are compared, many are pooled."""
