"""``rc.rates``, the command ``rates``."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bounds.statement import Statement
from ratecheck import files
from ratecheck.api.given import StatementLike, known_elsewhere, names, one, place_of, warning
from ratecheck.api.result import DrawnResult
from ratecheck.errors import InputError
from ratecheck.execution import executor
from ratecheck.exponents.card import Card, columns
from ratecheck.exponents.card import card as card_of
from ratecheck.exponents.curves import Curves
from ratecheck.exponents.curves import curves as curves_of
from ratecheck.exponents.parameters import parameter
from ratecheck.inputs import whole
from ratecheck.proving.bracket import ProvedBracket, proved_bracket
from ratecheck.verification.instance import Instance, load
from ratecheck.views.checks.rates import overall, rates_fields, rates_text
from ratecheck.views.drawing.rates import rates_figure
from ratecheck.views.progress import progress
from ratecheck.views.proofs.prove import bracket_fields, bracket_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False, repr=False)
class RatesResult(DrawnResult):
    """The rate card of a statement; ``curves`` are those of its picture where one was requested.

    ``bracket`` is what of the right side is proved and found, None where that was not requested.
    """

    card: Card
    curves: tuple[Curves, ...] = ()
    bracket: ProvedBracket | None = None

    @property
    def exceeded(self) -> bool:
        """Whether the worst case exceeds the bound anywhere, and `verify` confirms it."""
        return self.card.exceeded

    @property
    def instance(self) -> Instance | None:
        """The instance on which the left side passes the bound by the largest factor; None where there is none."""
        seen = [cell.violation for cell in self.card.cells if cell.violation is not None]
        written = [each for each in seen if each.instance is not None]
        return max(written, key=lambda each: each.left / each.bound).instance if written else None

    def __str__(self) -> str:
        return rates_text(self.card) + ("" if self.bracket is None else f"\n\n{bracket_text(self.bracket)}")

    def _headline(self) -> str:
        return f"{self.card.statement.key}: {overall(self.card)}"

    def _fields(self) -> dict[str, Any]:
        drawn = {} if self.file is None else {"file": self.file}
        bracket = {} if self.bracket is None else {"bracket": bracket_fields(self.bracket)}
        return {**rates_fields(self.card, self.curves), **bracket, **drawn}

    def _draw(self) -> Figure:
        return rates_figure(self.card, self.curves or curves_of(self.card))


def rates(
    statement: StatementLike,
    /,
    *,
    over: str | Sequence[str] | None = None,
    seed: int = 0,
    workers: int = 1,
    scheduler: str | None = None,
    out: str | Path | None = None,
    instances: Sequence[str | Path | Instance] = (),
    prove: bool = False,
) -> RatesResult:
    """The rate card of a statement: whether the worst case moves with every parameter as each term says.

    For each term of the right side and each parameter the settings are chosen so that this term is the bound; the
    exponent of the term stands beside that of the largest left side over hard instances, with a verdict.

    Parameters
    ----------
    statement
        A key, ``path/to/file.py:name``, or the statement itself.
    over
        What varies, such as ``"K,T"``: symbols of the paper, or K, T, tau, gamma where it has others. By default sizes
        of the run, delays, step sizes that are not prescribed, and constants.
    seed
        Seed of the search for settings.
    workers
        Processes that share the cells; no number depends on it.
    scheduler
        The address of a Dask scheduler, whose workers share the cells in their place.
    out
        Where an instance goes on which the left side passes the bound; nothing is written by default.
    instances
        Instances, or their files, that take part in the worst case: scaled and continued along each parameter, in runs
        of at most 1000 local steps. `falsify` writes such files.
    prove
        Whether the share of the right side that is proved stands below the card, at the default numbers of `prove`.

    Raises
    ------
    InputError
        For a statement about runs that no hard instances are known for, for a name that is none of its parameters, for
        an instance that cannot be continued, and for a file that cannot be read or written.

    Examples
    --------
    >>> import ratecheck as rc
    >>> [cell.finding.value for cell in rc.rates("pfl/theorem-3.11-tuned", over="T").card.cells]
    ['ATTAINED', 'ATTAINED', 'ATTAINED']
    """
    found = one(statement)
    path = None if out is None else place_of("out", out)
    if path is not None:
        files.check_target(path)
    given = [each if isinstance(each, Instance) else load(place_of("instance", each), found) for each in instances]
    made = made_card(found, over, seed, workers, scheduler, given)
    bracket = proved_bracket(found) if prove else None
    result = RatesResult(made, bracket=bracket, remarks=warning(found))
    if path is not None and result.instance is not None:
        with result.kept():
            result.instance.save(path)
    return result


def made_card(
    statement: Statement,
    over: str | Sequence[str] | None,
    seed: int,
    workers: int = 1,
    scheduler: str | None = None,
    given: Sequence[Instance] = (),
) -> Card:
    """The card with its progress shown; ``over`` as for `rates`."""
    whole("seed", seed, 0)
    whole("workers", workers, 1)
    chosen = None if over is None else _symbols(statement, names(over))
    if scheduler is not None:
        known_elsewhere([statement])
    with executor(scheduler, workers) as where, progress(f"rates of {statement.key}") as report:
        return card_of(statement, over=chosen, seed=seed, found=given, workers=where, progress=report)


def _symbols(statement: Statement, words: Sequence[str]) -> list[str]:
    """The paper's symbols for the usual names; what is neither stays, for the card to complain about."""
    every = columns(statement)
    found = []
    for word in words:
        with contextlib.suppress(InputError):
            found.append(word if word in every else parameter(statement, word).symbol)
            continue
        found.append(word)
    return list(dict.fromkeys(found))
