"""Corpora: articles linked with what is known about their topics."""

from lrlm.corpora.build import build_corpus
from lrlm.corpora.corpus import SPLITS, BuildReport, Corpus
from lrlm.corpora.linking import (
    LONGEST,
    Linker,
    LinkOptions,
    Matcher,
    check_text,
    check_topic,
    link,
    linkable_relations,
    prune,
    recut,
    relink,
    topic_of,
)
from lrlm.corpora.name_rules import EVERYDAY_RULES, USUAL_RULES, LetterCase, NameRule
from lrlm.text.document import GoldMention, GoldSpan, LinkableRelation, LinkedDocument, Mention

__all__ = [
    "EVERYDAY_RULES",
    "LONGEST",
    "SPLITS",
    "USUAL_RULES",
    "BuildReport",
    "Corpus",
    "GoldMention",
    "GoldSpan",
    "LetterCase",
    "LinkOptions",
    "LinkableRelation",
    "LinkedDocument",
    "Linker",
    "Matcher",
    "Mention",
    "NameRule",
    "build_corpus",
    "check_text",
    "check_topic",
    "link",
    "linkable_relations",
    "prune",
    "recut",
    "relink",
    "topic_of",
]
