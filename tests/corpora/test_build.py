"""From input files to a corpus: what is linked, and that only the content of the input matters."""

import gzip
import json
import random
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lrlm.corpora import USUAL_RULES, GoldMention, LetterCase, LinkOptions, build_corpus
from lrlm.corpora.build import build_from
from lrlm.corpora.corpus import Corpus
from lrlm.corpora.inputs import BuildInputs
from lrlm.corpora.name_rules import name_rules_of
from lrlm.errors import FormatError, InputError, LrlmError
from lrlm.knowledge import TITLE, KnowledgeGraph
from lrlm.knowledge.build import build_graph
from lrlm.text import Profile
from tests.corpora import small_world
from tests.corpora.small_world import FORMS, TEST, TRAIN, TRIPLES, digests


def build(tmp_path: Path, inputs: BuildInputs, name: str = "out", **options: object) -> Corpus:
    return build_from(tmp_path / name, inputs, **options)  # type: ignore[arg-type]


def mentions(corpus: Corpus, article: str) -> list[tuple[str, str, str]]:
    document = corpus.document(article)
    return [
        (
            " ".join(document.tokens.words[mention.start : mention.end]),
            document.relations[mention.relation].type,
            document.relations[mention.relation].object,
        )
        for mention in document.mentions
    ]


# What is built


def test_articles_are_linked_with_their_topics(tmp_path: Path) -> None:
    corpus = build(tmp_path, small_world.write(tmp_path / "in"))
    assert corpus.splits == ("train", "test")
    assert [document.id for document in corpus.documents("train")] == ["rhine", "Danube"]
    assert mentions(corpus, "rhine") == [
        ("Rhine", TITLE, "Rhine"),
        ("1,230", "length", "1230 km"),
        ("1,230 km", "length", "1230 km"),
        ("Alps", "source", "Alps"),
        ("North Sea", "mouth", "North_Sea"),
    ]
    assert mentions(corpus, "Danube") == [
        ("Danube", TITLE, "Danube"),
        ("Black Sea", "mouth", "Black_Sea"),
    ]


def test_ids_titles_and_facts_that_are_not_mentioned_survive(tmp_path: Path) -> None:
    document = build(tmp_path, small_world.write(tmp_path / "in")).document("rhine")
    assert (document.topic, document.title) == ("Rhine", "Rhine (river)")
    assert document.text == TRAIN[0]["text"]
    types = [relation.type for relation in document.relations]
    assert types == [TITLE, "length", "mouth", "source"]
    assert document.relations[0].texts == ("Rhine", "Rhein", "Rhine (river)")
    assert document.relations[2].texts == ("North Sea", "German Ocean")


def test_what_became_of_the_facts_is_counted(tmp_path: Path) -> None:
    triples = [*TRIPLES, TRIPLES[0]]
    corpus = build_from(tmp_path / "out", small_world.write(tmp_path / "in", triples=triples))
    assert corpus.report.facts == {
        "read": 9,
        "repeated": 1,
        "of_topics_without_an_article": 2,  # Elbe and Amazon
        "whose_object_has_no_form": 1,  # Liechtenstein
        "used": 5,
    }
    assert corpus.manifest["counts"]["facts"] == corpus.report.facts
    assert corpus.statistics("train")["relations per topic"] == 2.5


def test_a_topic_without_facts_keeps_its_title(tmp_path: Path) -> None:
    corpus = build(tmp_path, small_world.write(tmp_path / "in"))
    assert mentions(corpus, "Oder") == [("Oder", TITLE, "Oder")]
    assert len(corpus.document("Oder").relations) == 1


def test_two_articles_may_be_about_one_topic(tmp_path: Path) -> None:
    train = [{"id": name, "topic": "Rhine", "text": "Rhine ."} for name in "ab"]
    corpus = build(tmp_path, small_world.write(tmp_path / "in", train=train))
    assert mentions(corpus, "a") == mentions(corpus, "b") == [("Rhine", TITLE, "Rhine")]


