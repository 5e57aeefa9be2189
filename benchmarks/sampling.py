"""Time generation: all samples in one batch, beside a plain loop that writes one at a time.

    python -m benchmarks.sampling [--threads 2] [--kind lrlm] [--samples 10] [--length 200]

The model has random weights and the size `cpu` (an LSTM of 2 x 400, 24,000 words); texts do not end
before their full length. What is timed is the writing alone, from the topic to the tokens: neither
the loading of a model nor the scoring of the finished texts, which the plain loop does not do.
"""

import argparse
import math
import time
from dataclasses import dataclass, replace

import numpy as np
import torch

from benchmarks.synthetic import RandomFeatures, Shape, zipf_counts
from lrlm.backbones import LstmConfig
from lrlm.generation.decoding import Rules, decode
from lrlm.generation.options import GenerationOptions
from lrlm.heads import Choosing, RelationConfig, WordConfig, choose_cutoffs
from lrlm.models import MODELS, LanguageModel, ModelConfig, ModelSizes, VanillaLM, build_model
from lrlm.models.writing import EncodedTopic
from tests.oracles.sampling import plain_text

SHAPE = Shape()
SIZE = 400
END = 5
"""The id of the end token, which is among the most frequent ones."""
LONGEST_FORM = 3


def make_model(kind: str) -> LanguageModel:
    torch.manual_seed(0)
    counts = zipf_counts(SHAPE.words)
    words = WordConfig(embedding_size=SIZE, projection_size=SIZE)
    words = replace(
        words, cutoffs=choose_cutoffs(counts, width=words.projection_size, divisor=words.divisor)
    )
    config = ModelConfig(
        kind=kind,
        backbone=LstmConfig(layers=2, hidden_size=SIZE, dropout=0.5),
        words=words,
        relations=RelationConfig(type_size=100, object_size=100, hidden_size=SIZE),
    )
    model = build_model(
        config,
        ModelSizes(
            tokens=SHAPE.words,
            types=SHAPE.relations,
            form_features=RandomFeatures.width,
            token_counts=counts,
            object_vectors=torch.randn(SHAPE.relations, 100),
        ),
    )
    for name, parameter in model.named_parameters():
        if name == "source.linear.bias":  # as many segments are copied as in real text
            torch.nn.init.zeros_(parameter).data[0] = math.log(SHAPE.tokens / SHAPE.candidates)
    return model.eval()


def make_topic() -> EncodedTopic:
    """Make a topic like the average one of Wikipedia introductions with tables."""
    random = np.random.default_rng(0)
    forms = SHAPE.relations * SHAPE.forms
    return EncodedTopic(
        types_R=torch.arange(SHAPE.relations),
        objects_R=torch.arange(SHAPE.relations),
        relation_F=torch.arange(SHAPE.relations).repeat_interleave(SHAPE.forms),
        features_FW=torch.randn(forms, RandomFeatures.width),
        length_CF=torch.from_numpy(random.integers(1, LONGEST_FORM + 1, (1, forms))),
        tokens_CFL=torch.from_numpy(random.integers(0, SHAPE.words, (1, forms, LONGEST_FORM))),
        names=None,
        preface_P=torch.tensor([*range(100, 100 + 2 * SHAPE.relations), END]),
        start_id=END,
        end_id=END,
        context_after=torch.zeros_like,
    )


@dataclass(frozen=True)
class Race:
    """Writes the same number of tokens in two ways."""

    model: LanguageModel
    topic: EncodedTopic
    samples: int
    length: int

    @torch.inference_mode()
    def in_one_batch(self, seed: int) -> int:
        """Write all samples side by side; give the number of tokens."""
        options = GenerationOptions(min_length=self.length, max_length=self.length)
        writer = self.model.writer(self.topic)
        steps = decode(
            writer,
            Rules(options, (), writer, texts=self.samples),
            Choosing(generator=torch.Generator().manual_seed(seed)),
            begun=writer.begin().select(torch.zeros(self.samples, dtype=torch.long)),
            length=0,
            max_length=self.length,
        )
        return sum(len(written.token_B.tolist()) for _, written in steps)

    def one_by_one(self, seed: int) -> int:
        """Write one sample with the plain loop; give the number of tokens."""
        assert isinstance(self.model, VanillaLM), "the plain loop knows Vanilla LM and LRLM"
        generator = torch.Generator().manual_seed(seed)
        text = plain_text(
            self.model, self.topic, length=self.length, generator=generator, end=False
        )
        return len(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--kind", choices=MODELS, default="lrlm")
    parser.add_argument("--samples", type=int, default=10)
    parser.add_argument("--length", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)

    race = Race(make_model(arguments.kind), make_topic(), arguments.samples, arguments.length)
    ways = {"in one batch": race.in_one_batch}
    if isinstance(race.model, VanillaLM):
        ways["plain loop"] = race.one_by_one
    best = dict.fromkeys(ways, 0.0)
    for way in ways.values():
        way(0)
    for seed in range(1, arguments.repeats + 1):  # in turn, so that a noisy moment hits both
        for name, way in ways.items():
            start = time.perf_counter()
            tokens = way(seed)
            best[name] = max(best[name], tokens / (time.perf_counter() - start))
    print(
        f"{arguments.kind}, LSTM 2 x {SIZE}, {SHAPE.words:,} words, {SHAPE.relations} relations;"
        f" {arguments.samples} samples of {arguments.length} tokens, {arguments.threads} threads"
    )
    for name, rate in best.items():
        print(f"  {name:14} {rate:9,.0f} tokens per second")
    if "plain loop" in best:
        print(f"  ratio          {best['in one batch'] / best['plain loop']:9.1f}   goal 20")


if __name__ == "__main__":
    main()
