"""The embedded corpus: facts about real things, and articles whose segmentation is known."""

from lrlm.corpora.miniworld.corpus import build_miniworld, write
from lrlm.corpora.miniworld.facts import topics

__all__ = ["build_miniworld", "topics", "write"]
