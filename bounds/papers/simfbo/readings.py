"""Which steps examine less than the printed line, or more, as two readers found beside the paper."""

from __future__ import annotations

from bounds.ledger.reading import Reading, assumed, special, stronger

READINGS: tuple[Reading, ...] = (
    special("one dimension, v >= 0 and the first local step", "simfbo/lemma-2-2", "simfbo/lemma-2-3"),
    special(
        "the partial derivative, where the total one of (14) is combined with (15)",
        "simfbo/lemma-4-12",
        "simfbo/lemma-4-13",
    ),
    special("tau_i = 3", "simfbo/lemma-8-7"),
    stronger("simfbo/theorem-1-13"),
    special("rho_bar = tau_bar and gamma_x of its order", "simfbo/theorem-1-28"),
    special("P = n, where the left side is 0", "simfbo/theorem-1-30"),
    assumed("eps <= 2 M_2^2/(n M_3)", "simfbo/theorem-1-31"),
    assumed("P <= n/2 and T >= 3 P", "simfbo/theorem-1-35"),
    assumed("eq. (59) as printed, which is refuted", "simfbo/theorem-2-appendix-8"),
)
