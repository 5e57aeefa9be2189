"""Link the names in a text to the facts of its topic.

`link` is the one way from a text and a topic to a linked document. A `Linker` does the same for
many texts about one topic, and `relink` links a document of a corpus anew, with other options.
"""

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, Self

from lrlm.characters import NOT_IN_A_TEXT, describe
from lrlm.corpora.compounds import CompoundCutter, cut_all, has_compounds
from lrlm.corpora.name_rules import (
    LetterCase,
    NameRule,
    choice_of,
    name_rules_of,
    writings,
)
from lrlm.errors import FormatError, InputError, TextTooLongError
from lrlm.knowledge import TITLE, Relation, Topic
from lrlm.plain_data import shown
from lrlm.text import Profile, Tokens, tokenise
from lrlm.text.document import GoldMention, GoldSpan, LinkableRelation, LinkedDocument, Mention

STOP_WORDS = frozenset(  # one text is easier to read than a hundred quotes
    """a about after all also an and any are as at be been before between both but by can did do
    does during each few for from had has have he her his how i if in into is it its may more most
    must no nor not of off on once one only or other our out over own s same she should so some
    such than that the their them then there these they this those through to too under until up
    very was we were what when where which while who whom why will with would you your""".split()  # noqa: SIM905
)
"""A form that is only one of these words, in lower case, is not a mention."""

_WITH_COMPOUNDS = frozenset([Profile.RAW, Profile.UNSPACED])
"""Where "Oslo-based" is one word that nobody else has cut."""

LONGEST = 1_000_000
"""Characters of a text that are read at once, unless more are allowed."""


@dataclass(frozen=True, slots=True)
class LinkOptions:
    """How forms are compared with an article.

    A model reads texts that were linked as its training corpus was, so a corpus and a run both
    keep their options.
    """

    profile: Profile = Profile.RAW
    """The tokens of the article. Forms of text that is already tokenised are cut as running text,
    which leaves alone what is already cut."""
    letter_case: LetterCase = LetterCase.EXACT
    stop_words: bool = False
    """Whether a lone "the" may be a mention."""
    name_rules: frozenset[NameRule] = frozenset()
    """What else may differ between a form and the article; corpora of older versions have none."""

    @classmethod
    def from_dict(cls, content: object, *, where: str = "link options") -> Self:
        """Read what `to_dict` has given; `where` names its place in an error."""
        if not isinstance(content, Mapping):
            raise FormatError(f"{where}: expected profile, letter_case and stop_words")
        try:
            options = cls(
                Profile(content["profile"]),
                LetterCase(content["letter_case"]),
                content["stop_words"],
            )
        except KeyError as error:
            raise FormatError(f"{where}: the field {error} is missing") from None
        except ValueError:
            said = shown([content["profile"], content["letter_case"]])
            raise FormatError(f"{where}: no such profile or letter case: {said}") from None
        if not isinstance(options.stop_words, bool):
            raise FormatError(f"{where}: stop_words must be true or false")
        return replace(options, name_rules=_rules_from(content.get("name_rules", []), where))

    def to_dict(self) -> dict[str, Any]:
        """Give plain values, as a manifest keeps them."""
        rules = sorted(rule.value for rule in self.name_rules)
        return {
            "profile": self.profile.value,
            "letter_case": self.letter_case.value,
            "stop_words": self.stop_words,
            **({"name_rules": rules} if rules else {}),
        }

    def changed(
        self, *, letter_case: str | None = None, name_rules: Iterable[str] | str | None = None
    ) -> Self:
        """Give the same options with other rules for names, where some are given.

        >>> print(LinkOptions().changed(letter_case="variants", name_rules=["accents"]))
        tokens as in 'raw', letter case 'variants', lone stop words not linked, also linked: accents
        """
        options = self
        if letter_case is not None:
            wished = choice_of(LetterCase, letter_case, "letter_case")
            options = replace(options, letter_case=wished)
        if name_rules is not None:
            options = replace(options, name_rules=name_rules_of(name_rules))
        return options

    def for_raw_text(self) -> Self:
        """Give the options for a text that nobody has cut into tokens.

        A corpus that came in tokens was cut at its spaces; a text as people write it cannot be.
        """
        return replace(self, profile=_cut_as(self.profile))

    def __str__(self) -> str:
        return (
            f"tokens as in '{self.profile}', letter case '{self.letter_case}',"
            f" lone stop words {'linked' if self.stop_words else 'not linked'}"
            + (f", also linked: {', '.join(sorted(self.name_rules))}" if self.name_rules else "")
        )


