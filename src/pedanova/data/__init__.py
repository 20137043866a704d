"""Read the columns and objectives of a table, apply conditions, and produce `Observations`.

`prepare.py` applies all options for rows and columns. A new option of how a table is read is a field in `options.py`
or `table_options.py`. A new word for a metric or a state goes into `vocabulary.py`, a new rule about the role of one
column into `column_clues.py`, and a rule about columns together into `roles.py`. Guesses never change a value.
"""
