"""``python -m pedanova`` is ``pedanova``."""

import sys

from pedanova.cli.main import main

sys.exit(main())
