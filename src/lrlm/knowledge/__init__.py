"""Knowledge: topics, their relations, and the forms under which objects appear in text."""

from lrlm.knowledge.topic import TITLE, Relation, Topic

__all__ = ["TITLE", "Relation", "Topic"]
