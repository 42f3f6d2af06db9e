"""Where results are kept between runs."""

from __future__ import annotations

import os
from pathlib import Path


def cache_root() -> Path:
    """``RATECHECK_CACHE``, or ratecheck's part of the user's cache folder."""
    root = os.environ.get("RATECHECK_CACHE") or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "ratecheck"
    return Path(root).expanduser()
