"""``python -m pedanova`` is ``pedanova``."""

import sys

from pedanova.cli import main

sys.exit(main())
