"""Single lines of the input files: facts, forms and articles, and why some are none."""

import pytest

from lrlm.corpora.articles import Article, article_from, parse_article
from lrlm.knowledge.sources.triples import parse_fact, parse_form
from lrlm.text.document import GoldSpan
from lrlm.text_files import BadLineError


def test_facts() -> None:
    assert parse_fact("s\tt\to") == ("s", "t", "o", False)
    assert parse_fact("s\tt\to\tentity") == ("s", "t", "o", False)
    assert parse_fact(' s \tt "\to\tliteral') == ("s", 't "', "o", True)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("s", "found 1 column$"),
        ("s\tt", "found 2 columns"),
        ("s\tt\to\tentity\tx", "found 5 columns"),
        ("s\t \to", "is empty"),
        ("s\tt\to\tnumber", "must be entity or literal, not 'number'"),
        ("s\t@title\to", "names"),
        ("s\x1b\tt\to", r"column 1 holds the control character U\+001B"),
        ("s\tt\to\x1f\tliteral", r"column 3 holds the control character U\+001F"),
        ("s\tt\to\x0bo", r"the object holds the control character U\+000B"),
        ("s\tt\t\u200b\tliteral", "nothing but invisible"),
    ],
)
def test_what_is_no_fact(line: str, reason: str) -> None:
    with pytest.raises(BadLineError, match=reason):
        parse_fact(line)


def test_forms() -> None:
    assert parse_form('e\t a "form" ') == ("e", 'a "form"')
    for line, reason in [("e", "found 1 column"), ("e\tf\tx", "found 3"), ("e\t ", "is empty")]:
        with pytest.raises(BadLineError, match=reason):
            parse_form(line)


def test_articles_fill_in_their_topic_and_title() -> None:
    assert parse_article('{"id": "a", "text": "x"}') == Article("a", "a", "a", "x", None)
    full = '{"id": "a", "topic": "b", "title": "c", "text": "x y", "other": 1, "gold": []}'
    assert parse_article(full) == Article("a", "b", "c", "x y", ())


def test_gold_mentions_are_spans_of_characters() -> None:
    gold = [{"start": 0, "end": 1, "type": "t", "object": "o"}, {"end": 3, "start": 2, "more": 1}]
    read = article_from({"id": "a", "text": "x y", "gold": gold}).gold
    assert read == (GoldSpan(0, 1, "t", "o"), GoldSpan(2, 3, None, None))


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "expected a JSON object"),
        ('{"text": "x"}', "'id' is missing"),
        ('{"id": "a"}', "'text' is missing"),
        ('{"id": 7, "text": "x"}', "'id' must be a text"),
        ('{"id": "a", "text": " "}', "'text' must be a text that is not blank"),
        ('{"id": "a", "text": "\\ud800"}', "half a character"),
        ('{"id": "a", "text": "x\\u001b[2J"}', r"'text' holds the control character U\+001B"),
        ('{"id": "a\\n", "text": "x"}', r"'id' holds the control character U\+000A"),
        ('{"id": "a", "topic": "\\u0000t", "text": "x"}', r"'topic' holds .* U\+0000"),
        ('{"id": "a", "title": "b\\u0007", "text": "x"}', r"'title' holds .* U\+0007"),
        (
            '{"id": "a", "text": "x", "gold": [{"start": 0, "end": '
            + "[" * 900
            + "]" * 900
            + "}]}",
            "not within the text",
        ),
        ('{"id": "a", "text": "x", "gold": {}}', "'gold' must be a list"),
        ('{"id": "a", "text": "x", "gold": [1]}', "a gold mention must be an object"),
        ('{"id": "a", "text": "x", "gold": [{"start": 0, "end": 2}]}', "not within the text"),
        ('{"id": "a", "text": "x", "gold": [{"start": 1, "end": 1}]}', "not within the text"),
        ('{"id": "a", "text": "x", "gold": [{"start": false, "end": true}]}', "not within"),
        ('{"id": "a", "text": "x", "gold": [{"end": 1}]}', "not within the text"),
        ('{"id": "a", "text": "x", "gold": [{"start": 0, "end": 1, "type": 3}]}', "'type'"),
        (
            '{"id": "a", "text": "x", "gold": [{"start": 0, "end": 1, "object": "\\udfff"}]}',
            "half a character",
        ),
    ],
)
def test_what_is_no_article(line: str, reason: str) -> None:
    with pytest.raises(BadLineError, match=reason):
        parse_article(line)
