"""Pictures: both sides of a statement, regions of step sizes, the figures of a study, in one look."""
