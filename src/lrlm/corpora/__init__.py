"""Corpora: articles linked with what is known about their topics."""

from lrlm.corpora.linking import LetterCase, LinkOptions, Matcher, linkable_relations
from lrlm.corpora.pruning import Copied, copy_positions, prune
from lrlm.text.document import GoldMention, LinkableRelation, LinkedDocument, Mention

__all__ = [
    "Copied",
    "GoldMention",
    "LetterCase",
    "LinkOptions",
    "LinkableRelation",
    "LinkedDocument",
    "Matcher",
    "Mention",
    "copy_positions",
    "linkable_relations",
    "prune",
]
