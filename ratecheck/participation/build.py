"""Participation patterns by name, for the command line: ``uniform``, ``bernoulli:0.3``, ``FILE.csv``, ..."""

from __future__ import annotations

from collections.abc import Callable

from ratecheck.errors import InputError, did_you_mean
from ratecheck.inputs import real
from ratecheck.participation.pattern import Participation
from ratecheck.participation.trace import Trace

FILES = (".csv", ".npz")


def build(text: str, n: int, size: int | None) -> Participation:
    """The pattern that ``text`` names, for n clients of which ``size`` take part in a round.

    ``full``, ``uniform``, ``cyclic``, ``reshuffled``, ``largest``, ``sine`` (these but the first need ``size``),
    ``bernoulli:P`` (the probability), ``markov:JOIN,LEAVE`` (probabilities to join and to leave), or a file with a
    matrix. Raises `InputError` for any other text, and where a number is missing or makes no sense.
    """
    if text.endswith(FILES):
        return Trace.from_file(text)
    name, _, rest = text.partition(":")
    numbers = [_number(text, part) for part in rest.split(",")] if rest else []
    sized: dict[str, Callable[[int, int], Participation]] = {
        "uniform": Trace.uniform,
        "cyclic": Trace.cyclic,
        "reshuffled": Trace.reshuffled,
        "largest": Trace.largest,
        "sine": Trace.sine,
    }
    if name in sized:
        if numbers:
            raise InputError(f"{text!r}: {name} takes no number here; how many clients take part is a setting")
        if size is None:
            raise InputError(f"participation {name!r} of how many clients per round? give their number")
        return sized[name](n, size)
    other: dict[str, tuple[int, Callable[..., Participation]]] = {
        "full": (0, lambda: Trace.full(n)),
        "bernoulli": (1, lambda p: Trace.bernoulli(p, n)),
        "markov": (2, lambda join, leave: Trace.markov(join, leave, n)),
    }
    if name not in other:
        raise InputError(f"no participation {text!r}; {did_you_mean(name, [*sized, *other, 'FILE.csv'])}")
    count, make = other[name]
    if len(numbers) != count:
        example = {"full": "full", "bernoulli": "bernoulli:0.3", "markov": "markov:0.3,0.1"}[name]
        raise InputError(f"participation {text!r} has {len(numbers)} numbers: it is written as {example}")
    return make(*numbers)


def _number(text: str, part: str) -> float:
    try:
        return real(text, float(part))
    except ValueError:
        raise InputError(f"participation {text!r}: {part!r} is not a number") from None
