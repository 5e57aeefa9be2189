"""A backbone and a token space as users would write them in a module of their own.

Nothing here is part of the package, and nothing in the package knows of it.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from lrlm.backbones import Backbone, BackboneConfig, State
from lrlm.corpora import Corpus
from lrlm.features import Features
from lrlm.runs.token_spaces import TokenSpaceConfig
from lrlm.text import (
    EncodedText,
    GrowingText,
    LinkedDocument,
    Profile,
    SurfaceForm,
    TokenPlaces,
    TokenSpace,
)
from lrlm.text.token_space import Spellings


@dataclass(frozen=True)
class SimpleState(State):
    """The last hidden state of each row."""

    hidden_BD: Tensor

    @property
    def rows(self) -> int:
        return len(self.hidden_BD)

    def tensors(self) -> dict[str, Tensor]:
        return {"hidden_BD": self.hidden_BD}

    def detach(self) -> "SimpleState":
        return SimpleState(self.hidden_BD.detach())

    def select(self, rows: Tensor) -> "SimpleState":
        return SimpleState(self.hidden_BD[rows])


class SimpleBackbone(Backbone):
    """h = tanh(W x + U h), token by token."""

    def __init__(self, config: "SimpleConfig", input_size: int) -> None:
        super().__init__()
        self.input_size, self.output_size = input_size, config.width
        self.read = nn.Linear(input_size, config.width)
        self.keep = nn.Linear(config.width, config.width)

    def initial_state(self, rows: int) -> SimpleState:
        return SimpleState(self.read.weight.new_zeros(rows, self.output_size))

    def restore_state(self, tensors: Mapping[str, Tensor]) -> SimpleState:
        return SimpleState(tensors["hidden_BD"].to(self.read.weight.device))

    def forward(
        self, inputs_BTI: Tensor, lengths_B: Tensor, state: State
    ) -> tuple[Tensor, SimpleState]:
        assert isinstance(state, SimpleState)
        hidden_BD, outputs = state.hidden_BD, []
        for step in range(inputs_BTI.shape[1]):
            is_read_B1 = (step < lengths_B)[:, None]
            inputs_BI = inputs_BTI[:, step].masked_fill(~is_read_B1, 0.0)
            after_BD = torch.tanh(self.read(inputs_BI) + self.keep(hidden_BD))
            hidden_BD = torch.where(is_read_B1, after_BD, hidden_BD)
            outputs.append(torch.where(is_read_B1, after_BD, 0.0))
        if not outputs:
            return inputs_BTI.new_zeros(len(inputs_BTI), 0, self.output_size), state
        return torch.stack(outputs, dim=1), SimpleState(hidden_BD)


@dataclass(frozen=True, slots=True)
class SimpleConfig(BackboneConfig):
    """The size of a simple recurrent network."""

    name: ClassVar[str] = "simple"
    label: ClassVar[str] = "Simple RNN"

    width: int = 16
    """Width of the hidden state."""

    def build(self, input_size: int) -> SimpleBackbone:
        return SimpleBackbone(self, input_size)


_TOKEN = re.compile(r"\s*(\S)")
_OPENING = "([{"


class CharacterSpace(TokenSpace):
    """Every character is a token, together with the space before it if there is one.

    So a form is written in two ways: without a space in front at the start of a text and behind an
    opening bracket, with one elsewhere. Every text of these characters has tokens: none is unknown.
    """

    contexts = 2

    def __init__(self, characters: str) -> None:
        self.characters = characters
        self.texts = [*characters, *(f" {character}" for character in characters)]
        self._ids = {text: number for number, text in enumerate(self.texts)}
        self.end_id = len(self.texts)
        self.size = len(self.texts) + 1

    def _tokens(self, text: str, *, before: str = "") -> list[tuple[int, int, int]]:
        """Give the id and the characters `[start, end)` of each token."""
        found = []
        for match in _TOKEN.finditer(text):
            follows = match.start() > 0 or bool(before)
            spaced = match.end() - match.start() > 1 or match.start(1) > match.start()
            piece = f" {match[1]}" if follows and spaced else match[1]
            found.append((self._ids[piece], match.start(1), match.end(1)))
        return found

    def _needs_space(self, before: str) -> bool:
        stripped = before.rstrip()
        return bool(stripped) and stripped[-1] not in _OPENING

    def encode(self, document: LinkedDocument) -> EncodedText:
        tokens = self._tokens(document.text)
        ids = [token for token, _, _ in tokens]
        first = {start: place for place, (_, start, _) in enumerate(tokens)}
        edges = []
        for number, mention in enumerate(document.mentions):
            start = first[document.tokens.starts[mention.start]]
            end = first[document.tokens.ends[mention.end - 1] - 1] + 1
            relation = document.relations[mention.relation]
            form = SurfaceForm(relation.forms[mention.form], relation.texts[mention.form])
            before = document.text[: tokens[start][1]]
            if ids[start:end] == self.encode_form(form, before=before):  # else it is lost
                edges.append((start, end, mention.relation, mention.form, number))
        edges.sort()
        table = np.array(edges, dtype=np.int64).reshape(-1, 5)
        return EncodedText(
            tokens_N=np.array(ids, dtype=np.int64),
            spelling_N=np.zeros(len(ids), dtype=np.float32),
            edges_E4=table[:, :4].copy(),
            mention_E=table[:, 4].copy(),
        )

    def places(self, document: LinkedDocument) -> TokenPlaces:
        tokens = self._tokens(document.text)
        starts = [start for _, start, _ in tokens]
        words = np.searchsorted(document.tokens.starts, starts, side="right") - 1
        return TokenPlaces(starts, [end for _, _, end in tokens], words.tolist())

    def encode_form(self, form: SurfaceForm, *, before: str = "") -> list[int]:
        space = " " if self._needs_space(before) else ""
        written = space + " ".join(form.words)
        return [token for token, _, _ in self._tokens(written, before=before)]

    def form_tokens(self, form: SurfaceForm, *, before: str = "") -> tuple[str, ...]:
        return tuple(self.texts[token] for token in self.encode_form(form, before=before))

    def decode(self, ids: Sequence[int]) -> str:
        return "".join(self.texts[token] for token in ids if token != self.end_id).strip()

    def example_before(self, context: int) -> str:
        return "a" if context else ""

    def context_after(self, tokens_B: Tensor) -> Tensor:
        opening = [self._ids[text] for text in self.texts if text.strip() in _OPENING]
        no_space = torch.tensor([self.end_id, *opening], device=tokens_B.device)
        return (~torch.isin(tokens_B, no_space)).long()

    def begin_text(
        self, prompt: str, *, profile: Profile, spellings: Spellings | None
    ) -> "CharacterByCharacter":
        assert spellings is None
        return CharacterByCharacter(self, prompt)


class CharacterByCharacter(GrowingText):
    """A text that grows by single characters."""

    def __init__(self, space: CharacterSpace, prompt: str) -> None:
        tokens = space._tokens(prompt)
        self._space = space
        self._text = prompt
        self.tokens = [space.texts[token] for token, _, _ in tokens]
        self.places = [(start, end) for _, start, end in tokens]

    @property
    def text(self) -> str:
        return self._text

    def add(self, token: int, *, copied: str | None = None) -> None:
        piece = self._space.texts[token]
        self._text += piece if self._text else piece.strip()
        self.places.append((len(self._text) - 1, len(self._text)))
        self.tokens.append(piece)

    def finish(self) -> None:
        pass


@dataclass(frozen=True, slots=True)
class CharacterConfig(TokenSpaceConfig):
    """Settings of the character space."""

    name: ClassVar[str] = "characters"

    extra: str = ""
    """Characters that need not occur in the training text."""

    def make(self, corpus: Corpus, features: Features, backbone: BackboneConfig) -> CharacterSpace:
        known = {character for word in corpus.distinct_words() for character in word}
        return CharacterSpace("".join(sorted(known | set(self.extra))))

    def save(self, space: TokenSpace, folder: Path) -> None:
        assert isinstance(space, CharacterSpace)
        (folder / "characters.txt").write_text(space.characters, encoding="utf-8")

    def open(
        self,
        folder: Path,
        manifest: Mapping[str, Any],
        features: Features,
        backbone: BackboneConfig,
    ) -> CharacterSpace:
        return CharacterSpace((folder / "characters.txt").read_text(encoding="utf-8"))
