"""Which steps examine less than the printed line, or more, as two readers found beside the paper."""

from __future__ import annotations

from bounds.ledger.reading import Reading, assumed, special

READINGS: tuple[Reading, ...] = (
    assumed("f convex where weakly convex is printed", "flame/proposition-1-5"),
    assumed("f a convex quadratic where weakly convex is printed", "flame/proposition-1-6"),
    special("that one gradient step contracts, on a quadratic in one dimension", "flame/lemma-1-5"),
)
