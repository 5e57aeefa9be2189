"""`lrlm evaluate`, as a user runs it on runs that were trained for a second."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from lrlm.artifacts import rewrite_manifests
from lrlm.cli import main
from lrlm.corpora import Corpus, LetterCase, LinkOptions
from lrlm.corpora.build import build_from
from lrlm.evaluation import Spelling, evaluate
from lrlm.report.evaluation_tables import evaluation_sheets
from lrlm.runs.run import Run
from lrlm.text import Profile
from lrlm.text.word_space import WordSpace
from lrlm.training.train import train
from tests.corpora import small_world
from tests.training import tiny
from tests.training.tiny import SETTINGS

RIVERS = ("Rhine", "Danube", "Elbe", "Oder")
KINDS = ("vanilla", "nklm", "lrlm")


def article(number: int) -> dict[str, Any]:
    """A text with its true mentions; the second year is only a word."""
    parts = [
        (f"Town {number}", ("@title", f"Town{number}")),
        (" lies on the ", None),
        (f"{RIVERS[number % 4]} River", ("river", RIVERS[number % 4])),
        (f" . It was founded in {1200 + number} , not before {1200 + number} .", None),
    ]
    text, gold = "", []
    for words, fact in parts:
        if fact is not None:
            span = {"start": len(text), "end": len(text) + len(words)}
            gold.append({**span, "type": fact[0], "object": fact[1]})
        text += words
    return {"id": f"Town{number}", "text": text, "gold": gold}


def write_corpus(
    folder: Path, name: str, *, towns: int = 20, with_gold: bool = True, **how: Any
) -> Path:
    triples, forms = [], []
    for number in range(towns):
        triples.append(f"Town{number}\triver\t{RIVERS[number % 4]}")
        triples.append(f"Town{number}\tfounded\t{1200 + number}\tliteral")
        forms.append(f"Town{number}\tTown {number}")
    forms += [f"{river}\t{form}" for river in RIVERS for form in (f"{river} River", river)]
    articles = [article(number) for number in range(towns)]
    for each in articles if not with_gold else ():
        del each["gold"]
    inputs = small_world.write(
        folder / f"{name}.inputs",
        triples=triples,
        forms=forms,
        train=articles[:-12],
        valid=articles[-12:-10],
        test=articles[-10:],
    )
    return build_from(folder / name, inputs, **how).folder


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a corpus and, in a folder beside it, runs."""
    folder = tmp_path_factory.mktemp("home")
    corpus = write_corpus(folder, "towns")
    (folder / "runs").mkdir()
    for kind in KINDS:
        settings = (*SETTINGS, "training.epochs=1")
        train(
            corpus,
            folder / "runs" / kind,
            model=kind,
            configure=tiny.configured(*settings),
            features_cache=folder / "features",
        )
    return folder


def paths(home: Path, *kinds: str) -> list[str]:
    return [str(home / "runs" / kind) for kind in kinds]


