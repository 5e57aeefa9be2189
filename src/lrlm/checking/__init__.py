"""Check a text against a graph: which of its statements are supported, contradicted or new."""
