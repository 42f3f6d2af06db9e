"""Completion in a shell: commands, options, keys, papers, files, and parameter names such as ``L=``.

A shell calls this at every press, so nothing numerical is imported where it can be avoided. What keys and parameters
there are is kept from one press to the next, until a file of the catalogue changes.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import json
from pathlib import Path

import click
from click.shell_completion import CompletionItem, shell_complete

from ratecheck.caching import Store
from ratecheck.commands import load
from ratecheck.commands.exit_codes import DONE, UNUSABLE

VARIABLE = "_RATECHECK_COMPLETE"
# Commands that take keys, and what they take beside them.
_VALUES = frozenset({"bound", "stepsize", "rounds", "compare", "verify", "falsify", "scaling", "plot"})
_KEYS = _VALUES | {"show", "lint", "diff", "audit", "rates", "implications", "selftest"}
_PAPERS = frozenset({"list", "lint", "diff", "audit", "verify", "falsify", "implications", "selftest"})
_SUFFIXES = (".py", ".json")


def complete(group: click.Group, instruction: str) -> int:
    """Print what the shell requests in ``instruction``, such as ``bash_source``; returns the exit code."""
    try:
        done = shell_complete(group, {}, "ratecheck", VARIABLE, instruction)
    except click.ClickException:
        # What is on the line is no command: there is nothing to offer.
        return DONE
    return UNUSABLE if done else DONE


class CompletedCommand(click.Command):
    """A command of which the words are completed without importing it; its options are those of the command itself."""

    def __init__(self, name: str, summary: str) -> None:
        words = click.Argument(["words"], nargs=-1, shell_complete=_offered)
        super().__init__(name, params=[words], help=summary, context_settings={"ignore_unknown_options": True})

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The options."""
        return load(self.name or "").shell_complete(ctx, incomplete)


def _offered(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Keys, papers and files that begin with what is typed; after a key the names of its parameters."""
    command, given = ctx.command.name or "", tuple(ctx.params.get(param.name or "") or ())
    if command not in _KEYS | _PAPERS:
        return [CompletionItem(incomplete, type="file")]
    known = catalogue()
    words = [name for name in known if command in _KEYS]
    # The classics are no paper: they have a list, and no proofs to audit.
    papers = {key.partition("/")[0] for key in known} - ({"classics"} if command != "list" else set())
    words += sorted(papers) if command in _PAPERS else []
    words += _files(incomplete)
    if command in _VALUES:
        taken = {word.partition("=")[0] for word in given}
        names = {name: None for key in given for name in known.get(key, ()) if name not in taken}
        assigned = [f"{name}=" for name in names]
        # A key is followed by values more often than by another key.
        words = assigned if assigned and not incomplete else assigned + words
    found = [CompletionItem(word) for word in words if word.startswith(incomplete) and word not in given]
    return found or [CompletionItem(incomplete, type="file")]


def catalogue() -> dict[str, list[str]]:
    """The parameters of every statement of the catalogue and of the classics, by its key."""
    store, stamp = Store.of("completion", ".json"), _stamp()
    if kept := store.get(stamp):
        found: dict[str, list[str]] = json.loads(kept)
        return found
    # SymPy is imported here, once for each state of the catalogue.
    bounds = importlib.import_module("bounds")
    found = {}
    for statement in (each for paper in (*bounds.PAPERS, bounds.CLASSICS) for each in bounds.statements(paper)):
        named = [*statement.parameters, *statement.vocabulary.aliases]
        found[statement.key] = [name for name in named if name not in statement.settings]
    store.put(stamp, json.dumps(found).encode())
    return found


def _stamp() -> str:
    """A hash of the files of the theory, and of the distributions that bring papers of their own."""
    from bounds.entry_points import entry_points

    others = [entry.value for entry in entry_points("ratecheck.papers")]
    roots = [importlib.util.find_spec("bounds"), *(importlib.util.find_spec(name) for name in others)]
    places = [Path(place) for root in roots if root is not None for place in root.submodule_search_locations or ()]
    files = sorted(file for place in places for file in place.rglob("*.py"))
    state = [f"{file} {file.stat().st_mtime_ns} {file.stat().st_size}" for file in files]
    return hashlib.sha256("\n".join(state).encode()).hexdigest()[:24]


def _files(incomplete: str) -> list[str]:
    """Files that may hold statements, in the folder of what is typed."""
    folder, slash, _ = incomplete.rpartition("/")
    try:
        found = sorted(each.name for each in Path(folder or ("/" if slash else ".")).iterdir())
    except OSError:
        return []
    return [f"{folder}{slash}{name}" for name in found if name.endswith(_SUFFIXES)]
