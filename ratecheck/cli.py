"""The command line: one lazily imported module per command, so that help costs no numerical imports.

A command is one file in a folder of `ratecheck.commands`, whose line of help stands here, or an entry point of the
group ``ratecheck.commands`` of another distribution, as in ``mine = "my_package.module:command"``: a Click command,
imported when it is called. Its line of help is that of its distribution's summary.
"""

from __future__ import annotations

import gc
import io
import os
import sys
from typing import Any

import click

from ratecheck.commands import load
from ratecheck.commands.exit_codes import DONE, INTERNAL, INTERRUPTED, OPEN, TERMINATED, UNUSABLE
from ratecheck.ending import Terminated, first_word, interrupt, prompt
from ratecheck.views.progress import progress

# Name -> one-line summary, in the order of use; `ratecheck.commands.load` finds the command itself.
COMMANDS = {
    "list": "The catalogue: keys, titles and papers.",
    "show": "One statement as text, LaTeX, Markdown or JSON.",
    "new": "Write a theorem to a file, ready to be changed into your own.",
    "lint": "Look for mistakes in a statement before anything is run.",
    "diff": "What changed between two versions of statements and of their proofs.",
    "bound": "Evaluate a bound and its conditions at given numbers.",
    "stepsize": "Step sizes that a statement admits, prescribes and that minimise its bound.",
    "explore": "Write a page with sliders: bound, conditions and admissible step sizes.",
    "rounds": "The smallest number of rounds for which a bound is at most eps.",
    "compare": "Which of several bounds is smaller, along an axis or over two.",
    "audit": "Check every step of the proofs: certificates, counterexamples, what follows.",
    "review": "One document about a paper: what was checked, what is wrong, what stands.",
    "verify": "Compare both sides of a statement on a problem.",
    "falsify": "Search for an instance on which a statement fails.",
    "prove": "A proof from the method alone, by a potential that is found, in exact arithmetic.",
    "rates": "Does the worst case move with K, m, n, T as every term of a bound says?",
    "scaling": "Compare measured exponents with those of a bound.",
    "tables": "The papers' tables of rates, every row checked.",
    "plot": "Draw measurement against theory.",
    "implications": "Check what the papers say to follow from what, and with which constants.",
    "sharpen": "The smallest constants for which the proof of a theorem still has certificates.",
    "selftest": "Measure whether the checks notice wrong statements and leave right ones alone.",
    "run": "Run a study file and check its claims.",
    "report": "One document about a study: which claims hold, figures, what was not checked.",
    "results": "Tabulate and export what studies have stored.",
}


# Objects of every generation after which garbage is looked for.
_GARBAGE = (50_000, 20, 50)

# What to do about a mistake of this program.
_REPORT = "please report this line with the command; RATECHECK_TRACEBACK=1 before it prints the details"

# What NumPy and Python say of an array that no memory could hold.
_TOO_LARGE = ("Maximum allowed dimension exceeded", "array is too big", "into an index-sized integer")
# Of a word that someone gave, such as the name of a file, so many characters are shown.
_LONGEST_WORD = 400


# Where other distributions name their commands.
GROUP = "ratecheck.commands"


def plugins() -> dict[str, Any]:
    """Entry points of other distributions' commands by name, none of them loaded."""
    from bounds.entry_points import entry_points

    return {entry.name: entry for entry in entry_points(GROUP) if entry.name not in COMMANDS}


def _summary(entry: Any) -> str:
    """A line of help without importing anything: what the distribution says of itself."""
    metadata = None if entry.dist is None else entry.dist.metadata
    summary = "" if metadata is None else str(metadata["Summary"] or "").strip()
    return summary if summary not in ("", "UNKNOWN") else f"See {entry.value}."


