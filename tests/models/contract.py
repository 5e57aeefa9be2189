"""What every language model must hold, on every backbone; a test class joins by naming both."""

import itertools
from dataclasses import replace
from typing import ClassVar

import pytest
import torch

from lrlm.backbones import LstmConfig, TransformerXlConfig
from lrlm.batching import EncodedDocument, Parts, Window
from lrlm.heads import RelationConfig, WordConfig
from lrlm.lattice import log_marginal
from lrlm.models import (
    LanguageModel,
    ModelConfig,
    ModelSizes,
    build_model,
    document_nats,
    lattice_of,
    read_documents,
)
from lrlm.models.reading import DocumentNats
from tests.toy import LONELY, OBJECTS, TOPIC, TYPES, VOCABULARY, WIDTH, collator, encode, link

BACKBONES: dict[str, LstmConfig | TransformerXlConfig] = {
    "lstm": LstmConfig(layers=2, hidden_size=6, dropout=0.3),
    "transformer-xl": TransformerXlConfig(
        layers=2, heads=2, head_size=3, model_size=6, feed_forward_size=8,
        dropout=0.3, attention_dropout=0.1, memory=200, evaluation_memory=200,
    ),
}  # fmt: skip

TEXTS = [
    "a b u v a",
    "b",
    "u a b b a u v v a b a a b a u a b",
    "w a w b v",
    "v v v v v v v v v v v v",
]


LRLM_PLUS = Parts.NAMED | Parts.NAMES | Parts.NAME_WORDS | Parts.TRAITS
"""What settings beyond the paper read."""


def make_model(kind: str, backbone: str, dtype: torch.dtype = torch.float64) -> LanguageModel:
    """Build a small model of the toy world; the same weights every time.

    "lrlm+summary" is an LRLM with that setting of its relations; there may be several.
    """
    torch.manual_seed(5)
    kind, *settings = kind.split("+")
    config = ModelConfig(
        kind=kind,
        backbone=BACKBONES[backbone],
        words=WordConfig(embedding_size=5, projection_size=4),
        relations=RelationConfig(3, 3, hidden_size=5, **dict.fromkeys(settings, True)),
        positions=20,
        position_size=2,
    )
    model = build_model(
        config,
        ModelSizes(
            tokens=len(VOCABULARY),
            types=len(TYPES),
            form_features=WIDTH,
            token_counts=VOCABULARY.counts,
            object_vectors=torch.randn(len(OBJECTS), 3),
        ),
    )
    for parameter in model.parameters():  # larger than usual, so that differences show
        torch.nn.init.normal_(parameter, std=0.5)
    return model.to(dtype).eval()


def documents() -> list[EncodedDocument]:
    """Texts about a topic with relations and about one without."""
    topics = itertools.cycle([TOPIC, TOPIC, LONELY])
    return encode(*(link(text, topic) for text, topic in zip(TEXTS, topics)))  # noqa: B905


