"""Put the lattice on a pretrained language model in one line: heads from the embedded corpus."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path

from lrlm.backbones import Pretrained
from lrlm.corpora import Corpus
from lrlm.corpora.miniworld.corpus import build_miniworld
from lrlm.model import Model, load
from lrlm.progress import Progress, silent
from lrlm.runs.config import RunConfig
from lrlm.training.train import train, user_cache

_MINIWORLD = "miniworld"
_VERSION = 2
"""Changes when models are built or trained in another way, so that older ones are made anew."""


def wrap(
    source: str | Pretrained,
    *,
    corpus: Corpus | Path | str | None = None,
    facts_in_context: bool = True,
    minutes: float = 5.0,
    cache: Path | str | None = None,
    progress: Progress = silent,
) -> Model:
    """Make a model of any pretrained language model: it annotates, scores and writes at once.

    `source` is a Hugging Face folder, a GGUF file or a hub id. The first time, heads are trained on
    a corpus for some minutes, while the language model stays as it is; they are kept in the user's
    cache and found there afterwards. Without a corpus of your own, that is miniworld, the generated
    one that comes with the package: enough to try a language model, but heads that were trained on
    texts like yours (`lrlm.train`) know better when a name comes.

    >>> model = wrap("language-model", corpus="corpus", minutes=0.1)
    >>> topic = Topic("Norway", relations=[Relation("capital", "Oslo")])
    >>> [span.text for span in model.annotate("Norway has a capital, Oslo.", topic).spans]
    ['Norway', 'Oslo']
    >>> len(model.generate(topic, samples=2, max_length=20))
    2
    """
    backbone = source if isinstance(source, Pretrained) else Pretrained(source)
    kept = Path(cache or user_cache())
    fingerprint = backbone.files().fingerprint
    if corpus is None:
        corpus = kept / _MINIWORLD
        if not corpus.exists():
            kept.mkdir(parents=True, exist_ok=True)
            build_miniworld(corpus, progress=progress)
    opened = corpus if isinstance(corpus, Corpus) else Corpus.open(corpus)
    made_from = [
        _VERSION, fingerprint, opened.fingerprint, facts_in_context, minutes, backbone.tuning,
    ]  # fmt: skip
    digest = hashlib.sha256(json.dumps(made_from).encode()).hexdigest()
    run = kept / f"wrapped-{digest[:16]}"

    def configure(config: RunConfig) -> RunConfig:
        return replace(config, model=replace(config.model, facts_in_context=facts_in_context))

    if not (run / "finished").exists():
        train(
            opened,
            run,
            model="lrlm",
            backbone=backbone,
            configure=configure,
            minutes=minutes,
            resume=True,
            features_cache=kept,
            progress=progress,
        )
        (run / "finished").touch()
    return load(run)
