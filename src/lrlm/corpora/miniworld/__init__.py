"""The embedded corpus: facts about real things, and articles whose segmentation is known."""

from lrlm.corpora.miniworld.facts import topics
from lrlm.corpora.miniworld.writing import write

__all__ = ["topics", "write"]
