"""``rc.vocabulary``, the commands ``list methods``, ``list symbols``, ``list assumptions``: the words of theorems."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bounds.assumption import Assumption
from bounds.sentences import words
from bounds.sentences.sentence import word
from bounds.symbols import Role
from ratecheck.api.result import Result
from ratecheck.errors import InputError, did_you_mean
from ratecheck.views.width import table

KINDS = ("methods", "symbols", "assumptions")


@dataclass(frozen=True, eq=False, repr=False)
class VocabularyResult(Result):
    """The words of one ``kind``, each with what it stands for: of a method its step sizes, too."""

    kind: str
    words: tuple[dict[str, str], ...]

    def __str__(self) -> str:
        return table([tuple(self.words[0]), *(tuple(word.values()) for word in self.words)])

    def _headline(self) -> str:
        return f"{len(self.words)} {self.kind}"

    def _fields(self) -> dict[str, Any]:
        return {self.kind: self.words}


def vocabulary(kind: str) -> VocabularyResult:
    """The ``methods``, ``symbols`` or ``assumptions`` of theorems in one sentence, by the names that these may use.

    Raises `InputError` for another kind.

    >>> import ratecheck as rc
    >>> rc.vocabulary("methods").words[0]["method"]
    'gd'
    """
    if kind not in KINDS:
        raise InputError(f"no words of the kind {kind!r}; {did_you_mean(str(kind), KINDS)}")
    words_of = {"methods": _methods, "symbols": _symbols, "assumptions": _assumptions}
    return VocabularyResult(kind, tuple(words_of[kind]()))


def _methods() -> list[dict[str, str]]:
    # The command that lists statements asks for the kinds alone and need not wait for the methods.
    from ratecheck.algorithms import METHODS

    found = []
    for name, each in words.METHODS.items():
        runs = METHODS[words.PREFIX + name]
        sizes = [size for size in runs.step_sizes if size in words.PLAIN and size not in ("gamma_v", "eta_v")]
        sizes = [size for size in sizes if not (size == "eta" and (each.alone or not each.server))]
        local = ["K"] if not each.alone and not each.one_step and "K" not in runs.fixed else []
        parameters = ", ".join([*sizes, *local])
        found.append({"method": name, "what": each.title, "of": each.clients, "parameters": parameters})
    return found


def _symbols() -> list[dict[str, str]]:
    kinds = {
        Role.SETTING: "run", Role.FREE: "run", Role.CONSTANT: "constant", Role.STEP_SIZE: "step size",
        Role.MEASURED: "left side",
    }  # fmt: skip
    rounds = words.PLAIN.counters
    return [
        {"symbol": each.name, "kind": "round" if each.name in rounds else kinds[each.role], "what": each.meaning}
        for each in words.PLAIN
    ]


def _assumptions() -> list[dict[str, str]]:
    return [
        {"assumption": each.name.lower(), "given": word(each), "symbols": ", ".join(each.constants), "what": each.value}
        for each in Assumption
    ]
