"""Step sizes that a statement admits, prescribes, and that minimise its bound."""
