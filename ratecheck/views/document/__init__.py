"""Documents that are made of nodes, as HTML and as Markdown: reviews and reports."""
