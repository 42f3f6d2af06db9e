"""Claims with one printed number changed, and whether the audit notices."""
