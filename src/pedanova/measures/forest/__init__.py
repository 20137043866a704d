"""f-ANOVA of a random forest, to compare with."""
