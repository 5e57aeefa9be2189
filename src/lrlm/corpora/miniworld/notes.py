"""Write notes: a few everyday sentences about a topic of which little is known.

Articles are long, know much about their topic and put a relation's words before its object. Notes
are what people write in passing: short, about one to five facts in any order, in sentences that
may begin with any name. A model that has read them does not expect facts that a topic lacks.
"""

from lrlm.corpora.miniworld.article import GeneratedArticle, TextWriter, Wording, draw_fillers
from lrlm.corpora.miniworld.facts import Domain
from lrlm.corpora.miniworld.grammar import Dice, DomainPlans
from lrlm.knowledge.topic import Topic

_FACTS = (1, 2, 3, 4, 5)
_FACTS_WEIGHTS = (4, 5, 5, 3, 2)
_MOST_TOLD = 4
_OPENING = 0.3
_EVERYDAY = 0.75  # of the sentences that tell a fact; the others are those of articles
_FILLER = 0.12


def cut(topic: Topic, number: int, dice: Dice) -> Topic:
    """Give a topic of another id that is the same thing with one to five of its facts.

    Half of those that are called by a common noun ("gold") are written with a capital, as people do
    in lists, and may therefore begin a sentence.
    """
    kept = dice.shuffled(topic.relations)[: dice.pick(_FACTS, _FACTS_WEIGHTS)]
    facts = [fact for fact in topic.relations if fact in kept]
    names = [f"{name[0].upper()}{name[1:]}" for name in topic.names]
    with_capital = dice.chance(0.5)
    return Topic(f"{topic.id}~{number}", names if with_capital else topic.names, facts)


def write_note(
    id_: str, topic: Topic, domain: Domain, plans: DomainPlans, dice: Dice, *, person: str
) -> GeneratedArticle:
    """Write one note about a topic; `person` is the id of the whole one, if it is cut."""
    writer = TextWriter(Wording(topic, domain, dice, person=person), dice)
    if dice.chance(_OPENING):
        writer.add_one_of(plans.openings)
    told, most = 0, dice.integer(1, _MOST_TOLD)
    for type_ in dice.shuffled(writer.wording.untold):
        if told == most:
            break
        if type_ not in writer.wording.untold:
            continue
        if dice.chance(_FILLER):
            writer.add_one_of(draw_fillers(plans, dice))
        ways = plans.everyday if dice.chance(_EVERYDAY) else plans.relations
        told += writer.add_one_of(ways[type_])
    if not writer.text:
        writer.add_one_of(plans.openings)
    return GeneratedArticle(id_, topic.id, topic.names[0], writer.text, tuple(writer.gold))
