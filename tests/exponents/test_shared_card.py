"""A card whose cells are shared by processes is the same card."""

from __future__ import annotations

import pytest

import bounds
from ratecheck import execution
from ratecheck.exponents import card as cards
from ratecheck.plain import plain
from ratecheck.views.checks.rates import rates_fields


@pytest.mark.parametrize(
    ("key", "over"),
    [
        ("pfl/theorem-3.11-tuned", ["T"]),
        pytest.param("simfbo/theorem-1-order", ["T"], marks=pytest.mark.long),
    ],
)
def test_no_number_depends_on_the_processes(monkeypatch, key, over):
    """Two processes, one cell each at least; the progress goes up to all of it, a step per cell."""
    monkeypatch.setattr(cards, "_CELLS_EACH", 1)
    shared = []
    monkeypatch.setattr(cards, "share", lambda *task: shared.append(task[2]) or execution.share(*task))
    seen = []
    alone, together = (cards.card(bounds.get(key), over=over, workers=count, progress=seen.append) for count in (1, 2))
    assert shared == [1, 2]
    assert plain(rates_fields(alone)) == plain(rates_fields(together))
    steps = [(k + 1) / len(alone.cells) for k in range(len(alone.cells))]
    assert seen == pytest.approx([*steps, *steps])
