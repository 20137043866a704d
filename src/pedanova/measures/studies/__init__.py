"""Several studies: at several budgets or seeds, two compared, and many pooled."""
