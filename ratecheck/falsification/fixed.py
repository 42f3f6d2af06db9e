"""Numbers that a search leaves as they are given: sizes of the run, noise, step sizes and parameters of the method."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from bounds.statement import Statement
from bounds.symbols import Role
from ratecheck.certification.certified_constants import ALONE, NOISE
from ratecheck.engines.setup import LARGEST_RUN
from ratecheck.errors import InputError
from ratecheck.inputs import nonnegative, positive, whole
from ratecheck.settings.applicability import counts

# Clients that are followed one by one while a search evaluates hundreds of instances.
_MOST_CLIENTS = 40
# Variables of a client, each of which has a curvature and a slope.
_MOST_VARIABLES = 10
# What problems call their number of variables.
_VARIABLES = "d"


def checked(statement: Statement, given: Mapping[str, float]) -> dict[str, float]:
    """The given numbers; raises `InputError` for one that a search cannot fix, or that is none of the statement's.

    Constants such as L are those of the problem that is searched, so that they cannot be fixed.
    """
    given = {_symbol(statement, name): value for name, value in given.items()}
    statement.check_names(given)
    run = {symbol: role for role, symbol in statement.vocabulary.run.items()}
    found = {}
    for name, value in given.items():
        if name in statement.vocabulary.aliases:
            raise InputError(
                f"{name}={','.join(f'{each:g}' for each in np.ravel(value))}: {name} stands for "
                f"{' and '.join(statement.vocabulary.reach(name))}, which the search varies; it can fix "
                f"{', '.join(_fixable(statement))}, and 'verify' takes {name}"
            )
        if name in statement.settings:
            raise InputError(f"{name}={value:g} contradicts {statement.key}, which sets {name} itself")
        if name in run:
            clients = run[name] in ("clients", "participants")
            most, why = (_MOST_CLIENTS, "clients are followed one by one") if clients else (LARGEST_RUN, "")
            found[name] = float(whole(name, value, 1, most, why))
        elif statement.vocabulary.facts.get(name) in NOISE:
            found[name] = nonnegative(name, value)
        elif statement.vocabulary.facts.get(name) == "dimension":
            found[name] = float(whole(name, value, 1, _MOST_VARIABLES, "variables are coordinates of the search"))
        elif name in counts(statement):
            found[name] = float(whole(name, value, 1))
        elif _may_be_fixed(statement, name):
            found[name] = positive(name, value)
        else:
            able = ", ".join(_fixable(statement))
            raise InputError(
                f"{name}={value:g}: the search takes {name} from the problems that it tries; it can fix {able}, and "
                f"--pep or 'verify' takes others"
            )
    return found


def _symbol(statement: Statement, name: str) -> str:
    """The symbol that is meant: d, as problems call their number of variables, is the one that stands for it."""
    facts = statement.vocabulary.facts
    symbols = [each for each, fact in facts.items() if fact == "dimension"]
    return symbols[0] if name == _VARIABLES and name not in statement.vocabulary and symbols else name


def _fixable(statement: Statement) -> list[str]:
    """Names that a search can fix, of those that the statement uses."""
    vocabulary = statement.vocabulary
    sizes = [symbol for symbol in vocabulary.run.values() if symbol not in statement.settings]
    others = [
        name
        for name in statement.parameters
        if name not in (*sizes, *statement.settings)
        and (_may_be_fixed(statement, name) or vocabulary.facts.get(name) in NOISE)
    ]
    return [*sizes, *counts(statement), *others]


def _may_be_fixed(statement: Statement, name: str) -> bool:
    """Whether a name is a step size, a free number, or a setting but for those of which each instance has its own."""
    vocabulary = statement.vocabulary
    roles = (Role.STEP_SIZE, Role.SETTING, Role.FREE)
    return vocabulary[name].role in roles and vocabulary.facts.get(name) not in ALONE
