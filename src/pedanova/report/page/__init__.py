"""The report: one interactive HTML file.

Python computes every number (`answers.py`), `cards.py` says which request needs which of them, and the scripts in
``report/assets`` draw them. For a new tab, copy an entry of `cards.py` and ``report/assets/means.js``, and list the
script in `html.py`.
"""
