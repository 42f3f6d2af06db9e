"""What is wrong with the steps that the audit refutes, and the charitable reading of each."""

from __future__ import annotations

from bounds.ledger.fault import Fault

FAULTS: tuple[Fault, ...] = ()