def test_a_fact_given_as_entity_and_as_literal_is_one_relation(tmp_path: Path) -> None:
    triples = ["Rhine\tsource\tAlps\tliteral", "Rhine\tsource\tAlps\tentity"]
    forms = ["Alps\tAlps", "Alps\tthe Alpine mountains"]
    inputs = small_world.write(tmp_path / "in", triples=triples, forms=forms)
    corpus = build_from(tmp_path / "out", inputs, max_unknown=1)
    _, source = corpus.document("rhine").relations
    assert source.texts == ("Alps", "the Alpine mountains")
    assert (corpus.report.facts["repeated"], corpus.report.facts["used"]) == (1, 1)


def test_a_literal_stands_in_for_an_entity_without_form(tmp_path: Path) -> None:
    triples = ["Rhine\tsource\tAlps\tliteral", "Rhine\tsource\tAlps\tentity"]
    inputs = small_world.write(tmp_path / "in", triples=triples, forms=["Rhine\tRhine"])
    corpus = build_from(tmp_path / "out", inputs, max_unknown=1)
    assert corpus.document("rhine").relations[1].texts == ("Alps",)
    assert corpus.report.facts["whose_object_has_no_form"] == 0
    assert corpus.report.facts["used"] == 1


def test_gold_mentions_become_tokens_and_misplaced_ones_are_counted(tmp_path: Path) -> None:
    def gold(start: int, end: int, **names: str) -> dict[str, object]:
        return {"start": start, "end": end, **names}

    train: list[dict[str, object]] = [
        {
            "id": "Rhine",
            "text": "The Rhine ends.",
            "gold": [
                gold(10, 14),
                gold(4, 9, type=TITLE, object="Rhine"),
                gold(4, 9),
                gold(5, 9),
                gold(0, 6),
            ],
        },
        {"id": "Danube", "text": "The Danube."},
    ]
    corpus = build_from(tmp_path / "out", small_world.write(tmp_path / "in", train=train))
    assert corpus.report.misplaced_gold == 2
    assert corpus.document("Rhine").gold == (
        GoldMention(1, 2, None, None),
        GoldMention(1, 2, TITLE, "Rhine"),
        GoldMention(2, 3, None, None),
    )
    assert corpus.document("Danube").gold is None


def test_odd_characters_survive(tmp_path: Path) -> None:
    text = "a\u202eb 😀 e\u0301 Rhine \u2028\x85\t end"
    corpus = build(
        tmp_path, small_world.write(tmp_path / "in", train=[{"id": "Rhine", "text": text}])
    )
    assert corpus.document("Rhine").text == text
    assert mentions(corpus, "Rhine") == [("Rhine", TITLE, "Rhine")]


def test_an_id_that_two_articles_have_is_told_with_both_places(tmp_path: Path) -> None:
    rhine, other = {"id": "Rhine", "text": "The Rhine."}, {"id": "Danube", "text": "The Danube."}
    inputs = small_world.write(tmp_path / "in", train=[other, rhine], valid=[rhine])
    with pytest.raises(InputError) as told:
        build(tmp_path, inputs)
    first, second = inputs.articles["train"], inputs.articles["valid"]
    assert str(told.value) == (
        f"more than one article has the id 'Rhine' ({first}:2 and {second}:1)"
    )
    inputs.articles["train"].write_text(
        "\nno article\n" + f"{json.dumps(rhine)}\n" * 3 + f"{json.dumps(other)}\n" * 2
    )
    only = BuildInputs(inputs.triples, inputs.forms, {"train": first})
    with pytest.raises(InputError) as told:
        build(tmp_path, only, max_bad=0.5)
    assert str(told.value) == (
        f"more than one article has the id 'Danube' ({first}:6 and {first}:7),"
        f" 'Rhine' ({first}:3 and {first}:4)"
    )


def test_the_convention_of_the_tokens_is_found_or_given(tmp_path: Path) -> None:
    train = [{"id": "Rhine", "text": "The Rhine , a river , ends ."}]
    inputs = small_world.write(tmp_path / "in", train=train)
    assert build(tmp_path, inputs, "found").options.profile is Profile.SPACES
    given = build(tmp_path, inputs, "given", profile=Profile.WIKITEXT)
    assert given.options.profile is Profile.WIKITEXT


def test_options_are_used_and_remembered(tmp_path: Path) -> None:
    options = LinkOptions(stop_words=True)
    triples, forms = ["Rhine\tarticle\tThe"], ["The\tthe"]
    inputs = small_world.write(tmp_path / "in", triples=triples, forms=forms)
    corpus = build(tmp_path, inputs, options=options, max_unknown=1)
    assert corpus.options == LinkOptions(Profile.RAW, stop_words=True)
    assert ("the", "article", "The") in mentions(corpus, "rhine")


