"""The result of every public function: frozen, with the command's text as `str` and its JSON as `to_dict`."""

from __future__ import annotations

import dataclasses
import html
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from ratecheck.api.given import place_of
from ratecheck.files import UnsavedError
from ratecheck.plain import plain
from ratecheck.views.drawing import style
from ratecheck.views.progress import progress

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# The version of every JSON output; it grows where a key is renamed, removed or changes its meaning.
SCHEMA = 1


@dataclasses.dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Result(ABC):
    """The result of a public function.

    ``str(result)`` is the text that the command of the same name prints, ``result.to_dict()`` what it prints with
    ``--json``; notebooks show the text. ``remarks`` are what the command says on stderr, such as parameters on which
    the statement does not depend.
    """

    remarks: tuple[str, ...] = ()

    @abstractmethod
    def __str__(self) -> str:
        """The text of the command."""

    @abstractmethod
    def _headline(self) -> str:
        """The answer in one line."""

    @abstractmethod
    def _fields(self) -> dict[str, Any]:
        """The answer as data, without the version."""

    def to_dict(self) -> dict[str, Any]:
        """The answer as JSON data, with the version of its keys under ``schema``; infinities and NaN are None."""
        data: dict[str, Any] = plain({"schema": SCHEMA, **self._fields()})
        return data

    @contextmanager
    def kept(self) -> Iterator[None]:
        """For the block that writes files: where one cannot be written, the error brings the result along."""
        try:
            yield
        except UnsavedError as error:
            error.result = self
            raise

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {' '.join(self._headline().split())}>"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


@dataclasses.dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class DrawnResult(Result):
    """A result with a picture, which notebooks show above the text; ``file`` is where the picture is or goes."""

    file: Path | None = None

    @abstractmethod
    def _draw(self) -> Figure:
        """The picture anew."""

    @cached_property
    def figure(self) -> Figure:
        """The picture as a Matplotlib figure; raises `InputError` where there is nothing to draw."""
        return self._draw()

    def save(self, path: str | Path | None = None) -> Self:
        """Write the picture to ``path``, by default to ``file``: PNG, SVG or PDF by its ending.

        Returns the result with that ``file``. Raises `InputError` where the file cannot be written.
        """
        found = self if path is None else dataclasses.replace(self, file=place_of("path", path))
        if found.file is not None:
            with progress("drawing"), found.kept():
                style.save(self.figure, found.file)
        return found

    def _repr_html_(self) -> str:
        return style.as_html(self.figure) + super()._repr_html_()


def target(path: str | Path | None) -> Path | None:
    """The place of a picture; raises `InputError` where none can be written: known before minutes of computation."""
    if path is None:
        return None
    place = place_of("out", path)
    style.check_target(place)
    return place
