"""The files that proofs are written to: certificates for `recheck.py`, and lemmas of Coq."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ratecheck import files
from ratecheck.api.given import place_of
from ratecheck.auditing.export.certificates import file_data
from ratecheck.auditing.export.coq import coq_text
from ratecheck.errors import InputError


@dataclass(frozen=True)
class ProofFiles:
    """The places of files for proofs, None for no file."""

    certificates: Path | None
    coq: Path | None

    @classmethod
    def of(cls, certificates: str | Path | None, coq: str | Path | None) -> ProofFiles:
        """Raises `InputError` where they cannot be written, before anything is examined."""
        found = cls(
            None if certificates is None else place_of("certificates", certificates),
            None if coq is None else place_of("coq", coq),
        )
        if found.coq is not None and not re.fullmatch(r"[A-Za-z]\w*\.v", found.coq.name, re.ASCII):
            # The name of a file is that of a module of Coq.
            raise InputError(f"{found.coq}: Coq reads files such as proofs.v: letters, digits and _, ending in .v")
        for path in found.wanted:
            files.check_target(path)
        return found

    @property
    def wanted(self) -> list[Path]:
        """Files that are wanted."""
        return [path for path in (self.certificates, self.coq) if path is not None]

    def save(self, proofs: Sequence[Mapping[str, Any]]) -> str:
        """Write the requested files; their names, "" without one."""
        data = file_data(proofs)
        if self.certificates is not None:
            files.save(self.certificates, json.dumps(data, indent=1) + "\n")
        if self.coq is not None:
            files.save(self.coq, coq_text(data))
        return " and ".join(map(str, self.wanted))