def test_a_limit_takes_the_first_articles_of_each_split(tmp_path: Path) -> None:
    corpus = build(tmp_path, small_world.write(tmp_path / "in"), limit=1)
    assert [document.id for document in corpus.documents("train")] == ["rhine"]
    assert [document.id for document in corpus.documents("test")] == ["Oder"]
    assert corpus.manifest["limit"] == 1


def test_the_manifest_names_the_inputs_and_no_place_or_time(tmp_path: Path) -> None:
    corpus = build(tmp_path, small_world.write(tmp_path / "in"))
    names = [each["name"] for each in corpus.manifest["inputs"]]
    assert names == ["triples.tsv", "forms.tsv", "train.jsonl", "test.jsonl"]
    assert str(tmp_path) not in (corpus.folder / "manifest.json").read_text(encoding="utf-8")


# The same bytes


def test_the_same_bytes_for_any_number_of_workers(tmp_path: Path) -> None:
    inputs = small_world.write_large(tmp_path / "in", 1500)  # three batches
    one, two = (build(tmp_path, inputs, f"by {n}", workers=n) for n in (1, 2))
    assert digests(one.folder) == digests(two.folder)
    assert [each.id for each in one.documents("train")] == [f"T{n}" for n in range(1500)]


def test_the_order_of_triples_does_not_matter(tmp_path: Path) -> None:
    triples = list(TRIPLES)
    random.Random(0).shuffle(triples)
    assert triples != list(TRIPLES)
    sorted_ = build(tmp_path, small_world.write(tmp_path / "sorted"), "one").folder
    shuffled = build(
        tmp_path, small_world.write(tmp_path / "shuffled", triples=triples), "two"
    ).folder
    one, two = digests(sorted_), digests(shuffled)
    assert one.pop("manifest.json") != two.pop("manifest.json")  # it names the inputs by content
    assert one == two


def test_small_memory_gives_the_same_bytes(tmp_path: Path) -> None:
    inputs = small_world.write_large(tmp_path / "in", 600)
    roomy, narrow = (build(tmp_path, inputs, f"in {m}", memory=m) for m in ("1GB", "100MB"))
    assert digests(roomy.folder) == digests(narrow.folder)


def test_compressed_and_plain_files_give_the_same_corpus(tmp_path: Path) -> None:
    plain = small_world.write(tmp_path / "in")
    packed = tmp_path / "train.gz"
    packed.write_bytes(gzip.compress(plain.articles["train"].read_bytes()))
    other = BuildInputs(
        plain.triples, plain.forms, {"test": plain.articles["test"], "train": packed}
    )
    one, two = (
        digests(build(tmp_path, each, name).folder) for each, name in [(plain, "a"), (other, "b")]
    )
    del one["manifest.json"], two["manifest.json"]
    assert one == two


# Bad input


def refuse(tmp_path: Path, inputs: BuildInputs, message: str, **options: object) -> None:
    """Expect a build to fail with one line, with an old corpus left as it was, and without one."""
    old = build(tmp_path, small_world.write(tmp_path / "old input"), "old").folder
    before = digests(old)
    for name in ("old", "new"):
        with pytest.raises(LrlmError, match=message) as caught:
            build(tmp_path, inputs, name, overwrite=True, **options)
        assert "\n" not in str(caught.value)
    assert digests(old) == before
    left = {path.name for path in tmp_path.iterdir()}
    assert left <= {"old", "old input", "in"}, "nothing may be left behind"


def test_a_few_malformed_lines_are_skipped_and_reported(tmp_path: Path) -> None:
    inputs = small_world.write(
        tmp_path / "in",
        triples=[*TRIPLES, "only one column"],
        forms=[*FORMS[:2], "a\tb\tc", *FORMS[2:]],
        train=[TRAIN[0], "{", TRAIN[1]],
        test=TEST,
    )
    corpus = build_from(tmp_path / "out", inputs, max_bad=0.4)
    assert corpus.report.bad_lines == 3
    assert corpus.manifest["counts"]["bad_lines"] == 3
    for example, expected in zip(
        corpus.report.examples,
        (
            r"triples\.tsv:9: expected subject, relation, object .* found 1 column",
            r"forms\.tsv:3: expected entity and form between a tab, found 3 columns",
            r"train\.jsonl:2: not JSON \(.*\)",
        ),
        strict=True,
    ):
        assert re.fullmatch(rf"{re.escape(str(tmp_path))}/in/{expected}", example)
    assert corpus.statistics("train")["documents"] == 2