DEFAULTS = LinkOptions()


def link(
    text: str,
    topic: Topic,
    options: LinkOptions = DEFAULTS,
    *,
    id: str | None = None,  # noqa: A002
    title: str | None = None,
    gold: Iterable[GoldSpan] | None = None,
) -> LinkedDocument:
    """Find every place in a text where a form of one of the topic's relations stands.

    The offsets of the tokens are into exactly this text. The id and the title of the document are
    the topic's id and first name unless they are given. A gold mention that does not begin and end
    where tokens do is left out.

    >>> topic = Topic("Sorry", relations=[Relation("performer", "Madonna")])
    >>> link("Sorry is a song by Madonna.", topic).mentions
    (Mention(start=0, end=1, relation=0, form=0), Mention(start=5, end=6, relation=1, form=0))
    """
    return Linker(topic, options).link(text, id=id, title=title, gold=gold)


class Linker:
    """Links any number of texts about one topic, whose forms are cut into words only once.

    >>> linker = Linker(Topic("Sorry", relations=[Relation("performer", "Madonna")]))
    >>> [len(linker.link(text).mentions) for text in ("Sorry", "by Madonna", "no name")]
    [1, 1, 0]
    """

    def __init__(self, topic: Topic, options: LinkOptions = DEFAULTS) -> None:
        check_topic(topic)
        self.topic = topic
        self.options = options
        self.relations = linkable_relations(topic, options)
        self._matcher = Matcher(self.relations)

    def link(
        self,
        text: str,
        *,
        id: str | None = None,  # noqa: A002
        title: str | None = None,
        gold: Iterable[GoldSpan] | None = None,
    ) -> LinkedDocument:
        """Cut a text into tokens and link it, as the function `link` does."""
        tokens = tokenise(text, self.options.profile)
        if self.options.name_rules:
            tokens = _prepared(text, tokens, self.options, self._matcher)
        return self.link_tokens(text, tokens, id=id, title=title, gold=gold)

    def link_tokens(
        self,
        text: str,
        tokens: Tokens,
        *,
        id: str | None = None,  # noqa: A002
        title: str | None = None,
        gold: Iterable[GoldSpan] | None = None,
    ) -> LinkedDocument:
        """Link a text whose tokens are known already."""
        return LinkedDocument(
            id=id or self.topic.id,
            topic=self.topic.id,
            title=title or self.topic.names[0],
            text=text,
            tokens=tokens,
            relations=self.relations,
            mentions=tuple(self._matcher.find(tokens.words)),
            gold=None if gold is None else _place_gold(gold, tokens, self.relations),
        )


def relink(document: LinkedDocument, options: LinkOptions) -> LinkedDocument:
    """Link a document anew, so that a model can read it whose corpus was linked in another way.

    The text stays as it is, and so does what was known: the forms that the document still has.
    A gold mention that would no longer begin and end where tokens do is left out. A document that
    `link` has made stays the same when it is linked anew with the same options.

    >>> document = link("SORRY is a song.", Topic("Sorry"))
    >>> len(document.mentions)
    0
    >>> len(relink(document, LinkOptions(letter_case=LetterCase.VARIANTS)).mentions)
    1
    """
    relations = _cut_forms(_relations_of(document), options)
    matcher = Matcher(relations)
    tokens = _recut(document, options, matcher)
    gold = None if document.gold is None else _place_gold(_gold_spans(document), tokens, relations)
    mentions = tuple(matcher.find(tokens.words))
    return replace(document, tokens=tokens, relations=relations, mentions=mentions, gold=gold)


def recut(document: LinkedDocument, options: LinkOptions) -> Tokens:
    """Cut the text of a document anew, as `relink` does."""
    relations = _cut_forms(_relations_of(document), options) if options.name_rules else ()
    return _recut(document, options, Matcher(relations))