class _Raised(Exception):  # noqa: N818  # carries an error past Click
    """An exception that Click would take for something else: the end of a file for Ctrl-C, a lost pipe for success."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(str(error))
        self.error = error


class LazyGroup(click.Group):
    """A group that knows its commands by name and summary, and imports one when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All command names, in the order of use, those of other distributions last."""
        return [*COMMANDS, *plugins()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command; None for an unknown name.

        Raises `InputError` for an entry point that cannot be loaded or is no command.
        """
        own = cmd_name in COMMANDS
        entry = None if own else plugins().get(cmd_name)
        if not own and entry is None:
            return None
        if own and ctx.resilient_parsing:
            # A shell completes the word here: nothing is run.
            from ratecheck.commands.completion import CompletedCommand

            return CompletedCommand(cmd_name, COMMANDS[cmd_name])
        with progress("starting"):
            # What is imported stays: nothing of it is garbage, now or later.
            gc.disable()
            command = load(cmd_name) if own else _loaded(entry)
            gc.freeze()
            gc.enable()
            return command

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; see `_Raised`."""
        try:
            return super().invoke(ctx)
        except (EOFError, OSError, KeyboardInterrupt) as error:
            raise _Raised(error) from error
        except SystemExit as error:
            wanted = RuntimeError(f"the program wanted to exit with {error.code!r}")
            wanted.__cause__ = error
            raise _Raised(wanted) from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The table of commands, from the summaries alone."""
        with formatter.section("Commands"):
            formatter.write_dl([*COMMANDS.items(), *((name, _summary(entry)) for name, entry in plugins().items())])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Add a did-you-mean to an unknown command."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-") and args[0] not in (others := plugins()):
            from bounds.errors import did_you_mean

            raise click.UsageError(f"no command {args[0]!r}; {did_you_mean(args[0], [*COMMANDS, *others])}")
        return super().resolve_command(ctx, args)


def _loaded(entry: Any) -> click.Command:
    """The command of an entry point."""
    from bounds.errors import InputError

    try:
        command = entry.load()
    except Exception as error:  # noqa: BLE001  # whatever another distribution raises
        reason = " ".join(str(error).split()) or type(error).__name__
        raise InputError(f"the command {entry.name!r} ({entry.value}) fails: {reason}") from None
    if not isinstance(command, click.Command):
        raise InputError(f"the entry point {entry.name!r} of {GROUP} names no Click command")
    return command


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="ratecheck", prog_name="ratecheck")
def group() -> None:
    """Check convergence theorems: does a bound hold, how tight is it, which step sizes does it admit.

    Commands take KEY name=value ..., for example: ratecheck bound pfl/corollary-3.8 n=10 m=9 K=25 T=400 L=1 F_0=1 b=0.4
    sigma_u=0.3 sigma_v=0.3. With --json, data goes to stdout and messages to stderr.

    Exit codes: 0 holds or done, 1 violated or a finding, 2 usage or input error, 3 inconclusive or not applicable, 4 an
    error of this program, 130 interrupted.
    """


def main() -> None:
    """Run the command line; every error is one line on stderr, and the exit code says what it is."""
    # Formulas and modules are many objects that stay: to look through them for garbage often costs a tenth of the time.
    gc.set_threshold(*_GARBAGE)
    sys.stdout, sys.stderr = _lasting(sys.stdout), _lasting(sys.stderr)
    with prompt():
        code = _flushed(_run(sys.argv[1:]))
    sys.exit(code)


class _Lasting(io.FileIO):
    """A stream whose reader may go away, such as ``| head``: the exit code is the command's all the same.

    Messages, beside which the result stands, may also meet a full disk.
    """

    lost: type[OSError] = BrokenPipeError

    def write(self, data: Any) -> int:
        """Write, or drop what nobody reads."""
        try:
            return super().write(data)
        except self.lost:
            return memoryview(data).nbytes


def _lasting(stream: Any) -> Any:
    """The standard stream without two reasons to fail: a reader that is gone, and a character that it lacks."""
    try:
        raw = _Lasting(stream.fileno(), "wb", closefd=False)
        raw.lost = OSError if stream is sys.stderr else BrokenPipeError
        encoding, alive = stream.encoding, stream.isatty() or stream is sys.stderr
    except (AttributeError, OSError, ValueError):  # none, closed, or none of the system's
        return stream
    buffer = io.BufferedWriter(raw)
    return io.TextIOWrapper(buffer, encoding=encoding, errors="backslashreplace", line_buffering=alive)


