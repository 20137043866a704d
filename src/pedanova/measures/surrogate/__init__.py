"""The model of the objective that is used if there are few rows, and the choice between model and counts.

`estimate.py` chooses the estimator. For a new one, copy `posterior.py` (what is drawn from a model) and `summaries.py`
(how shares, densities and counts follow from it).
"""
