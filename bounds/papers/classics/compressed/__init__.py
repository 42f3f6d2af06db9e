"""Messages compressed at random."""