def test_everything_is_told_and_written(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {name: tmp_path / name for name in ("e.json", "e.md", "e.tex", "e.svg")}
    options = [
        "--json", str(files["e.json"]), "--markdown", str(files["e.md"]),
        "--latex", str(files["e.tex"]), "--plot", str(files["e.svg"]),
    ]  # fmt: skip
    assert main(["evaluate", *paths(home, *KINDS), *options]) == 0
    output, errors = capsys.readouterr()
    assert errors.splitlines() == [f"Wrote {path}." for path in files.values()]
    assert "Perplexity on towns, test" in output
    assert re.search(r"NKLM† +LSTM +[\d.]+ ", output)
    assert re.search(r"contested +\d+ +[\d.]+%", output)
    assert "Reliability of LRLM, LSTM" in output

    written = json.loads(files["e.json"].read_text())
    assert written == json.loads(json.dumps(evaluate(paths(home, *KINDS)).to_dict()))
    assert [run["model"] for run in written["runs"]] == list(KINDS)
    assert [run["is_joint_with_one_annotation"] for run in written["runs"]] == [False, True, False]
    vanilla, nklm, lrlm = written["runs"]
    assert vanilla["significance"] == nklm["significance"] == {}
    assert vanilla["annotation"] is nklm["annotation"] is None
    assert set(lrlm["significance"]) == {spelling.value for spelling in Spelling}
    better = min(vanilla, nklm, key=lambda run: run["perplexity"])
    assert lrlm["significance"]["open"]["baseline"] == better["name"]
    assert len(lrlm["documents"]) == 10
    # In every text four spans: the title, the river in two forms of which one nests, two years.
    assert lrlm["annotation"]["overall"]["places"] == 10 * 5
    truths = {name: each["places"] for name, each in lrlm["annotation"]["by_truth"].items()}
    assert truths == {"relation": 20, "words": 20, "otherwise": 10}

    assert files["e.md"].read_text().startswith("**Perplexity on towns, test**")
    assert files["e.tex"].read_text().count(r"\begin{table}") == 4
    assert files["e.svg"].read_text().startswith("<?xml")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(files)


def test_gold_mentions_are_compared(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {name: tmp_path / name for name in ("e.json", "e.md", "e.tex")}
    options = [
        "--gold", "--json", str(files["e.json"]),
        "--markdown", str(files["e.md"]), "--latex", str(files["e.tex"]),
    ]  # fmt: skip
    assert main(["evaluate", *paths(home, "vanilla", "lrlm"), *options]) == 0
    output = capsys.readouterr().out
    assert "Perplexity on towns, test" in output
    assert "Gold mentions of towns, test" in output
    assert "Gold mentions by the least probability of a claim, LRLM, LSTM, towns, test" in output
    assert "Models that do not annotate: Vanilla LM, LSTM." in output
    # In every text: the title, the river in two forms of which one nests, two years that are words.
    assert re.search(r"span +every candidate +20 +50 +20 +0.400 +1.000 +0.571", output)
    assert re.search(r"span +longest match +20 +40 +20 +0.500 +1.000 +0.667", output)
    assert re.search(r"relation +LRLM, LSTM +20 +\d+ +\d+ ", output)

    written = json.loads(files["e.json"].read_text())
    gold, (vanilla, lrlm) = written["gold"], written["runs"]
    assert gold["documents"] == 10
    assert gold["mentions"] == {"span": 20, "object": 20, "relation": 20}
    assert gold["unreachable"] == {"span": 0, "object": 0, "relation": 0}
    assert gold["longest_match"]["relation"]["precision"] == 0.5
    assert vanilla["gold"] is None
    assert lrlm["gold"]["best_path"]["span"]["gold"] == 20
    curve = lrlm["gold"]["by_threshold"]
    assert [each["threshold"] for each in curve][:2] == [0.05, 0.1]
    claims = [each["relation"]["claimed"] for each in curve]
    assert claims == sorted(claims, reverse=True)
    # The two forms of the river nest, so strings do not decide between them.
    contested = gold["contested"]
    assert contested["oracle"]["span"]["f1"] == 1.0
    assert contested["longest_match"]["span"]["gold"] == contested["mentions"]["span"] > 0
    assert lrlm["gold"]["contested"]["span"]["gold"] == contested["mentions"]["span"]
    assert lrlm["gold"]["names"]["span"]["gold"] == 20
    assert lrlm["gold"]["names_contested"]["span"]["gold"] == contested["mentions"]["span"]
    assert "Contested gold mentions of towns, test" in output
    assert files["e.md"].read_text().count("Gold mentions") == 2
    assert files["e.tex"].read_text().count(r"\begin{table}") == 7


def test_string_matching_is_shown_for_models_that_do_not_annotate(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["evaluate", *paths(home, "vanilla", "nklm"), "--gold", "--split", "valid"]) == 0
    output = " ".join(capsys.readouterr().out.split())
    assert "Gold mentions of towns, valid" in output
    assert "longest match" in output
    assert "Models that do not annotate: Vanilla LM, LSTM; NKLM†, LSTM." in output
    assert "most probable path" not in output


def test_odds_of_copying_are_fitted_and_kept(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "lrlm"
    shutil.copytree(home / "runs" / "lrlm", run)
    written = tmp_path / "e.json"
    how = ["--split", "valid", "--corpus", str(home / "towns"), "--json", str(written)]
    assert main(["evaluate", str(run), "--fit-copy-odds", *how]) == 0
    told = json.loads(written.read_text())["runs"][0]
    odds = Run.open(run).copy_odds
    assert told["copy_odds"] == odds
    if odds:
        assert f"Odds of copying, in nats a token: lrlm: {odds:g}." in capsys.readouterr().out
    fitted = told["gold"]["best_path"]["object"]["f1"]
    for other in (0, 1, 4, 12):
        assert main(["evaluate", str(run), "--gold", "--copy-odds", str(other), *how]) == 0
        told = json.loads(written.read_text())["runs"][0]
        assert told["copy_odds"] == other
        assert told["gold"]["best_path"]["object"]["f1"] <= fitted
    assert main(["evaluate", str(run), "--gold", *how]) == 0
    assert json.loads(written.read_text())["runs"][0]["copy_odds"] == odds
    capsys.readouterr()
    said = refused(capsys, str(run), "--fit-copy-odds", "--copy-odds", "1")
    assert "--copy-odds and --fit-copy-odds exclude each other" in said


def test_documents_without_gold_mentions_cannot_be_compared(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = write_corpus(tmp_path, "others", towns=14, with_gold=False)
    said = refused(capsys, *paths(home, "lrlm"), "--corpus", str(other), "--gold")
    assert "others has no gold mentions in test" in said
    assert "evaluate without them" in said


def test_gold_is_compared_only_when_it_is_asked_for(home: Path) -> None:
    found = evaluate(paths(home, "lrlm"), split="valid")
    assert found.gold is None
    assert found.runs[0].gold is None


def test_the_end_can_be_counted(home: Path) -> None:
    without = evaluate(paths(home, "vanilla"), split="valid")
    counted = evaluate(paths(home, "vanilla"), split="valid", count_end=True)
    (one,), (other,) = without.runs, counted.runs
    assert one.scores == other.scores
    assert without.perplexities(one)["perplexity"] != counted.perplexities(other)["perplexity"]
    assert without.perplexities(one)["inside"] == counted.perplexities(other)["inside"]


def test_unknown_words_are_those_of_all_splits(home: Path) -> None:
    found = evaluate(paths(home, "vanilla"))
    # The numbers of all 20 towns, each once in its text; the years of the 12 not trained on.
    assert found.unknown_words == 20 + 12
    (run,) = found.runs
    assert [score.unknown_words for score in run.scores] == [3] * 10


def test_another_corpus_can_be_named(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = write_corpus(tmp_path, "others", towns=14)
    assert main(["evaluate", *paths(home, "lrlm"), "--corpus", str(other)]) == 0
    output = capsys.readouterr().out
    assert "Perplexity on others, test" in output
    assert "trained on another corpus" in output


def test_the_corpus_is_found_by_content(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    copied = tmp_path / "elsewhere" / "lrlm"
    shutil.copytree(home / "runs" / "lrlm", copied)
    arguments = ["evaluate", str(copied)]
    assert main(arguments) == 2
    assert "the corpus 'towns' that" in (said := capsys.readouterr().err)
    assert "--corpus DIR" in said
    shutil.copytree(write_corpus(tmp_path / "false", "towns", towns=14), tmp_path / "towns")
    assert main(arguments) == 2  # the name is right, the content is not
    capsys.readouterr()
    monkeypatch.chdir(home)
    assert main(arguments) == 0


def changed(home: Path, out: Path, kind: str, file: str, old: str, new: str) -> str:
    """Copy a run with something replaced in one of its files."""
    shutil.copytree(home / "runs" / kind, out)
    text = (out / file).read_text()
    assert old in text
    (out / file).write_text(text.replace(old, new))
    rewrite_manifests(out)
    return str(out)


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Give the one line that a command was refused with."""
    assert main(["evaluate", *arguments]) == 2
    output, errors = capsys.readouterr()
    assert output == ""
    assert errors.count("\n") == 1
    return errors


def test_runs_of_different_corpora_are_refused(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    manifest = json.loads((home / "runs" / "lrlm" / "manifest.json").read_text())
    fingerprint = manifest["corpus"]["fingerprint"]
    other = changed(home, tmp_path / "x", "lrlm", "manifest.json", fingerprint, "0" * 64)
    said = refused(capsys, *paths(home, "vanilla"), other)
    assert "were trained on different corpora ('towns' and 'towns', by their content)" in said
    assert "say on which corpus to evaluate them" in said
    assert "--corpus DIR" in said
    both = evaluate([*paths(home, "vanilla"), other], corpus=home / "towns")
    assert len(both.runs) == 2


def test_runs_of_different_vocabularies_stand_side_by_side(home: Path, tmp_path: Path) -> None:
    """Every word has a probability under each of them, so perplexity is per word for both."""
    other = changed(home, tmp_path / "x", "lrlm", "vocabulary.json", '"founded"', '"built"')
    found = evaluate([*paths(home, "vanilla"), other])
    first, second = found.runs
    assert [score.units() for score in first.scores] == [score.units() for score in second.scores]
    assert second.unknown_words == first.unknown_words + 1
    assert re.search(r"unknown words \(\d+ to \d+", " ".join(evaluation_sheets(found)[0].notes))


def test_a_corpus_that_was_linked_in_another_way_is_linked_anew(home: Path, tmp_path: Path) -> None:
    towns = Corpus.open(home / "towns")
    options = LinkOptions(letter_case=LetterCase.VARIANTS, stop_words=True)
    other = write_corpus(tmp_path, "others", profile=Profile.RAW, options=options)
    assert Corpus.open(other).options != towns.options
    found = evaluate(paths(home, "lrlm"), corpus=other)
    expected = evaluate(paths(home, "lrlm"), corpus=towns)
    assert found.runs[0].is_relinked
    assert not expected.runs[0].is_relinked
    words = [len(document.tokens) for document in Corpus.open(other).documents("test")]
    assert [score.units() for score in found.runs[0].scores] == words
    nats = [score.nats() for score in found.runs[0].scores]
    assert nats == pytest.approx([score.nats() for score in expected.runs[0].scores])
    assert "linked anew" in " ".join(evaluation_sheets(found)[0].notes)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--split", "dev"], "has no split 'dev'; it has: train, valid, test"),
        (["--corpus", "no/such/folder"], "no/such/folder is not an lrlm corpus"),
        (["--json", "no/such/e.json"], "no/such is not a folder"),
        (["--plot", "bins.doc"], "a plot is a .png, .svg, .pdf file"),
        (["--device", "abacus"], "abacus"),
        (["--json", "x", "--latex", "x"], "two outputs cannot be written to the same file"),
        (["--latex", "."], "is a folder"),
    ],
)
def test_bad_options_are_one_line(
    home: Path, capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    assert message in refused(capsys, *paths(home, "lrlm"), *options)


def test_what_is_no_run_is_one_line(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "is not an lrlm run" in refused(capsys, str(home / "towns"))
    assert "is not an lrlm run" in refused(capsys, "no/such/run")
    assert "is named twice" in refused(capsys, *paths(home, "lrlm", "lrlm"))
    assert "Missing argument" in refused(capsys)


def test_unknown_words_may_cost_what_was_published(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "unknown_words.tsv"
    run = paths(home, "vanilla")
    plain = evaluate(run).runs[0].scores
    year = "1219"  # a word of one text, twice; no other text has it
    table.write_text(f"{year}\t-2.5\nelsewhere\t-1.0\n")
    found = evaluate(run, published_words=table).runs[0].scores
    cheaper = [old.nats() - new.nats() for old, new in zip(plain, found, strict=True)]
    space = Run.open(run[0]).space
    assert isinstance(space, WordSpace)
    spelled = space.speller.log_probs([year])[0]
    assert cheaper == pytest.approx([0] * 9 + [2 * (-2.5 - spelled)], abs=1e-3)
    assert main(["evaluate", *run, "--unknown-words", str(table)]) == 0
    assert re.search(r"1 of \d+ unknown", " ".join(capsys.readouterr().out.split()))
    table.write_text("word\t0.5\n")
    assert main(["evaluate", *run, "--unknown-words", str(table)]) == 2
    assert "unknown_words.tsv:1: expected a word and the log" in capsys.readouterr().err
