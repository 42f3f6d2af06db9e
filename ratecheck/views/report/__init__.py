"""A report of a study as one document: its data, and the data as text, Markdown and HTML."""
