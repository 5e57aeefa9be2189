"""Results in, things to look at out: tables and coloured text."""
