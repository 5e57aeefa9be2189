"""Features of a corpus: made once, found again, made anew when what they are made from changes."""

import json
import shutil
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from lrlm.artifacts import rewrite_manifests
from lrlm.batching import UNSEEN, Encoder
from lrlm.corpora import LinkedDocument, LinkOptions
from lrlm.corpora.columns import to_table
from lrlm.corpora.corpus import Corpus, CorpusWriter
from lrlm.corpora.statistics import SplitStatistics
from lrlm.errors import FormatError, InputError
from lrlm.features import (
    HASHED,
    FeatureConfig,
    Features,
    FormVectorConfig,
    RelationVectorConfig,
    SpellingConfig,
    TripleTable,
    UnknownWordSpeller,
    make_features,
    making,
)
from lrlm.features.workers import Job
from lrlm.knowledge import Relation, Topic
from lrlm.progress import Progress
from lrlm.text.word_space import WordSpace
from tests.toy import link

CONFIG = FeatureConfig(
    RelationVectorConfig(width=4, epochs=2),
    FormVectorConfig(source=HASHED, width=8, buckets=64),
    SpellingConfig(embedding_size=4, hidden_size=8, epochs=2, batch_size=4, min_count=1),
)


def document(name: str, text: str, *relations: tuple[str, str]) -> LinkedDocument:
    facts = [Relation(kind, target, [f"the {target}"]) for kind, target in relations]
    return link(text, Topic(name, names=[name], relations=facts), id_=name)


TRAIN = [
    document("Rhine", "The Rhine flows to the sea", ("mouth", "sea"), ("city", "Köln")),
    document("Köln", "Köln is old", ("river", "Rhine")),
    document("nothing", "nobody knows anything"),
]
VALID = [document("Seine", "La Seine secrète", ("mouth", "ocean"), ("city", "Paris"))]
TEST = [document("Volga", "Волга", ("source", "hills"))]


