"""The data of an analysis, and one function for each question.

For a new question, copy a short function of this folder: it takes the data and the question, and calls a measure. The
command line, `Analysis`, the page and the figures all call these functions.
"""
