"""Knowledge: topics, their relations, and the forms under which objects appear in text."""

from lrlm.knowledge.graph import Entity, KnowledgeGraph, Match
from lrlm.knowledge.topic import TITLE, Relation, Topic
from lrlm.knowledge.topic_json import read_topic, topic_from_json, topic_to_json

__all__ = [
    "TITLE",
    "Entity",
    "KnowledgeGraph",
    "Match",
    "Relation",
    "Topic",
    "read_topic",
    "topic_from_json",
    "topic_to_json",
]
