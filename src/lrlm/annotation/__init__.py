"""Annotation: every name in a text explained, and written in formats that others read."""
