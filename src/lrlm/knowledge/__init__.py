"""Knowledge: topics, their relations, and the forms under which objects appear in text.

From a dump to a graph: `sources/` turn the lines of each format into `statements`, which `extract`
does part by part on all cores; `join` makes the tables of the graph from them (`spark` does both
on a cluster), `index` writes the file for looking topics up, and `build` runs it all.

What is there in Python goes the same way (`from_values`), and `doubts` tells knowledge that cannot
be what was meant.

From a graph to a topic: `graph` looks topics up by id, `search` by name; `rows` reads the index and
checks it, `stars` makes relations of its facts, `paths` follows these further, `literals` writes
dates and quantities as people do, `topic` holds what is known about one topic, and `topic_json`
reads one that somebody wrote.
"""

from lrlm.knowledge.graph import KnowledgeGraph
from lrlm.knowledge.search import Entity, Match
from lrlm.knowledge.topic import TITLE, Relation, Topic, near_matches

__all__ = ["TITLE", "Entity", "KnowledgeGraph", "Match", "Relation", "Topic", "near_matches"]
