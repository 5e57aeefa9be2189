"""Knowledge: topics, their relations, and the forms under which objects appear in text."""

from lrlm.knowledge.graph import Entity, KnowledgeGraph, Match
from lrlm.knowledge.topic import TITLE, Relation, Topic

__all__ = ["TITLE", "Entity", "KnowledgeGraph", "Match", "Relation", "Topic"]
