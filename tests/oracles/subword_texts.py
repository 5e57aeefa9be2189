"""Write every text of up to some tokens in every way in which a model can write it.

The rules are those of the generative story, one step at a time, with nothing summed cleverly.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from lrlm.corpora import Linker
from lrlm.generation.encoded_topic import encode_topic
from lrlm.knowledge import Topic
from lrlm.models import LatentRelationLM, VanillaLM
from lrlm.models.writing import EncodedTopic
from lrlm.runs.run import Run
from lrlm.text import NO_FORM_HERE, LinkableRelation, SurfaceForm, surface_forms

Ids = tuple[int, ...]


@dataclass
class WrittenTexts:
    """Probabilities of texts by their tokens, and of all longer ones together."""

    texts: dict[Ids, float] = field(default_factory=lambda: defaultdict(float))
    longer: float = 0.0


@dataclass(frozen=True)
class _Step:
    """What can be written next: its tokens, its probability, and whether it is a whole name."""

    tokens: Ids
    probability: float
    is_name: bool = False


class SubwordTexts:
    """Writes texts about a topic with a model on a pretrained backbone."""

    def __init__(self, run: Run, topic: Topic, *, lacking: Sequence[LinkableRelation] = ()) -> None:
        """Where relations are lacking, texts that choose one of them are not written."""
        assert isinstance(run.model, VanillaLM)
        self._run, self._model = run, run.model
        linker = Linker(topic, run.link_options.for_raw_text())
        self._relations = linker.relations
        self._topic: EncodedTopic = encode_topic(
            run, topic.names[0], linker.relations, lacking=lacking
        )

    @torch.no_grad()
    def up_to(self, length: int) -> WrittenTexts:
        """Write all texts of at most so many tokens."""
        found = WrittenTexts()
        self._write((), 1.0, False, length, found)
        return found

    def _write(
        self, so_far: Ids, probability: float, is_after_name: bool, length: int, found: WrittenTexts
    ) -> None:
        for step in self._steps(so_far, is_after_name):
            chance = probability * step.probability
            if not step.tokens:
                found.texts[so_far] += chance
            elif len(so_far) + len(step.tokens) > length:
                found.longer += chance
            else:
                self._write((*so_far, *step.tokens), chance, step.is_name, length, found)

    def _state(self, so_far: Ids) -> Tensor:
        """Read everything again from the beginning."""
        ids_1T = torch.tensor([[*self._topic.preface_P.tolist(), *so_far]])
        backbone = self._model.backbone
        states_1TD, _ = backbone(
            self._model.embedding(ids_1T),
            torch.tensor([ids_1T.shape[1]]),
            backbone.initial_state(1),
        )
        state_1D: Tensor = states_1TD[:, -1]
        return state_1D

    def _steps(self, so_far: Ids, is_after_name: bool) -> Iterator[_Step]:
        space, model = self._run.space, self._model
        state_1D = self._state(so_far)
        word = [
            float(model.words.log_probs(state_1D, torch.tensor([token])).exp())
            for token in range(space.size)
        ]
        before = torch.tensor([so_far[-1] if so_far else space.start_id])
        context = int(space.context_after(before))
        p_word, p_copy, names = 1.0, 0.0, []
        if isinstance(model, LatentRelationLM) and self._relations and context != NO_FORM_HERE:
            forms = [[form] for relation in self._relations for form in surface_forms(relation)]
            named_R = self._named(so_far, [surface_forms(each) for each in self._relations])
            named_F = self._named(so_far, forms)
            added = None
            if model.naming is not None:
                added = model.naming.source_scores(*named_R, torch.ones_like(named_R[0]).bool())
            p_word, p_copy = model.source.log_probs(state_1D, added)[0].exp().tolist()
            names = list(self._names(model, state_1D, p_copy, context, named_R, named_F))
        steps = [
            _Step(() if token == space.end_id else (token,), p_word * chance)
            for token, chance in enumerate(word)
        ]
        if is_after_name:
            assert space.begins_word is not None
            steps = [step for token, step in enumerate(steps) if space.begins_word[token]]
        total = sum(step.probability for step in steps) + p_copy if is_after_name else 1.0
        for step in (*steps, *names):
            yield _Step(step.tokens, step.probability / total, step.is_name)

    def _named(self, so_far: Ids, names: Sequence[Sequence[SurfaceForm]]) -> tuple[Tensor, Tensor]:
        """Say how often one of some forms is known to stand in a text, and since when: (1, R)."""
        times, since = [], []
        for forms in names:
            known = {place for form in forms for place in self._places(so_far, form)}
            times.append(len(known))
            since.append(len(so_far) - max(known) if known else 0)
        return torch.tensor([times]), torch.tensor([since])

    def _places(self, so_far: Ids, form: SurfaceForm) -> Iterator[int]:
        """Give where a form is known to stand: behind it, or behind the new word that follows."""
        space = self._run.space
        assert space.begins_word is not None
        for start in range(len(so_far)):
            before = torch.tensor([so_far[start - 1] if start else space.start_id])
            context = int(space.context_after(before))
            if context == NO_FORM_HERE:
                continue
            ids = tuple(space.encode_form(form, before=space.example_before(context)))
            end = start + len(ids)
            if so_far[start:end] != ids:
                continue
            if not space.binds(ids[-1]):
                yield end
            elif end < len(so_far) and space.begins_word[so_far[end]]:
                yield end + 1

    def _names(
        self,
        model: LatentRelationLM,
        state_1D: Tensor,
        p_copy: float,
        context: int,
        named_R: tuple[Tensor, Tensor],
        named_F: tuple[Tensor, Tensor],
    ) -> Iterator[_Step]:
        topic, space = self._topic, self._run.space
        vectors_1RW = model.vectors_of(topic.as_row)
        if topic.lacking is not None:
            vectors_1RW = torch.cat([vectors_1RW, model.vectors_of(topic.lacking)], dim=1)
        relations = vectors_1RW.shape[1]
        all_1R = torch.ones(1, relations, dtype=torch.bool)
        added = None
        if model.naming is not None:
            times, since = (torch.zeros(1, relations, dtype=torch.long) for _ in range(2))
            times[:, : len(self._relations)], since[:, : len(self._relations)] = named_R
            added = model.naming.relation_scores(
                state_1D[None], vectors_1RW, times[None], since[None]
            )
        log_chances = model.relations.log_probs(state_1D[None], vectors_1RW, all_1R, added)
        first = 0
        for number, relation in enumerate(self._relations):
            chance = float(log_chances[0, 0, number].exp())
            forms = surface_forms(relation)
            here = slice(first, first + len(forms))
            features_FW = topic.features_FW[here]
            first += len(forms)
            query_F = torch.zeros(len(forms), dtype=torch.long)
            shift = added_F = None
            if model.naming is not None:
                shift = model.naming.form_shift(named_R[0][:, number], named_R[1][:, number])
                own = named_F[0][0, here], named_F[1][0, here]
                added_F = model.naming.form_scores(state_1D, *own, query_F)
            log_forms = model.forms.log_probs(
                state_1D, features_FW, query_F, shift_QW=shift, added_F=added_F
            )
            of_form = log_forms.exp().tolist()
            for form, share in zip(forms, of_form, strict=True):
                ids = tuple(space.encode_form(form, before=space.example_before(context)))
                yield _Step(ids, p_copy * chance * share, space.binds(ids[-1]))
