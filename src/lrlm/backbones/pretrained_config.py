"""The settings of a pretrained language model as a backbone, and where its files are."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import torch

from lrlm.arrays import Floats
from lrlm.backbones.backbone import BackboneConfig
from lrlm.backbones.causal_lm import frozen_lm
from lrlm.checks import WIDEST, check_at_least, check_range, check_rate
from lrlm.errors import FormatError, InputError, LrlmError
from lrlm.pretrained import PretrainedFiles, find_pretrained

if TYPE_CHECKING:
    from lrlm.backbones.pretrained import PretrainedBackbone

TUNINGS = ("frozen", "lora", "full")
PRECISIONS = {"auto": None, "float32": torch.float32, "bfloat16": torch.bfloat16}

_LONGEST_CONTEXT = 1 << 20


@dataclass(frozen=True, slots=True)
class Pretrained(BackboneConfig):
    """A pretrained causal language model, and how it is used.

    `lrlm.train(backbone=…)` takes one. The LM is loaded when the backbone is built.

    >>> Pretrained("path/to/folder", tuning="lora", lora_rank=8).context
    2048
    """

    name: ClassVar[str] = "pretrained"
    label: ClassVar[str] = "Pretrained LM"
    reads_backward: ClassVar[bool] = False
    knows_names: ClassVar[bool] = True

    source: str = ""
    """A Hugging Face folder, a GGUF file, or the id of a model of the Hugging Face hub."""
    tuning: str = "frozen"
    """What learns of the LM: frozen (nothing), lora (low-rank adapters) or full (everything)."""
    context: int = 2048
    """Tokens that the LM sees at most; never more than it was made for."""
    local_files_only: bool = False
    """Whether the Hugging Face hub is never asked."""
    precision: str = "auto"
    """Numbers that the LM computes with: float32, bfloat16, or auto: bfloat16 on GPUs for it."""
    lora_rank: int = 16
    """Rank of the adapters (lora)."""
    lora_alpha: float = 32.0
    """What the adapters weigh, as a multiple of 1 / rank (lora)."""
    lora_dropout: float = 0.0
    """Share of the adapters' inputs that is dropped in training (lora)."""
    rate: float = 0.2
    """Learning rate of what learns in the LM, as a share of training.learning_rate (lora, full)."""
    gradient_checkpointing: bool = False
    """Whether training computes states twice, to hold less of them in memory (lora, full)."""

    def __post_init__(self) -> None:
        """Refuse what cannot be built."""
        if self.tuning not in TUNINGS:
            raise InputError(
                f"model.backbone.tuning must be one of {', '.join(TUNINGS)}, not {self.tuning!r}"
            )
        if self.precision not in PRECISIONS:
            raise InputError(
                f"model.backbone.precision must be one of {', '.join(PRECISIONS)},"
                f" not {self.precision!r}"
            )
        check_range("model.backbone.context", self.context, 2, _LONGEST_CONTEXT)
        check_range("model.backbone.lora_rank", self.lora_rank, 1, WIDEST)
        check_at_least("model.backbone.lora_alpha", self.lora_alpha, 0)
        check_rate("model.backbone.lora_dropout", self.lora_dropout)
        check_at_least("model.backbone.rate", self.rate, 0)

    @property
    def learns(self) -> bool:  # type: ignore[override]  # a fact of the class elsewhere
        """Whether training changes anything of the LM."""
        return self.tuning != "frozen"

    @property
    def learning_rate_share(self) -> float:  # type: ignore[override]
        """The learning rate of the LM's weights, as a share of that of the heads."""
        return self.rate

    def files(self) -> PretrainedFiles:
        """Find the files of the LM."""
        return find_pretrained(self.source, local_files_only=self.local_files_only)

    def absolute(self) -> "Pretrained":
        """Name a folder or file by its whole path; the id of a model of the hub stays."""
        path = Path(self.source).expanduser()
        return replace(self, source=str(path.absolute())) if path.exists() else self

    def found(self, packed: Path) -> "Pretrained":
        """Take the files that were packed with a run, if they were."""
        return replace(self, source=str(packed)) if packed.exists() else self

    def file_paths(self) -> list[Path]:
        """List the files of the LM."""
        files = self.files()
        return [files.folder / file["name"] for file in files.files]

    def manifest_entries(self) -> dict[str, Any]:
        """Name the LM by where it came from and by its content."""
        files = self.files()
        return {
            "pretrained": {
                "source": self.source,
                "fingerprint": files.fingerprint,
                "files": [dict(file) for file in files.files],
            }
        }

    def check(self, manifest: Mapping[str, Any], run: Path) -> None:
        """Refuse another LM than the one that a run was trained with."""
        entry = manifest.get("pretrained")
        wanted = entry.get("fingerprint") if isinstance(entry, dict) else None
        if wanted is None:
            raise FormatError(f"{run}: its manifest does not name its language model")
        try:
            files = self.files()
        except LrlmError as error:
            raise InputError(
                f"{run} needs the language model {self.source!r} that it was trained with, which"
                f" cannot be used here: {error}; put it, or a link to it, into the run's folder as"
                f" 'backbone'"
            ) from None
        if files.fingerprint != wanted:
            raise InputError(
                f"the language model at {self.source!r} is not the one that {run} was trained"
                " with: its files have changed; put the right one, or a link to it, into the run's"
                " folder as 'backbone'"
            )

    def token_vectors(self) -> Floats:
        """Give the vectors that the LM has of its tokens."""
        lm = frozen_lm(self.files(), torch.float32, torch.device("cpu"))
        vectors: Floats = lm.embedding.weight.detach().numpy()
        return vectors

    def fixed_input_size(self) -> int:
        """Give the width of the vectors that the LM reads."""
        return self.files().input_size()

    def build(self, input_size: int) -> "PretrainedBackbone":
        """Load the LM."""
        from lrlm.backbones.pretrained import PretrainedBackbone  # which is made of this

        return PretrainedBackbone(self, input_size)

    def number_type(self, outside: torch.dtype, device: torch.device) -> torch.dtype:
        """Give what the LM computes with where the numbers around it are of type `outside`."""
        if outside != torch.float32:
            return outside
        chosen = PRECISIONS[self.precision]
        if chosen is not None:
            return chosen
        is_made_for_it = device.type == "cuda" and torch.cuda.is_bf16_supported(
            including_emulation=False
        )
        return torch.bfloat16 if is_made_for_it else torch.float32
