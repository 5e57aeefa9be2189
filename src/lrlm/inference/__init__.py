"""A trained model in use: score a text, annotate it, write one."""

from lrlm.inference.model import Model, load

__all__ = ["Model", "load"]
