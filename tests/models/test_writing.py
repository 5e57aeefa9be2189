"""What a writer pays for a form is what the lattice says of the same edge."""

import pytest
import torch

from lrlm.generation.generate import encode_topic
from lrlm.heads import Choosing
from lrlm.models import LatentRelationLM, WindowReader
from lrlm.models.writing import Limits
from tests.toy import TOPIC, link
from tests.toy_run import toy_run


@pytest.mark.parametrize("backbone", ["lstm", "transformer-xl"])
@torch.inference_mode()
def test_a_written_form_costs_what_its_edge_scores(backbone: str) -> None:
    run = toy_run("lrlm", backbone)
    assert isinstance(run.model, LatentRelationLM)
    document = link("a b")
    (window,) = run.collator.windows([run.encoder.encode_one(document)])
    _, scores = WindowReader(run.model).read(window)
    assert scores.score_E is not None
    writer = run.model.writer(encode_topic(run, document.title, document.relations))
    begun = writer.begin()
    forms = [(number, form) for number, r in enumerate(document.relations) for form in r.forms]
    for edge, mention in enumerate(document.mentions):
        if mention.start:
            continue
        only = torch.zeros(1, len(forms), dtype=torch.bool)
        words = document.relations[mention.relation].forms[mention.form]
        only[0, forms.index((mention.relation, words))] = True
        no = torch.zeros(1, dtype=torch.bool)
        written = writer.choose(begun, Limits(no, no, only), Choosing())
        assert float(written.log_prob_B) == pytest.approx(float(scores.score_E[edge]), abs=1e-9)
    assert TOPIC.id == document.topic
