"""Time a pretrained language model as a backbone.

    python -m benchmarks.pretrained DIR              reading
    python -m benchmarks.pretrained DIR --run RUN    also heads, lattice and generation of an LRLM

Reading: the states, the log-probability of every token and that of a new word, for batches of
texts of about the same length, with random tokens. Beside it stands the bare model of transformers
that gives the logits of the same batches, and the machine's matrix rate: that of a large product in
float32, with as many threads. All three take turns and each time is its best, so other work on the
machine hits all alike; where there is much of it, `--clock cpu` with one thread counts only the
time that the process itself was given.

With a run of LRLM, documents of miniworld are scored by the whole model and by the bare language
model below it: what heads and lattice add. The heads learn from readings that are kept in memory:
tokens a second. And ten texts are written side by side, beside transformers, which writes one after
the other from the same tokens.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import torch

import lrlm
from lrlm.backbones import Pretrained, PretrainedBackbone
from lrlm.batching import EncodedDocument
from lrlm.corpora import LinkedDocument, topic_of
from lrlm.corpora.miniworld.corpus import build_miniworld
from lrlm.generation.options import GenerationOptions
from lrlm.generation.sampler import Sampler
from lrlm.heads import PretrainedHead, PretrainedLayersConfig
from lrlm.models import LanguageModel, WindowReader
from lrlm.models.kept_readings import read_part
from lrlm.models.vanilla import VanillaLM
from lrlm.runs.run import Run
from lrlm.training.optimiser import Optimiser

CLOCKS: dict[str, Callable[[], float]] = {"wall": time.perf_counter, "cpu": time.process_time}
SHAPES = ((1, 128), (1, 256), (4, 128), (4, 256), (8, 256), (16, 256), (4, 512), (2, 1024))
"""Rows and tokens of a row."""
LARGE = 1024
"""Rows and columns of the matrices whose product is the machine's rate."""
SHORTEST = 0.85
"""The shortest row of a batch, as a share of its longest."""
DOCUMENTS = 32
TEXTS, LENGTH = 10, 100
"""Texts that are generated, and tokens of each."""


class Reading:
    """One batch, and the ways to read it."""

    def __init__(self, backbone: PretrainedBackbone, bare: torch.nn.Module, rows: int, steps: int):
        generator = torch.Generator().manual_seed(rows * steps)
        tokens = backbone.tokens
        self._backbone, self._bare = backbone, bare
        self._head = PretrainedHead(backbone, tokens, torch.rand(tokens, generator=generator) < 0.6)
        shortest = int(SHORTEST * steps)
        lengths_B = torch.randint(shortest, steps + 1, (rows,), generator=generator)
        lengths_B[0] = steps
        self._lengths_B = lengths_B
        self._mask_BT = torch.arange(steps) < lengths_B[:, None]
        self._ids_BT = torch.randint(0, tokens, (rows, steps), generator=generator)
        self.tokens = int(lengths_B.sum())

    def ours(self) -> None:
        """States, log-probabilities of tokens and of new words."""
        states_BTD, _ = self._backbone(
            self._backbone.embed(self._ids_BT),
            self._lengths_B,
            self._backbone.initial_state(len(self._ids_BT)),
        )
        self._head.log_probs_and_fresh(states_BTD[self._mask_BT], self._ids_BT[self._mask_BT])

    def theirs(self) -> None:
        """Logits of all tokens."""
        self._bare(input_ids=self._ids_BT, attention_mask=self._mask_BT.long(), use_cache=False)


@torch.inference_mode()
def read(source: str, *, rounds: int, clock: Callable[[], float]) -> None:
    """Print one row for each shape of a batch."""
    config = Pretrained(source)
    files = config.files()
    bare = files.language_model()
    backbone = config.build(files.input_size())
    weights = sum(each.numel() for each in bare.parameters())
    if not bare.config.tie_word_embeddings:
        weights -= backbone.tokens_read * backbone.input_size  # they are looked up
    large = torch.randn(LARGE, LARGE)
    print(f"{source}: {weights / 1e6:.0f} M weights, {torch.get_num_threads()} threads")
    print(f"{'batch':>10} {'tokens':>7} {'tokens/s':>9} {'bare':>9} {'of bare':>8}  of matrix rate")
    for rows, steps in SHAPES:
        reading = Reading(backbone, bare, rows, steps)
        ours, theirs, product = _best(
            (reading.ours, reading.theirs, lambda: [large @ large for _ in range(8)]),
            rounds,
            clock,
        )
        rate = 8 * 2 * LARGE**3 / product
        share = 2 * weights * reading.tokens / ours / rate
        print(
            f"{f'{rows} × {steps}':>10} {reading.tokens:>7} {reading.tokens / ours:>9.0f}"
            f" {reading.tokens / theirs:>9.0f} {theirs / ours:>8.2f} {share:>15.2f}",
            flush=True,
        )


