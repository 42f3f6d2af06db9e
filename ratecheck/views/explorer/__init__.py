"""A statement as a page of its own: sliders, the bound by terms, its conditions and what they admit."""
