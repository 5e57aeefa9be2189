"""Import an archive that the paper's authors published, with its vectors.

The archive (or the folder that it was unpacked to) holds `{train,valid,test}.pkl` and
`{train,valid,test}.span.pkl` with articles and spans, `rel_names.pkl`, and, beside the corpus,
`entity_vec.pt`, `relation_vec.pt` and `unk_probs.txt`. These become:

    vectors/            OpenKE's files, as training reads vectors
    unknown_words.tsv   word, natural logarithm of its probability
"""

import reprlib
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any

from lrlm.artifacts import new_folder
from lrlm.characters import check_characters, clean_name
from lrlm.corpora.columns import to_table
from lrlm.corpora.corpus import SPLITS, Corpus, CorpusWriter
from lrlm.corpora.importers.plain_pickle import find_references, load_plain, stream_plain_list
from lrlm.corpora.importers.release_article import ArticleReader, entity_name, relation_name
from lrlm.corpora.importers.release_vectors import copy_word_log_probs, write_vectors
from lrlm.corpora.importers.safe_files import files_in
from lrlm.corpora.inputs import fingerprints
from lrlm.corpora.linking import LinkOptions
from lrlm.corpora.statistics import SplitStatistics
from lrlm.errors import FormatError
from lrlm.progress import Progress, silent
from lrlm.text import Profile, detect_profile
from lrlm.text.document import LinkedDocument
from lrlm.text_files import BadLineError, BadLines

_RELATION_NAMES = "rel_names.pkl"
_VECTORS = {"entity": "entity_vec.pt", "relation": "relation_vec.pt"}
_UNKNOWN_WORDS = "unk_probs.txt"
_DOCUMENTS_AT_ONCE = 512
_SAMPLED_ARTICLES = 200
_MISSING = object()


def import_release(
    out: Path | str,
    path: Path | str,
    *,
    anchors: bool = False,
    limit: int | None = None,
    max_bad: float = 0.001,
    overwrite: bool = False,
    progress: Progress = silent,
) -> Corpus:
    """Convert a published archive; its spans are the candidates, as its authors linked them.

    `anchors` keeps the relations to pages that the article links to, which say what will be
    mentioned; `limit` takes the first articles of each split.

    >>> import_release("songs/", "data/release/")
    Corpus('songs', train=2, test=1)
    """
    path = Path(path)
    bad_lines = BadLines(max_bad)
    with (
        new_folder(Path(out), overwrite=overwrite) as folder,
        tempfile.TemporaryDirectory(prefix="release-", dir=folder) as scratch,
        CorpusWriter(folder) as writer,
    ):
        release = _open_release(path, Path(scratch), progress)
        relation_names = _read_relation_names(release)
        profile = _profile(release)
        reader = ArticleReader(relation_names, profile, anchors)
        _convert(release, reader, writer, bad_lines, limit=limit, progress=progress)
        left_out = reader.left_out
        left_out["unknown words without a probability"] = 0
        if _UNKNOWN_WORDS in release.files:
            left_out["unknown words without a probability"] = copy_word_log_probs(
                release.files[_UNKNOWN_WORDS], folder / "unknown_words.tsv"
            )
        _convert_vectors(release, relation_names, folder / "vectors")
        writer.close(
            made_by="lrlm corpus import release" + " --anchors" * anchors,
            options=LinkOptions(profile=profile),
            inputs=fingerprints(release.sources),
            limit=limit,
            counts={"bad_lines": bad_lines.count, "left_out": dict(sorted(left_out.items()))},
        )
    corpus = Corpus.open(out)
    corpus.report = replace(corpus.report, examples=tuple(bad_lines.examples))
    return corpus


@dataclass(frozen=True)
class _Release:
    """The files of a release by their last names; those of an archive lie in a scratch folder."""

    path: Path
    files: Mapping[str, Path]
    _references: dict[str, frozenset[int]] = field(default_factory=dict)
    """What the pickles refer back to, once it is known."""

    @property
    def splits(self) -> list[str]:
        return [split for split in SPLITS if f"{split}.pkl" in self.files]

    @property
    def sources(self) -> list[Path]:
        """The files that the user has given."""
        is_folder = self.path.is_dir()
        return [self.files[name] for name in sorted(self.files)] if is_folder else [self.path]

    def where(self, name: str) -> str:
        """Name a file as the user knows it."""
        return str(self.files[name]) if self.path.is_dir() else f"{self.path}: {name}"

    def items(self, name: str) -> Iterator[Any]:
        """Read a pickled list item by item, as often as is wanted."""
        if name not in self._references:
            self._references[name] = find_references(self.files[name], self.where(name))
        return stream_plain_list(self.files[name], self.where(name), self._references[name])


