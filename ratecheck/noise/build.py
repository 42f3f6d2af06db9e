"""Noise laws by name: ``gaussian``, ``student:NU``, ``pareto:ALPHA,P`` and so on, and those of other distributions."""

from __future__ import annotations

from bounds.numbers import decimal
from ratecheck.errors import InputError, did_you_mean
from ratecheck.extensions import Registry, by_kind
from ratecheck.noise.law import NoiseLaw

GROUP = "ratecheck.noise"


KINDS: Registry[type[NoiseLaw]] = Registry(lambda: by_kind("ratecheck.noise", GROUP, NoiseLaw))  # type: ignore[type-abstract]  # to compare


def build(text: str) -> NoiseLaw:
    """The law that ``text`` names: a name such as ``signs``, or one with its numbers, ``name:NUMBER,...``.

    Raises `InputError` for an unknown name and for numbers that the law does not take.
    """
    name, _, rest = text.partition(":")
    if name not in KINDS:
        raise InputError(f"no noise {text!r}; {did_you_mean(name, [*KINDS])}")
    try:
        return KINDS[name](*(decimal(part) for part in rest.split(",") if rest))
    except InputError:
        raise
    except (TypeError, ValueError):
        raise InputError(f"noise {text!r}: {name} does not take these numbers") from None
