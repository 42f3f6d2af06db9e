"""What a participation pattern is: its law of a round, its delays, its repetition."""