def _open_release(path: Path, scratch: Path, progress: Progress) -> _Release:
    """Find the files of a release.

    An archive's files are copied out of it under the names looked for; its paths are never used.
    """
    wanted = {f"{split}{ending}" for split in SPLITS for ending in (".pkl", ".span.pkl")}
    wanted |= {_RELATION_NAMES, *_VECTORS.values(), _UNKNOWN_WORDS}
    found: dict[str, Path] = {}
    for name, stream in files_in(path):
        if name.name not in wanted:
            continue
        if name.name in found:
            raise FormatError(f"{path} holds more than one {name.name}; give the folder of one")
        if path.is_dir():
            found[name.name] = path / name
            continue
        progress(f"reading {name.name} out of the archive", 0, 0)
        found[name.name] = scratch / name.name
        with found[name.name].open("wb") as target:
            while block := stream.read(1 << 20):
                target.write(block)
    release = _Release(path, found)
    if not release.splits:
        raise FormatError(f"{path} is no release: it holds none of {', '.join(SPLITS)} as .pkl")
    for needed in (_RELATION_NAMES, *(f"{split}.span.pkl" for split in release.splits)):
        if needed not in found:
            raise FormatError(f"{path} holds no {needed}")
    return release


def _read_relation_names(release: _Release) -> dict[int, str]:
    """Read what the relation types are called; a name that two types have is told apart."""
    where = release.where(_RELATION_NAMES)
    with release.files[_RELATION_NAMES].open("rb") as stream:
        content = load_plain(stream, where)
    if not isinstance(content, dict) or not all(isinstance(number, int) for number in content):
        raise FormatError(f"{where} does not say which number stands for which relation name")
    names: dict[int, str] = {}
    for number, name in content.items():
        if not isinstance(name, str) or not clean_name(name):
            raise FormatError(
                f"{where}: {reprlib.repr(name)} is not a name for the relation {number}"
            )
        check_characters(name, f"{where}: the name of the relation {number}")
        names[number] = clean_name(name)
    often = Counter(names.values())
    return {
        number: name if often[name] == 1 and not name.startswith("@") else f"{name} ({number})"
        for number, name in names.items()
    }


def _profile(release: _Release) -> Profile:
    """See from the first articles which conventions their tokens follow."""
    texts: list[str] = []
    for name in (f"{split}.pkl" for split in release.splits):
        texts += (
            " ".join(word for word in article[0] if isinstance(word, str))
            for article in islice(release.items(name), _SAMPLED_ARTICLES)
            if isinstance(article, tuple) and article and isinstance(article[0], list)
        )
    profile = detect_profile(texts)
    return Profile.SPACES if profile is Profile.RAW else profile  # the tokens are given


def _convert(
    release: _Release,
    reader: ArticleReader,
    writer: CorpusWriter,
    bad_lines: BadLines,
    *,
    limit: int | None,
    progress: Progress,
) -> None:
    """Write all splits, the last first: its topics must not be in an earlier one."""
    taken: set[str] = set()
    for split in reversed(release.splits):
        topics: set[str] = set()
        documents = _documents(release, split, reader, bad_lines, taken)
        batches = islice(documents, limit)
        written = 0
        while batch := list(islice(batches, _DOCUMENTS_AT_ONCE)):
            topics.update(document.topic for document in batch)
            writer.add(split, to_table(batch), SplitStatistics.of(batch))
            written += len(batch)
            progress(f"converting {split}", written, 0)
        if not written:
            raise FormatError(f"{release.where(f'{split}.pkl')} has no article that can be used")
        taken |= topics


def _documents(
    release: _Release,
    split: str,
    reader: ArticleReader,
    bad_lines: BadLines,
    taken: set[str],
) -> Iterator[LinkedDocument]:
    name, spans_name = f"{split}.pkl", f"{split}.span.pkl"
    where = Path(release.where(name))
    bad = number = 0
    pairs: Iterator[tuple[Any, Any]] = zip_longest(
        release.items(name), release.items(spans_name), fillvalue=_MISSING
    )
    for number, (article, spans) in enumerate(pairs, start=1):
        if article is _MISSING or spans is _MISSING:
            raise FormatError(f"{where} and {spans_name} are not of the same length")
        try:
            document = reader.read(f"{split}-{number}", article, spans)
        except BadLineError as error:
            bad += 1
            bad_lines.add(where, number, str(error))
            continue
        if document.topic in taken:
            reader.left_out["articles whose topic is in a later split"] += 1
        else:
            yield document
    bad_lines.check(where, bad, number)


def _convert_vectors(release: _Release, relation_names: Mapping[int, str], folder: Path) -> None:
    given = [kind for kind, name in _VECTORS.items() if name in release.files]
    if not given:
        return
    if len(given) < len(_VECTORS):
        raise FormatError(f"{release.path} has vectors of one kind only, of the {given[0]} kind")

    def name_of(kind: str, row: int) -> str:
        return entity_name(row) if kind == "entity" else relation_name(row, relation_names)

    files = [(kind, release.files[name], release.where(name)) for kind, name in _VECTORS.items()]
    write_vectors(files, name_of, folder)
