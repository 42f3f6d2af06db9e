"""Commands that hold a statement against runs of its method."""
