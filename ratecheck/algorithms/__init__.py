"""Federated methods by name, reductions included.

A reduction is a method with parameters fixed or blocks of variables absent; it has no code of its own. A method is one
file: a module of this folder with ``METHODS``, a tuple of `Method`, or an entry point of the group
``ratecheck.algorithms`` that names a `Method` or several, as in ``mine = "my_package:METHODS"``. ``averaged-NAME`` is
the method NAME that answers with the mean of its iterates (`averaged`), and ``plain-NAME`` the one of that usual name
with plain names of its step sizes (`renamed`), as theorems in one sentence have it. ``NAME with gamma_t = 1/(t + 1)``
is the method NAME with a step size that changes by the round (`varying`).
"""

from __future__ import annotations

from bounds.sentences import words
from ratecheck.algorithms.model.algorithm import Algorithm
from ratecheck.algorithms.model.averaged import PREFIX, averaged
from ratecheck.algorithms.model.registered import Method
from ratecheck.algorithms.model.renamed import renamed
from ratecheck.algorithms.model.varying import varying
from ratecheck.errors import InputError, did_you_mean
from ratecheck.extensions import Registry, named

GROUP = "ratecheck.algorithms"


def _methods() -> dict[str, Method]:
    found: dict[str, Method] = {}
    for each in named(__name__, "METHODS", GROUP, Method):
        found.setdefault(each.name, each)
    return found


class _Methods(Registry[Method]):
    """The methods by name; beside them ``averaged-NAME`` and ``plain-NAME``, which are not listed.

    A method of one's own needs a name of its own: another method under a name that is taken would be run for the
    statements that are about the first. Setting it raises `InputError`.
    """

    def __setitem__(self, name: str, value: Method) -> None:
        if name in self.built_in:
            raise InputError(f"there is a method {name!r}, which statements are about: give yours another name")
        super().__setitem__(name, value)

    def __getitem__(self, name: str) -> Method:
        if name in self._all():
            return super().__getitem__(name)
        if words.WITH in name and not name.startswith(PREFIX):
            usual, formulas = words.formulas_of(name)
            return varying(self[usual], formulas)
        if name.startswith(words.PREFIX):
            usual = name.removeprefix(words.PREFIX)
            return renamed(usual, self[words.method(usual).of])
        if not name.startswith(PREFIX):
            return super().__getitem__(name)
        found = averaged(self[name.removeprefix(PREFIX)])
        if found is None:
            raise KeyError(name)
        return found


METHODS: Registry[Method] = _Methods(_methods)


def method(name: str) -> Method:
    """The method of that name; raises `InputError` with a did-you-mean for an unknown one."""
    if not isinstance(name, str) or name not in METHODS:
        raise InputError(unknown(str(name)))
    return METHODS[name]


def unknown(name: str) -> str:
    """Sentence on a name that no method has."""
    inner = words.spoken(name).removeprefix(PREFIX)
    if inner != words.spoken(name) and inner in METHODS:
        why = "means of iterates are those of linear methods, at the point of their servers"
        return f"{inner} has no mean iterate here: {why}; a server may keep one itself, as its first variable"
    if words.PREFIX not in name:
        return f"no algorithm {name!r}; {did_you_mean(name, METHODS)}"
    usual = words.spoken(name)
    # A method of one's own has no entry among the usual names.
    names = [*words.METHODS, *(each for each in METHODS if each not in METHODS.built_in)]
    return f"no method {usual!r}; {did_you_mean(usual, names)}; 'ratecheck list methods' has them all"


__all__ = ["METHODS", "Algorithm", "Method", "method", "unknown"]
