"""The command line: one lazily imported module per command, so that help costs no numerical imports."""

from __future__ import annotations

import importlib
import sys

import click

# Name -> one-line summary; the command itself is ratecheck.commands.<name>.
COMMANDS = {
    "list": "The catalogue: keys, titles and papers.",
    "show": "One statement as text, LaTeX, Markdown or JSON.",
    "bound": "Evaluate a bound and its conditions at given numbers.",
    "stepsize": "Step sizes that a statement admits, prescribes and that minimise its bound.",
    "rounds": "The smallest number of rounds for which a bound is at most eps.",
    "compare": "Which of several bounds is smaller, along an axis or over two.",
    "audit": "Check every step of the proofs: certificates, counterexamples, what follows.",
    "verify": "Compare both sides of a statement on a problem.",
    "falsify": "Search for an instance on which a statement fails.",
    "scaling": "Compare measured exponents with those of a bound.",
    "tables": "The papers' tables of rates, every row checked.",
    "plot": "Draw measurement against theory.",
    "implications": "Check what the papers say to follow from what, and with which constants.",
    "selftest": "Measure whether the checks notice wrong statements and leave right ones alone.",
    "run": "Run a study file and check its claims.",
}


class LazyGroup(click.Group):
    """A group that knows its commands by name and summary, and imports one when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All command names, in the order of use."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command; None for an unknown name."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"ratecheck.commands.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The table of commands, from the summaries alone."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Add a did-you-mean to an unknown command."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from bounds.errors import did_you_mean

            raise click.UsageError(f"no command {args[0]!r}; {did_you_mean(args[0], COMMANDS)}")
        return super().resolve_command(ctx, args)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="ratecheck", prog_name="ratecheck")
def group() -> None:
    """Check convergence theorems: does a bound hold, how tight is it, which step sizes does it admit.

    Commands take KEY name=value ..., for example: ratecheck bound pfl/corollary-3.8 n=10 m=9 K=25 T=400 L=1 F_0=1 b=0.4
    sigma_u=0.3 sigma_v=0.3. With --json, data goes to stdout and messages to stderr.

    Exit codes: 0 holds or done, 1 violated or a finding, 2 usage or input error, 3 inconclusive or not applicable.
    """


def main() -> None:
    """Run the command line; every error is one line on stderr and exit code 2."""
    sys.exit(_run(sys.argv[1:]))


def _run(arguments: list[str]) -> int:  # noqa: PLR0911  # one exit code per way to end
    from ratecheck import require_own_bounds

    try:
        require_own_bounds()
        result = group.main(arguments, prog_name="ratecheck", standalone_mode=False)
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.Abort:
        click.echo("ratecheck: interrupted", err=True)
        return 130
    except click.exceptions.NoArgsIsHelpError as help_text:
        click.echo(help_text.format_message(), err=True)
        return 2
    except click.ClickException as error:
        return _complain(error.format_message())
    except (ValueError, ImportError) as error:
        if type(error).__name__ != "InputError" and not isinstance(error, ImportError):
            raise
        return _complain(str(error))
    except SystemExit:
        # Click leaves so where the reader went away (such as `| head`); there is nobody left to tell.
        return 0
    except MemoryError:
        return _complain("not enough memory for a run of this size: take smaller n, T, d or fewer replicates")
    except OSError as error:
        return _complain(f"the output cannot be written: {error.strerror or error}")
    return result if isinstance(result, int) else 0


def _complain(message: str) -> int:
    click.echo("ratecheck: " + " ".join(message.split()), err=True)
    return 2