@pytest.mark.parametrize("which", ["triples", "forms", "train"])
def test_too_many_malformed_lines_stop_the_build(tmp_path: Path, which: str) -> None:
    content: dict[str, list[object]] = {
        "triples": [*TRIPLES], "forms": [*FORMS], "train": [*TRAIN],
    }  # fmt: skip
    content[which].append("{")
    inputs = small_world.write(tmp_path / "in", **content)  # type: ignore[arg-type]
    line = len(content[which])
    refuse(
        tmp_path,
        inputs,
        rf"{which}\.\w+:{line}: .*1 of {line} lines are bad, more than the allowed",
    )


def test_a_missing_column_is_named(tmp_path: Path) -> None:
    inputs = small_world.write(tmp_path / "in", triples=["Rhine\tNorth_Sea"] * 3)
    refuse(tmp_path, inputs, r"triples\.tsv: expected triples .*, but this looks like forms")
    mixed = ["Rhine\tmouth\tNorth_Sea"] * 3 + ["Rhine\tNorth_Sea"] * 2
    inputs = small_world.write(tmp_path / "in", triples=mixed)
    refuse(
        tmp_path / "mixed", inputs, r"triples\.tsv:4: expected subject, .*found 2 columns \(2 of 5"
    )


def test_a_missing_field_is_named(tmp_path: Path) -> None:
    inputs = small_world.write(tmp_path / "in", train=[{"id": "a", "body": "x"}])
    refuse(tmp_path, inputs, r"train\.jsonl:1: the field 'text' is missing")


def test_two_articles_with_one_id_are_refused(tmp_path: Path) -> None:
    again = [{**TRAIN[0], "topic": "Elbe"}]
    refuse(tmp_path, small_world.write(tmp_path / "in", train=TRAIN, valid=again), "id 'rhine'")


def test_splits_that_share_topics_are_refused_and_the_topics_named(tmp_path: Path) -> None:
    train = [{"id": f"a{n}", "topic": f"T{n}", "text": "x"} for n in range(9)]
    test = [{"id": f"b{n}", "topic": f"T{n}", "text": "x"} for n in range(1, 8)]
    inputs = small_world.write(tmp_path / "in", train=train, test=test)
    refuse(tmp_path, inputs, "share topics.*'T1', 'T2', 'T3', 'T4', 'T5' and 2 more")


@pytest.mark.parametrize("which", ["triples.tsv", "forms.tsv", "train.jsonl"])
def test_an_empty_file_is_refused(tmp_path: Path, which: str) -> None:
    inputs = small_world.write(tmp_path / "in")
    (tmp_path / "in" / which).write_text("", encoding="utf-8")
    refuse(tmp_path, inputs, f"{which} is empty")


def test_a_graph_on_disk_gives_the_same_as_its_tables(tmp_path: Path) -> None:
    inputs = small_world.write(tmp_path / "in")
    assert inputs.triples is not None
    assert inputs.forms is not None
    build_graph(tmp_path / "kg", [inputs.triples, inputs.forms])
    from_tables = build(tmp_path, inputs, "tables")
    stored = build_from(
        tmp_path / "graph", BuildInputs(articles=inputs.articles, graph=tmp_path / "kg")
    )
    for split in from_tables.splits:
        assert list(stored.documents(split)) == list(from_tables.documents(split))


def test_a_graph_is_looked_up_the_same_by_any_number_of_workers(tmp_path: Path) -> None:
    inputs = small_world.write_large(tmp_path / "in", 1500)
    assert inputs.triples is not None
    assert inputs.forms is not None
    build_graph(tmp_path / "kg", [inputs.triples, inputs.forms])
    stored = BuildInputs(articles=inputs.articles, graph=tmp_path / "kg")
    tables, one, two = (
        build(tmp_path, source, f"out {n}", workers=workers)
        for n, (source, workers) in enumerate([(inputs, 1), (stored, 1), (stored, 2)])
    )
    assert digests(one.folder) == digests(two.folder)
    assert digests(one.folder)["train.parquet"] == digests(tables.folder)["train.parquet"]
    assert one.report.facts == {**tables.report.facts, "read": 9000}


