"""The commands, one module each; `ratecheck.cli` imports a module when its command is called."""
