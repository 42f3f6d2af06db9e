"""Seeds from named axes, so that what is drawn for one depends on nothing else."""

from __future__ import annotations

import zlib

import numpy as np


def seed_of(seed: int, *names: str) -> int:
    """A seed for what these names name."""
    words = [zlib.crc32(name.encode()) for name in names]
    return int(np.random.SeedSequence([seed, *words]).generate_state(1)[0])