def test_what_is_known_does_not_depend_on_the_other_articles(tmp_path: Path) -> None:
    """A number, a name and an entity may be written alike, and still each has its own forms."""
    triples = [
        "Rhine\tlength\t1230 km\tliteral",
        "Elbe\tsame length as\t1230 km\tentity",
        "Rhine\tnote\tAlps\tliteral",
        "Rhine\tsource\tAlps\tentity",
        "Rhine\tsource\tAlps\tliteral",
        "Elbe\tnear\tRhine",
    ]
    forms = ["1230 km\tthe Rhine's length", "Alps\tAlps", "Alps\tthe Alps", "Rhine\tRhein"]
    articles = [{"id": name, "text": "The Rhine , 1230 km ."} for name in ("Elbe", "Rhine")]
    inputs = small_world.write(tmp_path / "in", triples=triples, forms=forms, train=articles)
    assert inputs.triples is not None
    assert inputs.forms is not None
    build_graph(tmp_path / "kg", [inputs.triples, inputs.forms])
    both = build(tmp_path, BuildInputs(articles=inputs.articles, graph=tmp_path / "kg"), "both")
    alone = small_world.write(tmp_path / "in2", train=articles[1:])
    one = build(tmp_path, BuildInputs(articles=alone.articles, graph=tmp_path / "kg"), "one")
    assert both.document("Rhine") == one.document("Rhine")
    length, note, source = both.document("Rhine").relations[1:]
    assert "the Rhine's length" not in length.texts
    assert note.texts == source.texts == ("Alps", "the Alps")
    assert both.report.facts == {
        "read": 6,
        "repeated": 1,
        "of_topics_without_an_article": 0,
        "whose_object_has_no_form": 0,
        "used": 5,
    }


def test_topics_that_a_graph_does_not_have_are_counted(tmp_path: Path) -> None:
    unknown = [
        {"id": "Nowhere", "text": "Nowhere is a place."},
        {"id": "Elbe", "text": "The Elbe."},
    ]
    inputs = small_world.write(tmp_path / "in", train=unknown)
    assert inputs.triples is not None
    build_graph(tmp_path / "kg", [inputs.triples, tmp_path / "in" / "forms.tsv"])
    corpus = build_from(
        tmp_path / "out", BuildInputs(articles=inputs.articles, graph=tmp_path / "kg")
    )
    assert corpus.report.left_out == {"topics that the graph does not have": 1}
    assert corpus.statistics("train")["documents"] == 2


@pytest.mark.parametrize("given", [{}, {"triples"}, {"forms"}, {"triples", "forms", "graph"}])
def test_either_tables_or_a_graph_are_needed(tmp_path: Path, given: set[str]) -> None:
    inputs = small_world.write(tmp_path / "in")
    paths = {"triples": inputs.triples, "forms": inputs.forms, "graph": tmp_path}
    chosen = {name: paths[name] for name in given}
    with pytest.raises(InputError, match="a graph is needed: give either"):
        BuildInputs(articles=inputs.articles, **chosen)


def test_a_folder_that_is_no_graph_is_refused(tmp_path: Path) -> None:
    inputs = small_world.write(tmp_path / "in")
    with pytest.raises(FormatError, match="is not an lrlm knowledge graph"):
        BuildInputs(articles=inputs.articles, graph=tmp_path / "in")


@pytest.mark.parametrize("which", ["triples.gz", "forms.gz", "train.gz"])
def test_a_truncated_gzip_is_refused(tmp_path: Path, which: str) -> None:
    inputs = small_world.write_large(tmp_path / "in", 300)
    path = tmp_path / "in" / which
    path.write_bytes(path.read_bytes()[:-100])
    refuse(tmp_path, inputs, f"{which}:[0-9]+: damaged or truncated")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    inputs = small_world.write(tmp_path / "in")
    with pytest.raises(InputError, match=r"gone\.tsv: there is no such file"):
        BuildInputs(tmp_path / "gone.tsv", inputs.forms, inputs.articles)