def _recut(document: LinkedDocument, options: LinkOptions, matcher: "Matcher") -> Tokens:
    if document.tokens.words not in (
        document.text.split(),
        unicodedata.normalize("NFC", document.text).split(),
    ):
        options = options.for_raw_text()  # the text is not one that can be cut at its spaces
    tokens = tokenise(document.text, options.profile)
    if options.name_rules:
        tokens = _prepared(document.text, tokens, options, matcher)
    return tokens


def _prepared(text: str, tokens: Tokens, options: LinkOptions, matcher: "Matcher") -> Tokens:
    """Make the words of a text comparable with forms: composed, and compounds cut at names."""
    tokens = _composed(text, tokens, options)
    if _may_cut_compounds(text, options):
        found = matcher.find(tokens.words)
        whole = {place for mention in found for place in range(mention.start, mention.end)}
        tokens = matcher.cutter.cut(tokens, whole)
    return tokens


def _composed(text: str, tokens: Tokens, options: LinkOptions) -> Tokens:
    if NameRule.CHARACTERS in options.name_rules and not unicodedata.is_normalized("NFC", text):
        words = [unicodedata.normalize("NFC", word) for word in tokens.words]
        tokens = replace(tokens, words=words)
    return tokens


def _may_cut_compounds(text: str, options: LinkOptions) -> bool:
    return (
        NameRule.COMPOUNDS in options.name_rules
        and options.profile in _WITH_COMPOUNDS
        and has_compounds(text)
    )


def cuts_of_text(text: str, options: LinkOptions = DEFAULTS) -> list[Tokens]:
    """Cut a text into words in the ways in which names of any topic may stand in it.

    That is one way, and another one with all compounds cut where there are some.

    >>> options = LinkOptions(name_rules=frozenset([NameRule.COMPOUNDS]))
    >>> [tokens.words for tokens in cuts_of_text("an Oslo-based firm", options)]
    [['an', 'Oslo-based', 'firm'], ['an', 'Oslo', '@-@', 'based', 'firm']]
    """
    tokens = _composed(text, tokenise(text, options.profile), options)
    return [tokens, cut_all(tokens)] if _may_cut_compounds(text, options) else [tokens]


def topic_of(document: LinkedDocument) -> Topic:
    """Give back the topic of a document, with the facts that the document holds."""
    star = _relations_of(document)
    names = [name for relation in star if relation.type == TITLE for name in relation.forms]
    facts = [relation for relation in star if relation.type != TITLE]
    return Topic(document.topic, names or document.title, facts)


def linkable_relations(
    topic: Topic, options: LinkOptions = DEFAULTS
) -> tuple[LinkableRelation, ...]:
    """Cut the forms of a topic's star into words; the title comes first.

    Forms that are equal once cut are one form. A form without a letter or digit is no name, and
    neither is a lone stop word: they are left out here, not only when matching, so that the
    probabilities of the forms that remain sum to one. A relation without any form is left out.
    """
    return _cut_forms(topic.star, options)


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

    @cached_property
    def cutter(self) -> CompoundCutter:
        """Cuts words that are joined by hyphens or slashes where one of the forms stands."""
        return CompoundCutter(
            form for entries in self._by_first_word.values() for *_, form in entries
        )

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


def check_topic(topic: Topic) -> None:
    """Refuse what is no topic, such as the name of one."""
    if not isinstance(topic, Topic):
        raise InputError(
            f"a topic must be an lrlm.Topic, not {topic!r}; make one, or take one from a graph"
            " (lrlm.KnowledgeGraph.open(…).topic(…))"
        )


def check_text(text: str, *, longest: int = LONGEST) -> None:
    """Refuse what a model cannot read, before any work is done.

    That is a text which is empty or too long, and one with control characters: they belong to no
    word and would steer the terminal that shows them.
    """
    if not isinstance(text, str):
        raise InputError(f"a text must be a string, not {type(text).__name__}")
    if not text.strip():
        raise InputError("the text is empty: there is nothing to read")
    if len(text) > longest:
        raise TextTooLongError(
            f"the text has {len(text):,} characters, more than the {longest:,} that are read at"
            " once; cut it into articles"
        )
    if found := NOT_IN_A_TEXT.search(text):
        line = text.count("\n", 0, found.start()) + 1
        raise InputError(
            f"the text has {describe(found[0])} at character {found.start()} (line {line});"
            " remove it: it belongs to no word"
        )


