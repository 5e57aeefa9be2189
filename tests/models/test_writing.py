"""What a writer pays for a form is what the lattice says of the same edge."""

import pytest
import torch

from lrlm.generation.encoded_topic import encode_topic
from lrlm.heads import Choosing
from lrlm.models import LatentRelationLM, WindowReader
from lrlm.models.writing import NO_FORM, Limits, Writer, WritingState, Written
from tests.toy import VOCABULARY, link
from tests.toy_run import toy_run

TEXT = "a b u a b v u a b b w a"


def after(writer: Writer, words: list[str]) -> WritingState:
    """Write words, none of them copied."""
    so_far = writer.begin()
    zero_1 = torch.zeros(1, dtype=torch.long)
    for word in words:
        token = VOCABULARY.encode([word])[0]
        number = writer.topic.unknown_words.get(word, token)
        so_far = writer.read(
            so_far,
            Written(
                zero_1 + token,
                zero_1 + NO_FORM,
                zero_1,
                zero_1,
                so_far.last.log_prob_B,
                zero_1 + number,
            ),
        )
    return so_far


@pytest.mark.parametrize("backbone", ["lstm", "transformer-xl"])
@pytest.mark.parametrize(
    "kind", ["lrlm", "lrlm+named", "lrlm+named+told", "lrlm+named+told+own_types"]
)
@torch.inference_mode()
def test_a_written_form_costs_what_its_edge_scores(kind: str, backbone: str) -> None:
    run = toy_run(kind, backbone)
    assert isinstance(run.model, LatentRelationLM)
    document = link(TEXT)
    (window,) = run.collator.windows([run.encoder.encode_one(document)])
    _, scores = WindowReader(run.model).read(window)
    assert scores.score_E is not None
    writer = run.model.writer(encode_topic(run, document.title, document.relations))
    forms = [(number, form) for number, r in enumerate(document.relations) for form in r.forms]
    no = torch.zeros(1, dtype=torch.bool)
    for edge, mention in enumerate(document.mentions):
        so_far = after(writer, document.tokens.words[: mention.start])
        only = torch.zeros(1, len(forms), dtype=torch.bool)
        words = document.relations[mention.relation].forms[mention.form]
        only[0, forms.index((mention.relation, words))] = True
        written = writer.choose(so_far, Limits(no, no, only), Choosing())
        assert float(written.log_prob_B) == pytest.approx(float(scores.score_E[edge]), abs=1e-9)
