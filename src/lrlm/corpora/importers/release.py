"""An archive that the paper's authors published in, the corpus in it out, with its vectors.

The archive (or the folder that it was unpacked to) holds `{train,valid,test}.pkl` and
`{train,valid,test}.span.pkl` with articles and spans, `rel_names.pkl`, and, beside the corpus,
`entity_vec.pt`, `relation_vec.pt` and `unk_probs.txt`. They become:

    vectors/            OpenKE's files, as `lrlm train` reads vectors
    unknown_words.tsv   word, natural logarithm of its probability
"""

import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from lrlm.artifacts import new_folder
from lrlm.corpora.build import BuildReport
from lrlm.corpora.corpus import SPLITS, Corpus, CorpusWriter, to_table
from lrlm.corpora.importers.archive import files_in
from lrlm.corpora.importers.plain_pickle import load_plain, stream_plain_list
from lrlm.corpora.importers.release_article import ArticleReader, entity_name
from lrlm.corpora.importers.torch_tensors import read_matrix
from lrlm.corpora.importers.word_values import parse_word_and_value
from lrlm.corpora.linking import LinkOptions
from lrlm.corpora.source import Progress, fingerprints
from lrlm.corpora.statistics import SplitStatistics
from lrlm.errors import FormatError
from lrlm.reading import BadLineError, BadLines, read_records
from lrlm.text import Profile, detect_profile
from lrlm.text.document import LinkedDocument

_RELATION_NAMES = "rel_names.pkl"
_VECTORS = {"entity": "entity_vec.pt", "relation": "relation_vec.pt"}
_UNKNOWN_WORDS = "unk_probs.txt"
_DOCUMENTS_AT_ONCE = 512
_SAMPLED_ARTICLES = 200
_MISSING = object()


@dataclass(frozen=True)
class _Release:
    """The files of a release by their last names; those of an archive lie in a scratch folder."""

    path: Path
    files: Mapping[str, Path]

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
        return stream_plain_list(self.files[name], self.where(name))


def import_release(
    out: Path | str,
    path: Path,
    *,
    anchors: bool = False,
    limit: int | None = None,
    max_bad: float = 0.001,
    overwrite: bool = False,
    progress: Progress = lambda _doing, _articles: None,
) -> BuildReport:
    """Convert a published archive; its spans are the candidates, as its authors linked them.

    `anchors` keeps the relations to pages that the article links to, which say what will be
    mentioned; `limit` takes the first articles of each split.
    """
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
        left_out["unknown words without a probability"] = _write_unknown_words(release, folder)
        _write_vectors(release, relation_names, folder)
        writer.close(
            made_by="lrlm corpus import release" + " --anchors" * anchors,
            options=LinkOptions(profile=profile),
            inputs=fingerprints(release.sources),
            limit=limit,
            counts={"bad_lines": bad_lines.count, "left_out": dict(sorted(left_out.items()))},
        )
    facts = sum(statistics.facts for statistics in writer.statistics.values())
    return BuildReport(
        Corpus(out),
        bad_lines.count,
        tuple(bad_lines.examples),
        {"used": facts, "whose_object_has_no_form": left_out["relations without a form"]},
        0,
        dict(sorted(left_out.items())),
    )


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
        progress(f"reading {name.name} out of the archive", 0)
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
    if not isinstance(content, dict) or not all(
        isinstance(number, int) and isinstance(name, str) and name.strip() and name.isprintable()
        for number, name in content.items()
    ):
        raise FormatError(f"{where} does not say which number stands for which relation name")
    often = Counter(content.values())
    return {
        number: name if often[name] == 1 and not name.startswith("@") else f"{name} ({number})"
        for number, name in content.items()
    }


def _profile(release: _Release) -> Profile:
    """See from the first articles which conventions their tokens follow."""
    texts: list[str] = []
    for name in (f"{split}.pkl" for split in release.splits):
        items = stream_plain_list(release.files[name], release.where(name), in_one_pass=True)
        texts += (
            " ".join(map(str, article[0]))
            for article in islice(items, _SAMPLED_ARTICLES)
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
    """Write all splits, the last first: what it is about must not be in those before."""
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
            progress(f"converting {split}", written)
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


def _write_vectors(release: _Release, relation_names: dict[int, str], folder: Path) -> None:
    """Write the published vectors as OpenKE does, a row an id, under the corpus's own names."""
    given = [kind for kind, name in _VECTORS.items() if name in release.files]
    if not given:
        return
    if len(given) < len(_VECTORS):
        raise FormatError(f"{release.path} has vectors of one kind only, of the {given[0]} kind")
    (folder / "vectors").mkdir()
    widths = set()
    for kind, name in _VECTORS.items():
        matrix = read_matrix(release.files[name], release.where(name))
        if not np.isfinite(matrix).all():
            raise FormatError(f"{release.where(name)}: not all numbers are finite")
        widths.add(matrix.shape[1])
        names = [
            entity_name(row) if kind == "entity" else relation_names.get(row, f"relation-{row}")
            for row in range(len(matrix))
        ]
        with (folder / "vectors" / f"{kind}2id.txt").open("w", encoding="utf-8") as file:
            file.write(f"{len(names)}\n")
            file.writelines(f"{each}\t{row}\n" for row, each in enumerate(names))
        matrix.astype("<f4").tofile(folder / "vectors" / f"{kind}2vec.bin")
    if len(widths) > 1:
        raise FormatError(f"{release.path}: vectors of entities and relations differ in width")


def _write_unknown_words(release: _Release, folder: Path) -> int:
    """Copy the probabilities of unknown words, line by line; give how many lines are not good."""
    if _UNKNOWN_WORDS not in release.files:
        return 0
    bad_lines = BadLines(max_share=1)
    with (folder / "unknown_words.tsv").open("w", encoding="utf-8") as target:
        for word, value in read_records(
            release.files[_UNKNOWN_WORDS], parse_word_and_value, bad_lines
        ):
            target.write(f"{word}\t{value!r}\n")
    return bad_lines.count
