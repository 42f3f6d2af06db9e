"""Commands: each parses its words, calls the function of the same name in `ratecheck.api`, and prints.

A command is one file of a folder here: `theory`, `proofs`, `checks` or `records`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import click


def load(name: str) -> click.Command:
    """The command of that name, imported; raises `KeyError` where no file bears the name."""
    from pathlib import Path

    for file in Path(__file__).parent.glob(f"*/{name}.py"):
        command: click.Command = importlib.import_module(f"{__name__}.{file.parent.name}.{name}").command
        return command
    raise KeyError(name)
