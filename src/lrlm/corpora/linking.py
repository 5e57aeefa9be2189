"""A topic and an article's words in, every candidate mention out, at token boundaries."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from lrlm.knowledge import Topic
from lrlm.text import Profile, split_words
from lrlm.text.document import LinkableRelation, Mention

STOP_WORDS = frozenset(  # one text is easier to read than a hundred quotes
    """a about after all also an and any are as at be been before between both but by can did do
    does during each few for from had has have he her his how i if in into is it its may more most
    must no nor not of off on once one only or other our out over own s same she should so some
    such than that the their them then there these they this those through to too under until up
    very was we were what when where which while who whom why will with would you your""".split()  # noqa: SIM905
)
"""A form that is only one of these words, in lower case, is not a mention."""


class LetterCase(StrEnum):
    """Which writings of a form are copied from the graph."""

    EXACT = "exact"
    """Only the form as it is given."""
    VARIANTS = "variants"
    """Also in lower case, in capitals, with a first capital, and with a capital on each word.

    Each writing becomes a form of its own, so that the probabilities of the forms of an object
    still sum to one; ignoring case altogether would count a text once for each writing.
    """


@dataclass(frozen=True, slots=True)
class LinkOptions:
    """How forms are compared with an article."""

    profile: Profile = Profile.RAW
    """The tokens of the article. Forms of text that is already tokenised are cut as running text,
    which leaves alone what is already cut."""
    letter_case: LetterCase = LetterCase.EXACT
    stop_words: bool = False
    """Whether a lone "the" may be a mention."""


_DEFAULTS = LinkOptions()


def linkable_relations(
    topic: Topic, options: LinkOptions = _DEFAULTS
) -> tuple[LinkableRelation, ...]:
    """Cut the forms of a topic's star into words; the title comes first.

    Forms that are equal once cut are one form. A form without a letter or digit is no name, and
    neither is a lone stop word: they are left out here, not only when matching, so that the
    probabilities of the forms that remain sum to one. A relation without any form is left out.
    """
    relations = []
    for relation in topic.star:
        forms: dict[tuple[str, ...], str] = {}
        for text in relation.forms:
            for words in _writings(text, options):
                forms.setdefault(words, text)
        if forms:
            relations.append(
                LinkableRelation(
                    relation.type, relation.object, tuple(forms), tuple(forms.values())
                )
            )
    return tuple(relations)


@lru_cache(maxsize=1 << 16)
def _writings(text: str, options: LinkOptions) -> tuple[tuple[str, ...], ...]:
    profile = Profile.RAW if options.profile is Profile.SPACES else options.profile
    words = split_words(text, profile)
    if not any(character.isalnum() for word in words for character in word):
        return ()
    writings = [words]
    if options.letter_case is LetterCase.VARIANTS:
        capitals = tuple(word[:1].upper() + word[1:] for word in words)
        writings += [
            (capitals[0], *words[1:]),
            tuple(word.lower() for word in words),
            tuple(word.upper() for word in words),
            capitals,
        ]
    if not options.stop_words:
        writings = [
            writing for writing in writings if len(writing) > 1 or writing[0] not in STOP_WORDS
        ]
    return tuple(dict.fromkeys(writings))


class Matcher:
    """Finds every occurrence of every form of a star; built once a topic, used on its articles."""

    def __init__(self, relations: Iterable[LinkableRelation]) -> None:
        by_first_word: dict[str, list[tuple[int, int, int, tuple[str, ...]]]] = {}
        for relation_index, relation in enumerate(relations):
            for form_index, form in enumerate(relation.forms):
                entry = (len(form), relation_index, form_index, form)
                by_first_word.setdefault(form[0], []).append(entry)
        for entries in by_first_word.values():
            entries.sort()  # mentions then come out in order, without sorting them
        self._by_first_word = by_first_word

    def find(self, words: Sequence[str]) -> list[Mention]:
        """List the mentions in an article's words, sorted by start, end, relation and form."""
        by_first_word = self._by_first_word
        words = tuple(words)
        mentions = []
        for start, word in enumerate(words):
            if word in by_first_word:
                for length, relation, form_index, form in by_first_word[word]:
                    if length == 1 or words[start : start + length] == form:
                        mentions.append(Mention(start, start + length, relation, form_index))
        return mentions