def write(folder: Path, **splits: list[LinkedDocument]) -> Corpus:
    folder.mkdir()
    with CorpusWriter(folder) as writer:
        for split, documents in splits.items():
            writer.add(split, to_table(documents), SplitStatistics.of(documents))
        writer.close(made_by="a test", options=LinkOptions())
    return Corpus.open(folder)


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    return write(tmp_path / "corpus", train=TRAIN, valid=VALID, test=TEST)


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "deep" / "cache"
    assert not list(tmp_path.rglob("*.partial"))


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start no worker, which takes seconds, where nothing depends on it."""

    def make_here(jobs: Sequence[Job], *, workers: int, progress: Progress) -> None:
        for job in jobs:
            making.make(job, progress)

    monkeypatch.setattr("lrlm.features.cache.make_all", make_here)


def made(corpus: Corpus, config: FeatureConfig, cache: Path) -> set[str]:
    """Make features and name what was made for them, rather than found."""
    kinds: set[str] = set()
    before = set(cache.glob("[!.]*-*")) if cache.exists() else set()
    make_features(corpus, config, cache)
    for folder in set(cache.glob("[!.]*-*")) - before:
        kinds.add(folder.name.split("-")[0])
    return kinds


def test_the_graph_is_that_of_all_splits_without_titles(corpus: Corpus) -> None:
    graph = TripleTable.of(corpus)
    triples = {
        (graph.nodes[head], graph.types[kind], graph.nodes[tail])
        for head, kind, tail in graph.triples_N3.tolist()
    }
    assert triples == {
        ("Rhine", "mouth", "sea"),
        ("Rhine", "city", "Köln"),
        ("Köln", "river", "Rhine"),
        ("Seine", "mouth", "ocean"),
        ("Seine", "city", "Paris"),
        ("Volga", "source", "hills"),
    }
    assert graph.training_types == {"@title", "mouth", "city", "river"}


@pytest.mark.usefixtures("in_this_process")
def test_features_fit_the_encoder(corpus: Corpus, cache: Path) -> None:
    features = make_features(corpus, CONFIG, cache)
    relations = features.relations
    assert relations.types == ("city", "mouth", "river", "source", "@title")
    assert relations.types_KD.shape == (4, 4)
    assert relations.known_types == 4
    assert relations.objects_OD.shape == (len(relations.objects), 4)
    assert features.speller is not None
    speller = UnknownWordSpeller(features.speller, corpus.words, log_unknown=0.0)
    encoder = Encoder(WordSpace(corpus.words, speller), relations.type_ids, relations.object_ids)
    new = document("Volga", "Волга ends", ("source", "hills"), ("new type", "new object"))
    (encoded,) = encoder.encode([new])
    assert encoded.types_R.tolist() == [4, 3, UNSEEN]
    assert encoded.objects_R[2] == UNSEEN
    assert encoded.objects_R[0] == relations.object_ids["Volga"]
    assert (encoded.spelling_N < 0).all()
    assert features.featuriser is not None
    assert features.featuriser.vectors([("the", "sea")]).shape == (1, 8)


@pytest.mark.usefixtures("in_this_process")
def test_only_what_has_changed_is_made_again(corpus: Corpus, cache: Path, tmp_path: Path) -> None:
    everything = {"relation", "form", "spelling"}
    assert made(corpus, CONFIG, cache) == everything
    assert made(corpus, CONFIG, cache) == set()
    assert made(corpus, replace(CONFIG, forms=replace(CONFIG.forms, seed=2)), cache) == {"form"}
    spelling = replace(CONFIG.spelling, hidden_size=9)
    assert made(corpus, replace(CONFIG, spelling=spelling), cache) == {"spelling"}
    relations = replace(CONFIG.relations, margin=2.0)
    assert made(corpus, replace(CONFIG, relations=relations), cache) == {"relation"}
    copied = write(tmp_path / "copy", train=TRAIN, valid=VALID, test=TEST)
    assert made(copied, CONFIG, cache) == set()
    without_test = write(tmp_path / "less", train=TRAIN, valid=VALID)
    assert made(without_test, CONFIG, cache) == {"relation"}
    other_texts = write(tmp_path / "other", train=VALID, valid=VALID, test=TEST)
    assert made(other_texts, CONFIG, cache) == {"relation", "spelling"}


@pytest.mark.usefixtures("in_this_process")
def test_the_spelling_model_knows_only_training_words(corpus: Corpus, cache: Path) -> None:
    speller = make_features(corpus, CONFIG, cache).speller
    assert speller is not None
    alphabet = speller.alphabet
    assert set(alphabet.characters) <= set("".join(corpus.words.words))
    assert "В" not in alphabet.characters
    assert "è" not in alphabet.characters


def test_progress_tells_what_is_made_and_what_is_read(corpus: Corpus, cache: Path) -> None:
    told: list[tuple[str, int, int]] = []
    make_features(corpus, CONFIG, cache, progress=lambda *step: told.append(step))
    triples, words = 2 * 6, 2 * 11  # epochs times what each of them sees
    for step in (
        ("making relation vectors", 0, 0),
        ("making relation vectors", triples, triples),
        ("making form vectors", 0, 0),
        ("making the spelling model", words, words),
        ("reading the spelling model", 1, 1),
    ):
        assert step in told
    told.clear()
    make_features(corpus, CONFIG, cache, progress=lambda *step: told.append(step))
    assert {doing.split()[0] for doing, _, _ in told} == {"reading"}


def test_an_interrupted_making_leaves_nothing(corpus: Corpus, cache: Path) -> None:
    def interrupt(doing: str, done: int, total: int) -> None:
        if doing == "making relation vectors" and 0 < done < total:
            raise KeyboardInterrupt

    long = replace(CONFIG, relations=replace(CONFIG.relations, epochs=1_000_000))
    with pytest.raises(KeyboardInterrupt):
        make_features(corpus, long, cache, progress=interrupt)
    assert made(corpus, CONFIG, cache) == {"relation"}


def test_two_at_once_make_it_once(corpus: Corpus, cache: Path) -> None:
    told: list[tuple[str, int, int]] = []
    with ThreadPoolExecutor(2) as pool:
        running = [
            pool.submit(
                make_features, corpus, CONFIG, cache, progress=lambda *step: told.append(step)
            )
            for _ in range(2)
        ]
        first, second = (future.result() for future in running)
    assert torch.equal(first.relations.objects_OD, second.relations.objects_OD)
    finished = [doing for doing, done, total in told if done == total > 0]
    assert finished.count("making the spelling model") == 1
    assert finished.count("reading the spelling model") == 2


def test_vectors_do_not_depend_on_the_number_of_cores(corpus: Corpus, tmp_path: Path) -> None:
    threads = torch.get_num_threads()
    try:
        for number in (1, 2):
            torch.set_num_threads(number)
            make_features(corpus, CONFIG, tmp_path / f"cache{number}")
            assert torch.get_num_threads() == number
    finally:
        torch.set_num_threads(threads)
    files = sorted((tmp_path / "cache1").glob("[!.]*/*"))
    assert len(files) == 9
    for path in files:
        assert (
            path.read_bytes() == (tmp_path / "cache2" / path.parent.name / path.name).read_bytes()
        )


@pytest.mark.usefixtures("in_this_process")
def test_a_model_without_unknown_words_needs_no_speller(
    corpus: Corpus, cache: Path, tmp_path: Path
) -> None:
    features = make_features(corpus, CONFIG, cache, spelling=False)
    assert features.speller is None
    assert not list(cache.glob("spelling-*"))
    features.save(tmp_path / "features")
    loaded = Features.open(tmp_path / "features")
    assert loaded.speller is None
    assert torch.equal(loaded.relations.objects_OD, features.relations.objects_OD)


@pytest.mark.usefixtures("in_this_process")
def test_a_speller_that_is_lost_is_missed(corpus: Corpus, cache: Path, tmp_path: Path) -> None:
    make_features(corpus, CONFIG, cache).save(str(tmp_path / "features"))
    shutil.rmtree(tmp_path / "features" / "spelling")
    with pytest.raises(FormatError, match="spelling"):
        Features.open(str(tmp_path / "features"))


@pytest.mark.usefixtures("in_this_process")
def test_a_run_can_carry_them(corpus: Corpus, cache: Path, tmp_path: Path) -> None:
    features = make_features(corpus, CONFIG, cache)
    features.save(tmp_path / "features")
    (tmp_path / "features").rename(tmp_path / "elsewhere")
    loaded = Features.open(tmp_path / "elsewhere")
    assert loaded.relations.types == features.relations.types
    assert loaded.relations.object_ids == features.relations.object_ids
    assert torch.equal(loaded.relations.types_KD, features.relations.types_KD)
    assert torch.equal(loaded.relations.objects_OD, features.relations.objects_OD)
    forms = [("the", "sea"), ("новый",)]
    assert loaded.featuriser is not None
    assert features.featuriser is not None
    assert np.array_equal(loaded.featuriser.vectors(forms), features.featuriser.vectors(forms))
    words = ["Rhine", "новый"]
    assert loaded.speller is not None
    assert features.speller is not None
    assert np.array_equal(loaded.speller.log_probs(words), features.speller.log_probs(words))
    suffixes = {path.suffix for path in (tmp_path / "elsewhere").rglob("*") if path.is_file()}
    assert suffixes == {".json", ".safetensors"}


@pytest.mark.usefixtures("in_this_process")
def test_a_damaged_folder_is_named(corpus: Corpus, cache: Path, tmp_path: Path) -> None:
    make_features(corpus, CONFIG, cache).save(tmp_path / "features")
    path = tmp_path / "features" / "relations" / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**manifest, "width": 5}), encoding="utf-8")
    with pytest.raises(FormatError, match=r"relations/manifest\.json: cannot be read"):
        Features.open(tmp_path / "features")
    rewrite_manifests(tmp_path)
    with pytest.raises(FormatError, match=r"vectors\.safetensors: types must have the shape"):
        Features.open(tmp_path / "features")
    path.write_text(json.dumps({**manifest, "version": 99}), encoding="utf-8")
    rewrite_manifests(tmp_path)
    with pytest.raises(FormatError, match="version 99"):
        Features.open(tmp_path / "features")
    with pytest.raises(FormatError, match="lrlm train"):
        Features.open(tmp_path)


@pytest.mark.usefixtures("in_this_process")
def test_published_vectors_of_relations(corpus: Corpus, cache: Path, tmp_path: Path) -> None:
    folder = tmp_path / "openke"
    folder.mkdir()
    (folder / "entity2id.txt").write_text("2\nsea\t1\nunheard\t0\n", encoding="utf-8")
    (folder / "relation2id.txt").write_text("1\nmouth\t0\n", encoding="utf-8")
    np.arange(8, dtype="<f4").tofile(folder / "entity2vec.bin")
    np.arange(4, dtype="<f4").tofile(folder / "relation2vec.bin")
    config = replace(CONFIG, relations=replace(CONFIG.relations, source=str(folder)))
    relations = make_features(corpus, config, cache).relations
    # Types of training topics get an id to learn a vector for; "source" is of the test set only.
    assert relations.types == ("mouth", "@title", "city", "river")
    assert relations.types_KD.tolist() == [[0, 1, 2, 3]]
    assert relations.objects == ("sea",)
    assert relations.objects_OD.tolist() == [[4, 5, 6, 7]]
    moved = folder.rename(tmp_path / "moved")
    config = replace(CONFIG, relations=replace(CONFIG.relations, source=str(moved)))
    assert made(corpus, config, cache) == set()
    (moved / "entity2id.txt").write_text("2\na\t1\nb\t0\n", encoding="utf-8")
    (moved / "relation2id.txt").write_text("1\nc\t0\n", encoding="utf-8")
    with pytest.raises(InputError, match="same knowledge base"):
        make_features(corpus, config, cache)


@pytest.mark.usefixtures("in_this_process")
def test_a_published_fasttext_file_is_cut_to_the_forms(
    corpus: Corpus, cache: Path, tmp_path: Path
) -> None:
    models = pytest.importorskip("gensim.models", reason="the extra fasttext is not installed")
    texts = [["the", "ocean", "hills", "la", "mountain", "sea"]] * 5
    model = models.FastText(sentences=texts, vector_size=8, min_count=1, bucket=50, workers=1)
    path = tmp_path / "published.bin"
    models.fasttext.save_facebook_model(model, str(path))
    config = replace(CONFIG, forms=replace(CONFIG.forms, source=str(path)))
    features = make_features(corpus, config, cache)
    assert features.featuriser is not None
    assert set(features.featuriser.words) == {"the", "ocean", "hills", "sea"}
    missing = replace(CONFIG, forms=replace(CONFIG.forms, source=str(tmp_path / "nowhere")))
    with pytest.raises(InputError, match=r"nowhere: there is no such file"):
        make_features(corpus, missing, cache)


@pytest.mark.usefixtures("in_this_process")
def test_fasttext_is_trained_on_training_texts(corpus: Corpus, cache: Path) -> None:
    pytest.importorskip("gensim.models", reason="the extra fasttext is not installed")
    forms = FormVectorConfig(width=6, buckets=32, epochs=1, min_count=1)
    featuriser = make_features(corpus, replace(CONFIG, forms=forms), cache).featuriser
    assert featuriser is not None
    assert set(featuriser.words) == {word for each in TRAIN for word in each.tokens.words}


def test_a_corpus_must_have_texts_and_facts(tmp_path: Path) -> None:
    only_test = write(tmp_path / "test", test=TEST)
    with pytest.raises(InputError, match="no training split"):
        make_features(only_test, CONFIG, tmp_path / "cache")
    no_facts = write(tmp_path / "bare", train=[document("a", "no facts here")])
    with pytest.raises(InputError, match="no facts"):
        make_features(no_facts, CONFIG, tmp_path / "cache")
