"""SimFBO and ShroFBO."""
