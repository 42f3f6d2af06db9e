"""Everything that decides both sides of a statement, as one object and as a file.

A file is JSON with every number written so that it reads back as it is. `verify --instance FILE` verifies it again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

import bounds
from bounds.errors import BeyondFloatsError, NoValueError
from bounds.statement import Statement
from ratecheck import files
from ratecheck.aliases import Progress
from ratecheck.engines.rigorous.runs import exact_runs
from ratecheck.errors import InputError, unread
from ratecheck.inputs import floats
from ratecheck.participation import Participation
from ratecheck.participation import build as pattern_forms
from ratecheck.problems import Problem
from ratecheck.problems import build as problem_forms
from ratecheck.settings.applicability import foreign
from ratecheck.settings.on_trace import on_trace, step_values
from ratecheck.settings.setting import Options, Setting, resolve
from ratecheck.verification.exact_values import Numbers
from ratecheck.verification.proof import VerdictProof
from ratecheck.verification.rigorous import REQUESTED, decided, exact_numbers, not_followed
from ratecheck.verification.verdict import Verdict
from ratecheck.verification.verify import verify

EXACT = Options(engine="exact")
_VERSION = 1


@dataclass(frozen=True)
class Instance:
    """A statement, a problem, its participation (None: as the statement assumes), numbers and a start.

    ``given`` has what `verify` takes: settings, noise, parameters of the method, step sizes, constants that are larger
    than the certified ones.
    """

    statement: Statement
    problem: Problem
    participation: Participation | None
    given: Mapping[str, Any]
    start: Mapping[str, ArrayLike] = field(default_factory=dict)

    def verdict(self, options: Options = EXACT, *, name: str = "", progress: Progress | None = None) -> Verdict:
        """Compare both sides; ``name`` and ``progress`` as for `verify`."""
        return verify(
            self.statement,
            self.problem,
            self.given,
            options,
            participation=self.participation,
            start=self.start,
            name=name,
            progress=progress,
        )

    def values(self, options: Options = EXACT) -> dict[str, float]:
        """The numbers of the run with the step sizes that are chosen, where these have values; no run is followed.

        Raises `InputError` for unusable input.
        """
        setting = self._setting(options)
        trace = setting.traces()[0]
        try:
            return step_values(on_trace(setting, trace)).values
        except (BeyondFloatsError, NoValueError):
            return setting.values_on(trace)

    def proof(self, options: Options = EXACT, *, exactly: bool = False, products: float = REQUESTED) -> VerdictProof:
        """The rigorous decision, ``exactly`` in rationals if these decide; raises `InputError` for unusable input.

        It takes some ``products`` of numbers at most, of which ten million take seconds.
        """
        if exact_runs(self.problem) is None:
            return not_followed(self.problem)
        if reasons := foreign(self._statement):
            return VerdictProof(None, "; ".join(reasons))
        return decided(self._setting(options), products, exactly=exactly)

    def numbers(self) -> Numbers:
        """`exact_numbers` of the instance; none of statements that no run is about. Raises `InputError` as `proof`."""
        if exact_runs(self.problem) is None or foreign(self._statement):
            return {}
        return exact_numbers(self._setting(EXACT))

    @property
    def _statement(self) -> Statement:
        return self.statement.at(self.given)

    def _setting(self, options: Options) -> Setting:
        return resolve(self._statement, self.problem, self.participation, self.given, options, self.start)

    def save(self, path: Path) -> None:
        """Write the file; raises `InputError` where that is not possible or the instance has no such form."""
        text = json.dumps(self.fields(), indent=1)
        files.save(path, text + "\n")

    def fields(self) -> dict[str, Any]:
        """The instance as JSON data."""
        return {
            "ratecheck instance": _VERSION,
            "statement": self.statement.key,
            "problem": problem_forms.fields(self.problem),
            "participation": None if self.participation is None else pattern_forms.fields(self.participation),
            "given": {name: np.asarray(value, dtype=float).tolist() for name, value in self.given.items()},
            "start": {name: np.asarray(value, dtype=float).tolist() for name, value in self.start.items()},
        }


def load(path: Path, statement: Statement | None = None) -> Instance:
    """The instance in a file, of another statement if wished; without one the file names one of the catalogue.

    Raises `InputError` with one line for a file that is missing, damaged or no instance.
    """
    try:
        data = json.loads(path.read_text())
    except FileNotFoundError:
        raise InputError(f"no file {path}: 'ratecheck falsify' writes instances") from None
    except RecursionError:
        raise InputError(
            f"{path} cannot be read as JSON: lists in lists, hundreds deep; an instance has three"
        ) from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise InputError(f"{path} cannot be read as JSON: {unread(error)}") from None
    return read(data, str(path), statement)


def read(data: Any, name: str = "this", statement: Statement | None = None) -> Instance:
    """The inverse of `Instance.fields`, of another statement if wished.

    Raises `InputError`, in which ``name`` stands for where the data come from.
    """
    if not isinstance(data, dict) or data.get("ratecheck instance") != _VERSION:
        raise InputError(f'{name} is no instance: it lacks "ratecheck instance": {_VERSION}')
    try:
        problem = problem_forms.read(data["problem"])
        return Instance(
            statement or bounds.from_data(data["statement"], name),
            problem,
            None if data["participation"] is None else pattern_forms.read(data["participation"]),
            _given(data["given"], problem.n),
            _by_name("start", data["start"]),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{name} is no instance: {type(error).__name__} at {error}") from None


def _given(data: Any, n: int) -> dict[str, Any]:
    """Numbers by name, or one per client."""
    given: dict[str, Any] = {}
    for name, value in _by_name("given", data).items():
        array = floats(name, value)
        if isinstance(value, list) and array.shape != (n,):
            raise InputError(f"{name} has the shape {array.shape}: needed one number, or one per client, {n} in all")
        given[name] = array.tolist() if isinstance(value, list) else array.item()
    return given


def _by_name(name: str, data: Any) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise InputError(f"{name}={data!r}: needed values by name")
    return data