def use(folder: Path, *, rounds: int, clock: Callable[[], float]) -> None:
    """Print what heads and lattice of a run add to reading, and how fast they learn and write."""
    run = lrlm.load(folder, device="cpu").run
    with tempfile.TemporaryDirectory() as scratch:
        linked = list(build_miniworld(Path(scratch) / "corpus").documents("test"))[:DOCUMENTS]
    documents = [run.encoder.encode_one(document) for document in linked]
    score(run, documents, rounds=rounds, clock=clock)
    learn(run, documents, rounds=rounds, clock=clock)
    write(run, linked[0], rounds=rounds, clock=clock)


@torch.inference_mode()
def score(
    run: Run, documents: Sequence[EncodedDocument], *, rounds: int, clock: Callable[[], float]
) -> None:
    """Compare the whole model with its backbone and softmax alone."""
    model = run.model
    assert isinstance(model, VanillaLM)
    windows = list(run.collator.windows(documents[:8]))

    def whole() -> None:
        reader = WindowReader(model)
        for window in windows:
            here, scores = reader.read(window)
            scores.nats(here)

    def alone() -> None:
        state = model.begin(windows[0])
        for window in windows:
            states_BTD, state = model.read(window, state.select(window.kept_B))
            mask_BT = window.mask_BT
            model.words.log_probs_and_fresh(states_BTD[mask_BT], window.targets_BT[mask_BT])

    ours, below = _best((whole, alone), rounds, clock)
    print(f"heads and lattice, of the time of reading (goal: 5 %)     {ours / below - 1:9.1%}")


def learn(
    run: Run, documents: Sequence[EncodedDocument], *, rounds: int, clock: Callable[[], float]
) -> None:
    """Time updates of the heads from readings that are kept."""
    assert isinstance(run.model, VanillaLM)
    kept = [
        replace(document, kept=reading)
        for document, reading in zip(
            documents, read_part(run.model, run.setup.collator(), documents), strict=True
        )
    ]
    windows = [
        window
        for first in range(0, len(kept), 8)
        for window in run.collator.windows(kept[first : first + 8])
    ]
    tokens = sum(int(window.lengths_B.sum()) for window in windows)
    words = run.config.model.words
    assert isinstance(words, PretrainedLayersConfig)
    for what, rank in (("heads alone", 0), ("heads and words", words.tuned_rank)):
        config = replace(run.config.model, words=replace(words, tuned_rank=rank))
        setup = replace(run.setup, config=replace(run.config, model=config))
        model = setup.new_model().train()
        optimiser = Optimiser(model)

        def updates(model: LanguageModel = model, optimiser: Optimiser = optimiser) -> None:
            for window in windows:
                optimiser.clear()
                here, scores = WindowReader(model).read(window)
                torch.autograd.backward(scores.nats(here)[0].sum())
                optimiser.step(1e-4)

        (seconds,) = _best((updates,), rounds, clock)
        print(f"learning from kept readings, {what:<16} {tokens / seconds:17,.0f} tokens/s")


@torch.inference_mode()
def write(run: Run, document: LinkedDocument, *, rounds: int, clock: Callable[[], float]) -> None:
    """Compare ten texts side by side with transformers, one after the other."""
    topic = topic_of(document)
    options = GenerationOptions(min_length=LENGTH, max_length=LENGTH)

    def ours() -> None:
        for _ in Sampler(run, topic, options, seed=1).tokens(TEXTS):
            pass

    backbone = run.model.backbone
    assert isinstance(backbone, PretrainedBackbone)
    bare = backbone.files.language_model()
    preface = torch.from_numpy(run.encoder.encode_one(document).preface_P)[None]

    def theirs() -> None:
        bare.generate(
            preface,
            attention_mask=torch.ones_like(preface),
            do_sample=True,
            min_new_tokens=LENGTH,
            max_new_tokens=LENGTH,
            pad_token_id=run.space.end_id,
        )

    side_by_side, one = _best((ours, theirs), rounds, clock)
    print(f"tokens/s, {TEXTS} texts side by side {TEXTS * LENGTH / side_by_side:33,.0f}")
    print(f"tokens/s, transformers, one text at a time {LENGTH / one:24,.0f}")
    print(f"ratio (goal: 5) {TEXTS * one / side_by_side:51.1f}")


def _best(
    ways: tuple[Callable[[], object], ...], rounds: int, clock: Callable[[], float]
) -> list[float]:
    best = [float("inf")] * len(ways)
    for _ in range(rounds):
        for number, way in enumerate(ways):
            start = clock()
            way()
            best[number] = min(best[number], clock() - start)
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", help="a pretrained language model: a folder or a GGUF file")
    parser.add_argument("--run", type=Path, help="an LRLM on this language model")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--clock", choices=CLOCKS, default="wall")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    clock = CLOCKS[arguments.clock]
    read(arguments.source, rounds=arguments.rounds, clock=clock)
    if arguments.run is not None:
        use(arguments.run, rounds=arguments.rounds, clock=clock)


if __name__ == "__main__":
    main()