def _flushed(code: int) -> int:
    """The exit code, once everything is written; a full disk may show only now."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError as error:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            # Once is enough.
            code = code if code == 2 else _complain(_reason(error))
        except (AttributeError, ValueError):  # none, or closed
            continue
    return code


def _run(arguments: list[str]) -> int:  # noqa: PLR0911  # one exit code per way to end
    from ratecheck import require_own_bounds

    try:
        require_own_bounds()
        if instruction := os.environ.get("_RATECHECK_COMPLETE"):
            from ratecheck.commands.completion import complete

            return complete(group, instruction)
        result = group.main(arguments, prog_name="ratecheck", standalone_mode=False)
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.Abort:
        return _stopped(KeyboardInterrupt())
    except click.exceptions.NoArgsIsHelpError as help_text:
        click.echo(help_text.format_message(), err=True)
        return UNUSABLE
    except click.ClickException as error:
        return _complain(error.format_message())
    except _Raised as raised:
        return _explained(raised.error)
    except BaseException as error:  # noqa: BLE001  # whatever it is, it has its exit code
        return _explained(error)
    return result if isinstance(result, int) else DONE


def _explained(error: BaseException) -> int:
    """The exit code of an error, once its line is printed; 4 where it means a mistake of this program."""
    if (stop := interrupt(error)) is not None:
        return _stopped(stop)
    if os.environ.get("RATECHECK_TRACEBACK"):
        import traceback

        traceback.print_exception(error)
    kinds = {kind.__name__ for kind in type(error).__mro__}
    if "OutOfReachError" in kinds:
        return _say(str(error), OPEN)
    if "InputError" in kinds or (isinstance(error, ImportError) and not _ours(error)):
        return _complain(str(error))
    if isinstance(error, MemoryError) or any(text in str(error) for text in _TOO_LARGE):
        return _complain("not enough memory for a run of this size: take smaller n, T, d or fewer replicates")
    if isinstance(error, OSError) and error.errno is not None:
        return _complain(_reason(error))
    return _say(f"internal error, which says nothing about any statement: {_place(error)}; {_REPORT}", INTERNAL)


def _stopped(stop: KeyboardInterrupt) -> int:
    """The exit code of an interrupt or a termination, which is said once."""
    told = isinstance(stop, Terminated)
    word, code = ("terminated", TERMINATED) if told else ("interrupted", INTERRUPTED)
    return _say(word, code) if first_word() else code


def _ours(error: ImportError) -> bool:
    """Whether a part of this program is missing, and not a package that one may install."""
    return (error.name or "").partition(".")[0] in {"ratecheck", "bounds"}


def _reason(error: OSError) -> str:
    why = error.strerror or str(error)
    return f"the output cannot be written: {why}" if error.filename is None else f"{error.filename}: {why}"


def _place(error: BaseException) -> str:
    """The error and the last line of this program that it passed through."""
    import traceback
    from pathlib import Path

    frames = [
        f for f in traceback.extract_tb(error.__traceback__) if {"ratecheck", "bounds"} & {*Path(f.filename).parts}
    ]
    at = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}{at}: {text[:300]}" if text else f"{type(error).__name__}{at}"


def _complain(message: str) -> int:
    return _say(message, UNUSABLE)


def _say(message: str, code: int) -> int:
    """One line on stderr."""
    # As `printable` does, without `bounds`, which may be another package of that name.
    words = (
        word if len(word) <= _LONGEST_WORD else word[: _LONGEST_WORD // 2] + "..." + word[-20:]
        for word in message.split()
    )
    shown = "".join(c if c.isprintable() else repr(c)[1:-1] for c in " ".join(words))
    try:
        click.echo(f"ratecheck: {shown}", err=True)
    except OSError:
        # There is nobody left to tell; the exit code says it.
        return code
    return code
