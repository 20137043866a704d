"""``python -m pedanova`` is ``pedanova``."""

import sys

from pedanova.cli.main import run_program

sys.exit(run_program())
