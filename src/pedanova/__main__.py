"""``python -m pedanova`` runs the command ``pedanova``."""

import sys

from pedanova.cli import run_program

sys.exit(run_program())
