"""A participation pattern: its law of a round, its delays, its repetition."""
