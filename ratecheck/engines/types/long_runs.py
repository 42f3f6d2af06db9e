"""Time averages over long runs: by `averages` where rounds have one law, by `periodic` where participants repeat."""

from __future__ import annotations

from ratecheck.engines.setup import Setup
from ratecheck.engines.types import averages, periodic
from ratecheck.engines.types.averages import Average


def pays(setup: Setup) -> bool:
    """Whether `average` can be evaluated and costs less than one round after the other."""
    return averages.pays(setup) or periodic.pays(setup)


def average(setup: Setup) -> Average:
    """Averages over T rounds of all recorded quantities; raises `InputError` where neither way applies."""
    if not averages.applies(setup) and periodic.applies(setup):
        return periodic.average(setup)
    return averages.average(setup)
