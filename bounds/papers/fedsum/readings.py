"""Which steps examine less than the printed line, or more, as two readers found beside the paper."""

from __future__ import annotations

from bounds.ledger.reading import Reading, assumed, special, stronger

READINGS: tuple[Reading, ...] = (
    assumed("nobody takes part in round T", "fedsum/theorem-4.1-1"),
    special("rounds 0 ... T - 1, of which the lemma draws one more", "fedsum/lemma-f.1-6"),
    assumed("the terms as printed, of which some are refuted", "fedsum/lemma-d.4-39", "fedsum/lemma-e.4-39"),
    assumed("eq. (59) as printed, which is refuted", "fedsum/lemma-d.4-41"),
    assumed("eq. (60) as printed, which rests on (59), which is refuted", "fedsum/lemma-d.4-45"),
    assumed("eq. (95) as printed, which is refuted", "fedsum/lemma-e.4-41"),
    assumed("eq. (96) as printed, which rests on (95), which is refuted", "fedsum/lemma-e.4-45"),
    assumed("eq. (71) as printed, which is refuted", "fedsum/lemma-d.6-7"),
    assumed("eq. (72) as printed, which rests on (71), which is refuted", "fedsum/lemma-d.6-8"),
    assumed("eq. (73) as printed, which rests on (71), which is refuted", "fedsum/lemma-d.6-12"),
    assumed("eq. (103) as printed, which is refuted", "fedsum/lemma-e.6-7"),
    assumed("eq. (73) with the repaired Lemma D.4, which no step shows", "fedsum/lemma-d.6-15"),
    assumed("eq. (105) with the repaired Lemma E.4, which no step shows", "fedsum/lemma-e.6-15"),
    stronger(
        "fedsum/lemma-c.5-13", "fedsum/lemma-c.5-15", "fedsum/lemma-e.4-4", "fedsum/lemma-e.4-20", "fedsum/lemma-e.5-2"
    ),
)
