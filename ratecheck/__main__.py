"""``python -m ratecheck``."""

from ratecheck.cli import main

main()