def test_inputs_without_articles_or_with_another_split_are_refused(tmp_path: Path) -> None:
    inputs = small_world.write(tmp_path / "in")
    with pytest.raises(InputError, match="no articles"):
        BuildInputs(inputs.triples, inputs.forms, {})
    with pytest.raises(InputError, match="no split 'dev'"):
        BuildInputs(inputs.triples, inputs.forms, {"dev": tmp_path})


@pytest.mark.parametrize(
    ("option", "message"),
    [({"limit": 0}, "limit"), ({"max_bad": 1.0}, "bad lines"), ({"workers": 0}, "worker")],
)
def test_options_out_of_range_are_refused(
    tmp_path: Path, option: dict[str, object], message: str
) -> None:
    refuse(tmp_path, small_world.write(tmp_path / "in"), message, **option)


def test_an_existing_corpus_is_replaced_only_when_asked(tmp_path: Path) -> None:
    inputs = small_world.write(tmp_path / "in")
    folder = build(tmp_path, inputs).folder
    before = digests(folder)
    with pytest.raises(InputError, match="exists already"):
        build(tmp_path, inputs, limit=1)
    assert digests(folder) == before
    assert build(tmp_path, inputs, limit=1, overwrite=True).manifest["limit"] == 1


def test_bad_lines_do_not_hide_that_nothing_is_left(tmp_path: Path) -> None:
    refuse(tmp_path, small_world.write(tmp_path / "in", train=["{"]), "not JSON", max_bad=0.99)