class LanguageModelContract:
    """Subclasses name a model and a backbone."""

    kind: ClassVar[str]
    backbone: ClassVar[str]

    @pytest.fixture
    def model(self) -> LanguageModel:
        return make_model(self.kind, self.backbone)

    def score(
        self, model: LanguageModel, batch: list[EncodedDocument], size: int = 150
    ) -> DocumentNats:
        return document_nats(model, collator(size, model.reads | LRLM_PLUS).windows(batch))

    def test_scores_are_nats_of_each_document(self, model: LanguageModel) -> None:
        scores = self.score(model, documents())
        assert torch.isfinite(scores.nats_B[[0, 1, 2, 4]]).all()
        finite = torch.isfinite(scores.nats_B)
        assert (scores.end_nats_B > 0).all()
        assert (scores.nats_B[finite] > scores.end_nats_B[finite]).all()

    def test_batch_mates_order_and_padding_do_not_matter(self, model: LanguageModel) -> None:
        batch = documents()
        together = self.score(model, batch)
        backwards = self.score(model, batch[::-1])
        torch.testing.assert_close(backwards.nats_B.flip(0), together.nats_B, rtol=0, atol=1e-9)
        for index, document in enumerate(batch):
            alone = self.score(model, [document])
            torch.testing.assert_close(alone.nats_B[0], together.nats_B[index], rtol=0, atol=1e-9)
            torch.testing.assert_close(
                alone.end_nats_B[0], together.end_nats_B[index], rtol=0, atol=1e-9
            )

    def test_batch_mates_do_not_matter_in_float32(self) -> None:
        model = make_model(self.kind, self.backbone, torch.float32)
        together = self.score(model, documents())
        for index, document in enumerate(documents()):
            alone = self.score(model, [document])
            torch.testing.assert_close(alone.nats_B[0], together.nats_B[index], rtol=1e-5, atol=0)

    def test_float32_is_close(self, model: LanguageModel) -> None:
        single = make_model(self.kind, self.backbone, torch.float32)
        for batch in (documents(), documents()[:1]):
            torch.testing.assert_close(
                self.score(single, batch).nats_B.double(),
                self.score(model, batch).nats_B,
                rtol=1e-5,
                atol=1e-5,
            )

    def test_threads_do_not_matter(self, model: LanguageModel) -> None:
        threads = torch.get_num_threads()
        expected = self.score(model, documents())
        try:
            torch.set_num_threads(1 if threads > 1 else 2)
            actual = self.score(model, documents())
        finally:
            torch.set_num_threads(threads)
        torch.testing.assert_close(actual.nats_B, expected.nats_B, rtol=0, atol=1e-9)

    @pytest.mark.parametrize("size", [1, 2, 5, 7])
    def test_the_window_size_does_not_matter(self, model: LanguageModel, size: int) -> None:
        # Also for Transformer-XL: its memory here covers every document.
        expected = self.score(model, documents())
        actual = self.score(model, documents(), size)
        torch.testing.assert_close(actual.nats_B, expected.nats_B, rtol=0, atol=1e-9)
        torch.testing.assert_close(actual.end_nats_B, expected.end_nats_B, rtol=0, atol=1e-9)

    @pytest.mark.parametrize("size", [150, 2])
    def test_one_reading_of_a_document(self, model: LanguageModel, size: int) -> None:
        """A scored document has the nats of its windows, and what the model says of itself."""
        batch = documents()
        scored = read_documents(model, collator(size, model.reads | LRLM_PLUS), batch)
        expected = self.score(model, batch)
        lattice = lattice_of(scored)
        text_nats = (expected.nats_B - expected.end_nats_B).tolist()
        assert (-log_marginal(lattice)).tolist() == pytest.approx(text_nats, abs=1e-6)
        ends = [-each.end_score for each in scored]
        assert ends == pytest.approx(expected.end_nats_B.tolist(), abs=1e-9)
        for each, document in zip(scored, batch, strict=True):
            edges = document.edges_E4 if model.has_posteriors else document.edges_E4[:0]
            assert torch.stack([each.start_E, each.end_E], dim=1).tolist() == edges[:, :2].tolist()
            assert len(each.score_E) == len(edges)
            assert bool(each.is_copied_N.any()) <= model.is_joint

    def test_windows_carry_only_what_is_read(self, model: LanguageModel) -> None:
        (window,) = collator(parts=model.reads).windows(documents())
        assert (window.relations is not None) == (Parts.RELATIONS in model.reads)
        assert (window.edges is not None) == (Parts.EDGES in model.reads)
        assert (window.annotation is not None) == (Parts.COPIES in model.reads)
        assert (window.preface_BP is not None) == (Parts.ALIASES in model.reads)

    def test_every_parameter_learns(self) -> None:
        model = make_model(self.kind, self.backbone).train()
        torch.manual_seed(5)
        (window,) = collator().windows([documents()[0], documents()[4]])
        window = window.to("cpu", torch.float64)
        scores, _ = model(window, model.begin(window))
        scores.nats(window)[0].sum().backward()
        without = [
            name
            for name, parameter in model.named_parameters()
            if parameter.numel() and (parameter.grad is None or not parameter.grad.isfinite().all())
        ]
        assert without == []

    def test_padding_never_matters(self, model: LanguageModel) -> None:
        (window,) = collator().windows(documents())
        window = window.to("cpu", torch.float64)
        expected, _ = model(window, model.begin(window))
        spoilt = self._spoil_padding(window)
        actual, _ = model(spoilt, model.begin(spoilt))
        torch.testing.assert_close(actual.nats(spoilt)[0], expected.nats(window)[0], rtol=0, atol=0)

    @staticmethod
    def _spoil_padding(window: Window) -> Window:
        padding = ~window.mask_BT
        return replace(
            window,
            inputs_BT=window.inputs_BT.masked_fill(padding, 0),
            targets_BT=window.targets_BT.masked_fill(padding, 1),
            spelling_BT=window.spelling_BT.masked_fill(padding, torch.nan),
        )
