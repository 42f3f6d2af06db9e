"""Which statements of the paper follow from which."""

from __future__ import annotations

from bounds.implications.argument import Implication

IMPLICATIONS: tuple[Implication, ...] = ()

AUDITED: tuple[tuple[str, tuple[str, ...], str], ...] = ()
