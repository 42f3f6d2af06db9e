"""Several clients with functions of their own, of which some may be drawn."""
