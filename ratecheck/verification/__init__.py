"""Both sides of a statement on one instance, and the verdict."""
