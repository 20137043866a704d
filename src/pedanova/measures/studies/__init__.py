"""More than one study: along budgets and seeds, between two, across many."""
