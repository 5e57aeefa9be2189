"""Say how each fact stands among the facts of its topic.

Of twenty opponents of a season, few are named in a text; the only stadium is. A fact that comes
first in the graph is named more often than the last, an object with many names more often than one
with a single name, and one that shares words with the title less often. All of this is known from
the graph alone.

Shapes: R relations of a topic, J traits of a relation.
"""

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from lrlm.arrays import Floats
from lrlm.knowledge import TITLE
from lrlm.text import LinkableRelation

RELATION_TRAITS = 12
"""J, what is told of a relation."""


def relation_traits(relations: Sequence[LinkableRelation]) -> Floats:
    """Give the traits of a topic's relations: (R, J), logarithms of counts, and 0 or 1.

    An open relation has the traits of one more fact, behind those that are known and with the
    object of its example. Those of known facts do not depend on it.
    """
    known = [relation for relation in relations if not relation.is_open]
    count_of_type = Counter(relation.type for relation in known)
    count_of_object = Counter(relation.object for relation in known)
    names_with: dict[str, list[frozenset[str]]] = {}
    for name in {_words(relation) for relation in known}:
        for word in name:
            names_with.setdefault(word, []).append(name)
    title = next((_words(each) for each in known if each.type == TITLE), frozenset[str]())
    traits_RJ = np.zeros((len(relations), RELATION_TRAITS), dtype=np.float32)
    before = 0
    before_of_type: Counter[str] = Counter()
    for number, relation in enumerate(relations):
        is_more = relation.is_open
        of_type = count_of_type[relation.type]
        words = _words(relation)
        rarest = min((names_with.get(word, []) for word in words), key=len)
        traits_RJ[number] = (
            math.log1p(of_type if is_more else of_type - 1),
            math.log1p(of_type if is_more else before_of_type[relation.type]),
            math.log1p(len(known) if is_more else before),
            math.log1p(len(known) + is_more),
            bool(words & title),
            words <= title,
            math.log(len(relation.forms)),
            math.log(len(relation.forms[0])),
            math.log(sum(map(len, relation.forms[0]))),
            relation.forms[0][0][0].isdigit(),
            count_of_object[relation.object] > 1,
            any(words < name for name in rarest),
        )
        if not is_more:
            before += 1
            before_of_type[relation.type] += 1
    return traits_RJ


def _words(relation: LinkableRelation) -> frozenset[str]:
    """Give the words of the first name of a relation's object, in small letters."""
    return frozenset(word.lower() for word in relation.forms[0])
