"""Any method under its usual name, with step sizes that have plain names: ``gamma`` for ``gamma_u`` and ``eta_l``."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

from bounds.sentences import words
from ratecheck.algorithms.model.algorithm import Algorithm, Parameters
from ratecheck.algorithms.model.registered import Method
from ratecheck.algorithms.model.wrapping import Wrapping


class Renamed(Wrapping):
    """``inner`` with other names of step sizes; ``known`` maps the names of ``inner`` to those."""

    def __init__(self, inner: Algorithm, known: dict[str, str], name: str, title: str) -> None:
        super().__init__(inner)
        self.known, self.name, self.title = known, name, title  # type: ignore[misc]
        self.step_sizes = tuple(known.get(name, name) for name in inner.step_sizes)  # type: ignore[misc]
        self.per_client = tuple(known.get(name, name) for name in inner.per_client)  # type: ignore[misc]
        optional = {known.get(name, name): default for name, default in inner.optional.items()}
        self.optional = optional  # type: ignore[misc]

    def inside(self, p: Parameters) -> Parameters:
        """The parameters with the step sizes under the names of ``inner``, too."""
        # Some mappings say why a parameter is missing.
        found: Any = copy.copy(p)
        found.update({name: p[word] for name, word in self.known.items() if word in p})
        return found


def renamed(name: str, method: Method) -> Method:
    """The method of the usual name ``name``, which is what ``method`` runs, with plain names of step sizes."""
    known, title = (
        words.renamed(method.algorithm.step_sizes),
        words.METHODS[name].title if name in words.METHODS else "",
    )
    return replace(
        method,
        name=f"{words.PREFIX}{name}",
        title=title or method.title,
        algorithm=Renamed(method.algorithm, known, name, title or method.title),
        fixed={known.get(each, each): value for each, value in method.fixed.items()},
    )