def _cut_as(profile: Profile) -> Profile:
    """Say how forms and raw texts are cut where the articles are cut in some way."""
    return Profile.RAW if profile is Profile.SPACES else profile


def _cut_forms(star: Iterable[Relation], options: LinkOptions) -> tuple[LinkableRelation, ...]:
    relations = []
    for relation in star:
        forms: dict[tuple[str, ...], str] = {}
        for text in relation.forms:
            for words in cut_form(text, options):
                forms.setdefault(words, text)
        if forms:
            relations.append(
                LinkableRelation(
                    relation.type,
                    relation.object,
                    tuple(forms),
                    tuple(forms.values()),
                    relation.label,
                )
            )
    return tuple(relations)


@lru_cache(maxsize=1 << 16)
def cut_form(text: str, options: LinkOptions) -> tuple[tuple[str, ...], ...]:
    """Give the writings in which a form is looked for, in words; none where it is no name.

    >>> cut_form("New York", LinkOptions(letter_case=LetterCase.VARIANTS))[1:3]
    (('new', 'york'), ('NEW', 'YORK'))
    """
    found = writings(text, _cut_as(options.profile), options.letter_case, options.name_rules)
    if not options.stop_words:
        found = [words for words in found if len(words) > 1 or words[0] not in STOP_WORDS]
    return tuple(found)


def _rules_from(content: object, where: str) -> frozenset[NameRule]:
    if not isinstance(content, list) or not all(isinstance(each, str) for each in content):
        raise FormatError(f"{where}: name_rules must be a list of names, not {shown(content)}")
    try:
        return name_rules_of(content)
    except InputError as error:
        raise FormatError(f"{where}: {error}; was it written by a newer version?") from None


def _place_gold(
    gold: Iterable[GoldSpan], tokens: Tokens, relations: Sequence[LinkableRelation]
) -> tuple[GoldMention, ...]:
    """Turn character offsets into tokens; a mention that cuts through a token is left out.

    Where only the object is known, the type is that of the one relation that leads to it.
    """
    first = {start: index for index, start in enumerate(tokens.starts)}
    last = {end: index + 1 for index, end in enumerate(tokens.ends)}
    types: dict[str | None, list[str]] = {}
    for relation in relations:
        types.setdefault(relation.object, []).append(relation.type)
    placed = []
    for start, end, type_, object_ in gold:
        leading = types.get(object_, [])
        named = leading[0] if type_ is None and len(leading) == 1 else type_
        if start in first and end in last:
            placed.append(GoldMention(first[start], last[end], named, object_))
    placed.sort(key=lambda each: (each.start, each.end, each.type or "", each.object or ""))
    return tuple(placed)


def _gold_spans(document: LinkedDocument) -> list[GoldSpan]:
    tokens = document.tokens
    return [
        GoldSpan(tokens.starts[gold.start], tokens.ends[gold.end - 1], gold.type, gold.object)
        for gold in document.gold or ()
    ]


def _relations_of(document: LinkedDocument) -> list[Relation]:
    """Give the relations of a document with their forms as they were before they were cut."""
    return [
        Relation(each.type, each.object, each.texts, label=each.label)
        for each in document.relations
    ]


def prune(
    mentions: Iterable[Mention],
    relations: Sequence[LinkableRelation],
    *,
    longest: int | None = None,
) -> list[Mention]:
    """Choose mentions that do not overlap: longer, then earlier, then canonical forms first.

    Ties go by relation type, then by the form's index, then by the relation's place in the star.
    Mentions of more than `longest` tokens are left out.
    """

    def order(mention: Mention) -> tuple[int, int, bool, str, int, int]:
        start, end, relation, form = mention
        return (start - end, start, form != 0, relations[relation].type, form, relation)

    chosen: list[Mention] = []
    taken: set[int] = set()
    for mention in sorted(mentions, key=order):
        span = range(mention.start, mention.end)
        if (longest is None or len(span) <= longest) and taken.isdisjoint(span):
            chosen.append(mention)
            taken.update(span)
    return sorted(chosen)
