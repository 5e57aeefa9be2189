"""Read one article of a published archive, and keep its spans where they are true.

    article     (tokens, topic, relations[, …])     a relation is (type, object, forms)
    span        (start, end, type, relation, form)  half-open; relation and form are indices

The spans are kept as published wherever the tokens there are the words of the form.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lrlm.characters import clean_name
from lrlm.corpora.articles import check_characters
from lrlm.corpora.importers.intake import ANCHOR
from lrlm.knowledge import TITLE
from lrlm.text import Profile, Tokens, split_words
from lrlm.text.document import LinkableRelation, LinkedDocument, Mention
from lrlm.text_files import BadLineError

_NOT_A_FACT, _ANCHOR, _TITLE = -1, -2, -3
"""Types of relations that are no facts."""
_MOST_FORMS = 1_000_000
"""Of all relations of an article together; more are not knowledge but an attack."""

_LONGEST_SPAN = 1000
"""Tokens; comparing many long ones would take for ever."""

_Words = tuple[str, ...]
_Key = tuple[str, str]
"""The type and the object of a relation."""


def entity_name(number: int) -> str:
    """Name the entity whose vector is in a row of the published ones."""
    return f"entity-{number}"


def relation_name(number: int, names: Mapping[int, str]) -> str:
    """Name the relation type of a number; not all numbers that are used have a name."""
    return names.get(number, f"relation-{number}")


@dataclass
class ArticleReader:
    """Knows what the numbers of a release stand for, and counts what cannot be used."""

    relation_names: Mapping[int, str]
    profile: Profile = Profile.SPACES
    anchors: bool = False
    """Whether links to other pages are relations of the topic."""
    left_out: Counter[str] = field(default_factory=Counter)

    def read(self, id_: str, article: Any, spans: Any) -> LinkedDocument:
        """Make a document of an article and its spans."""
        words, topic, relations = _checked(article)
        if not isinstance(spans, list | tuple):
            raise BadLineError("the spans are not a list")
        titles = (forms[0] for type_, _, forms in relations if type_ == _TITLE and forms)
        title = clean_name(next(titles, ""))
        topic = topic if isinstance(topic, str) else self._object(topic, (title or id_,))
        star = _Star(self.profile)
        for index, (type_, object_, forms) in enumerate(relations):
            if type_ == _NOT_A_FACT or (type_ == _ANCHOR and not self.anchors):
                continue
            if not any(map(clean_name, forms)):
                self.left_out["relations without a form"] += 1
                continue
            named = topic if type_ == _TITLE else self._object(object_, forms)
            star.add(index, (self._type(type_), named), forms)
        places: dict[tuple[int, int], list[tuple[int, int]]] = {}
        for span in spans:
            if (place := self._place(span, words, relations, star)) is not None:
                start, end, index, form = place
                places.setdefault((index, form), []).append((start, end))
        linkable, numbers = star.build()
        mentions = {
            Mention(start, end, *numbers[place])
            for place, found in places.items()
            for start, end in found
        }
        tokens = _tokens(words)
        return LinkedDocument(
            id=id_,
            topic=topic,
            title=title or topic,
            text=" ".join(words),
            tokens=tokens,
            relations=linkable,
            mentions=tuple(sorted(mentions)),
        )

    def _place(
        self, span: Any, words: list[str], relations: list[Any], star: "_Star"
    ) -> tuple[int, int, int, int] | None:
        """Check a span; None if it is of a relation that is not wanted, or does not fit."""
        match span:
            case (int(start), int(end), int(type_), int(index), int(form)):
                if index in star.keys:
                    is_there = relations[index][0] == type_ and 0 <= start < end <= len(words)
                    is_there = is_there and end - start <= _LONGEST_SPAN
                    if is_there and star.fits(index, form, tuple(words[start:end])):
                        return start, end, index, form
                elif 0 <= index < len(relations):
                    self.left_out["spans of relations that are left out"] += 1
                    return None
        self.left_out["spans whose tokens are not the form they name"] += 1
        return None

    def _type(self, number: int) -> str:
        if number == _TITLE:
            return TITLE
        if number == _ANCHOR:
            return ANCHOR
        return relation_name(number, self.relation_names)

    def _object(self, number: int, forms: Any) -> str:
        """Name an object: by its number, or, where it has none, by its canonical form."""
        if number >= 0:
            return entity_name(number)
        return f"name:{next(name for form in forms if (name := clean_name(form)))}"


class _Star:
    """The relations of one article on their way to the corpus; equal facts become one."""

    def __init__(self, profile: Profile) -> None:
        self._profile = Profile.RAW if profile is Profile.SPACES else profile
        self.keys: dict[int, _Key] = {}
        self._given: dict[tuple[int, int], _Words] = {}
        self._words: dict[tuple[int, int], _Words] = {}
        self._texts: dict[tuple[int, int], str] = {}

    def add(self, index: int, key: _Key, forms: list[str]) -> None:
        """Take in a relation by its place in the article."""
        self.keys[index] = key
        for number, form in enumerate(forms):
            text = clean_name(form)
            if words := split_words(text, self._profile):
                self._given[index, number] = tuple(form.split())
                self._words[index, number] = words
                self._texts[index, number] = text

    def fits(self, index: int, form: int, words: _Words) -> bool:
        """Tell whether words are a form; one cut at spaces alone is taken as the text has it."""
        if (index, form) not in self._words:
            return False
        if words == self._given[index, form]:
            self._words[index, form] = words
        return words == self._words[index, form]

    def build(
        self,
    ) -> tuple[tuple[LinkableRelation, ...], dict[tuple[int, int], tuple[int, int]]]:
        """Give the relations, the title first, and for each published form its new place."""
        forms: dict[_Key, dict[_Words, str]] = {}
        for (index, number), words in self._words.items():
            forms.setdefault(self.keys[index], {}).setdefault(words, self._texts[index, number])
        order = sorted(forms, key=lambda key: (key[0] != TITLE, key))
        places = {key: place for place, key in enumerate(order)}
        numbers = {key: {words: n for n, words in enumerate(forms[key])} for key in order}
        relations = tuple(
            LinkableRelation(*key, tuple(forms[key]), tuple(forms[key].values())) for key in order
        )
        return relations, {
            place: (places[self.keys[place[0]]], numbers[self.keys[place[0]]][words])
            for place, words in self._words.items()
        }


def _checked(article: Any) -> tuple[list[str], str | int, list[tuple[int, int, list[str]]]]:
    match article:
        case (list(words), str() | int() as topic, list(relations), *_):
            pass
        case _:
            raise BadLineError("not a tuple of tokens, topic and relations")
    if not words or not all(isinstance(word, str) and word.strip() for word in words):
        raise BadLineError("the tokens are not texts, or there are none")
    for word in words:
        check_characters("tokens", word)
    if isinstance(topic, str) and not topic.strip():
        raise BadLineError("the topic is blank")
    check_characters("topic", str(topic))
    total = 0
    for relation in relations:
        match relation:
            case (int(), int(), list(forms)) if all(isinstance(form, str) for form in forms):
                total += len(forms)
                for form in forms:
                    check_characters("form", form)
            case _:
                raise BadLineError("a relation is not a tuple of type, object and forms")
        if total > _MOST_FORMS:
            raise BadLineError(f"more than {_MOST_FORMS:,} forms for one topic")
    return words, topic, relations


def _tokens(words: list[str]) -> Tokens:
    """Place tokens that are joined by single spaces."""
    starts, ends, place = [], [], 0
    for word in words:
        starts.append(place)
        ends.append(place + len(word))
        place = ends[-1] + 1
    return Tokens(list(words), starts, ends)
