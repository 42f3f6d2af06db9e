"""``rc.new``, the command ``new``."""

from __future__ import annotations

import keyword
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bounds
from bounds import hooks
from bounds.sentences import latex
from bounds.theorem import theorem
from ratecheck.api.result import Result
from ratecheck.errors import InputError, did_you_mean
from ratecheck.files import check_new, save
from ratecheck.views.theory.template import template

KINDS = ("theorem",)
# What is written where no sentence is given: gradient descent on smooth functions.
SENTENCE, METHOD, GIVEN, WHEN = "mean grad2 <= 2*F_0/(gamma*T)", "gd", "smooth", "gamma <= 1/L"


@dataclass(frozen=True, eq=False, repr=False)
class NewResult(Result):
    """The ``file`` that was written, and the ``key`` under which every command takes what is in it.

    ``sentence`` is the theorem as it was understood.
    """

    file: Path
    key: str
    sentence: str

    def __str__(self) -> str:
        words = ("show {}", "stepsize {} L=1", "verify {}", "falsify {}")
        commands = "".join(f"\n  ratecheck {each.format(self.key)}" for each in words)
        return f"written to {self.file}: {self.sentence}\nit can be used as it is:{commands}"

    def _headline(self) -> str:
        return f"{self.key} in {self.file}"

    def _fields(self) -> dict[str, Any]:
        return {"file": self.file, "key": self.key, "sentence": self.sentence}


def new(
    kind: str,
    path: str | Path,
    /,
    *,
    name: str = "descent",
    sentence: str | None = None,
    method: str = METHOD,
    given: str | None = None,
    when: str | None = None,
) -> NewResult:
    """Write a Python file with a theorem in one sentence: ``new("theorem", "mine.py")``.

    ``name`` is what the file calls the theorem. Without a ``sentence``, which may be LaTeX, it is one that holds, on
    gradient descent, ready to be changed. ``method``, ``given`` and ``when`` are those of `bounds.theorem.theorem`.
    Raises `InputError` for a sentence that cannot be read, a file that exists, a folder that does not, a
    path without ``.py``, and a name that Python does not take for one.

    >>> import pathlib, tempfile
    >>> import ratecheck as rc
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = rc.new("theorem", pathlib.Path(folder) / "mine.py", name="descent")
    ...     rc.bound(made.key, L=2, F_0=3, T=100, gamma=0.5).evaluation.value
    0.12
    """
    if kind not in KINDS:
        raise InputError(f"nothing new of the kind {kind!r}; {did_you_mean(str(kind), KINDS)}")
    if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name):
        raise InputError(
            f"{name!r} cannot be the name of a theorem: give letters, digits and underscores, as in descent"
        )
    if name in KINDS:
        raise InputError(f"{name!r} is the function that makes a theorem: take another name, such as descent")
    if not isinstance(path, (str, Path)):
        raise InputError(f"{path!r} is no path: give one such as mine.py")
    file = Path(path)
    if file.suffix != bounds.own.SUFFIX:
        raise InputError(
            f"{str(path)!r} does not end in {bounds.own.SUFFIX}: give a path such as mine{bounds.own.SUFFIX}"
        )
    check_new(file)
    own = sentence is None and method == METHOD
    fields = {
        "method": method,
        "given": GIVEN if given is None and own else _written(given),
        "when": WHEN if when is None and own else _written(when),
    }
    said = SENTENCE if sentence is None else latex.sentence(sentence) if latex.is_latex(sentence) else sentence
    # What cannot be read is said before anything is written.
    made = theorem(said, method=method, given=fields["given"], when=fields["when"])
    hooks.check_method(made.algorithm)
    save(file, template(file.name, name, said, **fields))
    return NewResult(file, f"{file}:{name}", said)


def _written(text: str | None) -> str:
    """Conditions and assumptions in the words of a file."""
    return "" if text is None else latex.formula(text) if latex.is_latex(text) else text