def test_progress_is_told(tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    inputs = small_world.write_large(tmp_path / "in", 1100)
    build(tmp_path, inputs, progress=lambda *step: told.append(step))
    assert told[0] == ("reading the graph", 0, 0)
    assert told[-1] == ("linking articles", 1100, 1100)
    assert ("reading articles", 1000, 0) in told


def test_errors_are_of_the_family(tmp_path: Path) -> None:
    inputs = small_world.write(tmp_path / "in", triples=["x"])
    with pytest.raises(FormatError):
        build(tmp_path, inputs)


# What importers rely on


def test_shared_topics_can_be_left_out_of_the_earlier_split(tmp_path: Path) -> None:
    articles = [{"id": name, "topic": topic, "text": "Rhine ."} for name, topic in ("ar", "bs")]
    again = [{**article, "id": f"{article['id']}2"} for article in articles[:1]]
    inputs = small_world.write(tmp_path / "in", train=articles, test=again)
    corpus = build_from(tmp_path / "out", inputs, drop_shared_topics=True, max_unknown=1)
    assert corpus.report.left_out == {"articles whose topic is in a later split": 1}
    assert [document.id for document in corpus.documents("train")] == ["b"]
    assert [document.id for document in corpus.documents("test")] == ["a2"]


def test_the_type_of_a_gold_mention_follows_from_its_object_if_one_relation_leads_there(
    tmp_path: Path,
) -> None:
    gold = [
        {"start": 4, "end": 9, "object": "Rhine"},
        {"start": 10, "end": 13, "object": "Alps"},
        {"start": 14, "end": 17, "object": "nothing"},
        {"start": 18, "end": 21, "type": "told", "object": "Alps"},
    ]
    train = [{"id": "Rhine", "text": "The Rhine one two six .", "gold": gold}]
    corpus = build(tmp_path, small_world.write(tmp_path / "in", train=train))
    assert corpus.document("Rhine").gold == (
        GoldMention(1, 2, TITLE, "Rhine"),
        GoldMention(2, 3, "source", "Alps"),
        GoldMention(3, 4, None, "nothing"),
        GoldMention(4, 5, "told", "Alps"),
    )
    twice = small_world.write(
        tmp_path / "in2", triples=[*TRIPLES, "Rhine\tnear\tAlps"], train=train
    )
    found = build(tmp_path, twice, "second").document("Rhine").gold
    assert found is not None
    assert found[1] == GoldMention(2, 3, None, "Alps")  # two relations lead there


def test_odd_letters_in_a_path(tmp_path: Path) -> None:
    odd = tmp_path / "o'd*d[x] é"
    odd.mkdir()
    assert build(odd, small_world.write(odd / "in")).splits
    queer = tmp_path / "wh?t"
    queer.mkdir()
    with pytest.raises(InputError, match="without a question mark"):
        build(queer, small_world.write(queer / "in"))
    assert sorted(path.name for path in queer.iterdir()) == ["in"]


# The public function


def test_strings_are_paths(tmp_path: Path) -> None:
    inputs = small_world.write(tmp_path / "in")
    corpus = build_corpus(
        str(tmp_path / "out"),
        triples=str(inputs.triples),
        forms=str(inputs.forms),
        train=str(inputs.articles["train"]),
        test=inputs.articles["test"],
    )
    options = LinkOptions(name_rules=name_rules_of(USUAL_RULES))
    assert digests(corpus.folder) == digests(
        build(tmp_path, inputs, "other", options=options).folder
    )


def test_a_graph_may_be_open_or_a_folder(tmp_path: Path) -> None:
    inputs = small_world.write(tmp_path / "in")
    build_graph(tmp_path / "kg", [tmp_path / "in" / "triples.tsv", tmp_path / "in" / "forms.tsv"])
    graph = KnowledgeGraph.open(tmp_path / "kg")
    folders = [
        build_corpus(tmp_path / name, graph=given, train=inputs.articles["train"]).folder
        for name, given in (("a", graph), ("b", tmp_path / "kg"), ("c", str(tmp_path / "kg")))
    ]
    assert digests(folders[0]) == digests(folders[1]) == digests(folders[2])


def test_articles_may_be_dictionaries(tmp_path: Path) -> None:
    inputs = small_world.write(tmp_path / "in")
    tables = {"triples": inputs.triples, "forms": inputs.forms}
    given = build_corpus(tmp_path / "a", **tables, train=iter(TRAIN), test=TEST)  # type: ignore[arg-type]
    for split in ("train", "test"):
        written = build(tmp_path, inputs, split).documents(split)
        assert list(given.documents(split)) == list(written)
    names = [each["name"] for each in given.manifest["inputs"]]
    assert names == ["triples.tsv", "forms.tsv", "train.jsonl", "test.jsonl"]


@pytest.mark.parametrize(
    ("article", "message"),
    [
        ({"id": "a"}, r"train\[1\] is not an article: the field 'text' is missing"),
        ({"id": "a", "text": "x", "gold": [{}]}, r"train\[1\] is not an article: a gold mention"),
        (7, r"train\[1\] is not an article: "),
    ],
)
def test_a_dictionary_that_is_no_article_is_named(
    tmp_path: Path, article: Any, message: str
) -> None:
    inputs = small_world.write(tmp_path / "in")
    with pytest.raises(InputError, match=message):
        build_corpus(
            tmp_path / "out",
            triples=inputs.triples,
            forms=inputs.forms,
            train=[TRAIN[0], article],
            max_bad=0.9,
        )
    assert not (tmp_path / "out").exists()


def test_choices_may_be_named(tmp_path: Path) -> None:
    inputs = small_world.write(tmp_path / "in")
    given: dict[str, Any] = {
        "triples": inputs.triples, "forms": inputs.forms, "train": inputs.articles["train"],
    }  # fmt: skip
    corpus = build_corpus(
        tmp_path / "out", **given, tokens="wikitext", letter_case="variants", stop_words=True
    )
    assert corpus.options == LinkOptions(
        Profile.WIKITEXT, LetterCase.VARIANTS, stop_words=True, name_rules=USUAL_RULES
    )
    known = "'raw', 'unspaced', 'wikitext', 'spaces'"
    with pytest.raises(InputError, match=f"tokens must be one of {known}, not"):
        build_corpus(tmp_path / "other", **given, tokens="words")
    with pytest.raises(InputError, match="there are no articles"):
        build_corpus(tmp_path / "other", triples=inputs.triples, forms=inputs.forms)


def test_the_report_is_kept_but_for_examples_and_warnings(tmp_path: Path) -> None:
    inputs = small_world.write(tmp_path / "in", triples=[*TRIPLES, "only one column"])
    built = build(tmp_path, inputs, max_bad=0.4)
    assert len(built.report.examples) == 1
    assert Corpus.open(built.folder).report == replace(built.report, examples=(), warnings=())
