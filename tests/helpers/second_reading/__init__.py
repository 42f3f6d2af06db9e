"""Second transcriptions of the papers, by readers who did not see the first."""
