"""Instances that commands leave in files, and the commands by which 'verify' evaluates them again."""

from __future__ import annotations

from pathlib import Path

import bounds
from bounds.statement import Statement
from ratecheck.commands import arguments
from ratecheck.errors import InputError
from ratecheck.verification.instance import Instance


def own(keys: tuple[str, ...]) -> dict[str, str]:
    """The addresses of statements from users' files, each with a space after it, by key."""
    addresses: dict[str, Statement] = {}
    for key in filter(bounds.own.is_own, keys):
        addresses |= bounds.own.addresses(key) if key.endswith(bounds.own.SUFFIX) else {key: bounds.get(key)}
    return {statement.key: f"{address} " for address, statement in addresses.items()}


def save(instance: Instance | None, path: Path | None, address: str, *, violates: bool, about: str = "") -> None:
    """Write an instance to a file where one is wanted, or, under the key, where it violates the statement.

    One line says where, after what is to be said ``about`` it.
    """
    wanted = path is not None
    if instance is None or not (wanted or violates):
        return
    path = path or Path(f"{instance.statement.key.replace('/', '-').replace(':', '-')}-violated.json")
    try:
        instance.save(path)
    except InputError as error:
        # A file that nobody requested is no reason to hide the verdict.
        if wanted:
            raise
        arguments.note(f"{about}{error}")
        return
    arguments.note(f"{about}saved {path}: 'ratecheck verify {address}--instance {path}' evaluates it again")
