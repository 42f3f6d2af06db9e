"""Which steps examine less than the printed line, or more, as two readers found beside the paper."""

from __future__ import annotations

from bounds.ledger.reading import Reading, assumed, special

READINGS: tuple[Reading, ...] = (
    special("a quadratic f in one dimension", "flame/proposition-1-1", "flame/proposition-1-2", "flame/theorem-1-1"),
    assumed("f convex where weakly convex is printed", "flame/proposition-1-5"),
    special("a convex quadratic f in one dimension", "flame/proposition-1-6"),
    special("that one gradient step contracts, on a quadratic in one dimension", "flame/lemma-1-5"),
    special("one client with a quadratic f in one dimension", "flame/lemma-3-6"),
    special(
        "a weaker bound, with the error that the printed approximation drops", "flame/theorem-1-8", "flame/theorem-1-9"
    ),
    special("one selected client", "flame/lemma-1-28"),
    special("one dimension", "flame/theorem-2-unbiased-11", "flame/theorem-2-unbiased-12"),
    special("a client that updates in the round", "flame/theorem-2-unbiased-13", "flame/theorem-2-unbiased-16"),
    assumed("eq. (47) as printed, whose inner errors are refuted", "flame/theorem-2-unbiased-26"),
    assumed("eq. (45) as printed, which is refuted", "flame/theorem-2-unbiased-27"),
    assumed("eq. (54) as printed, which is refuted", "flame/theorem-2-biased-10"),
)
