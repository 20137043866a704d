"""General tools that know nothing about hyperparameters: threads, progress, notes, printed tables."""
