"""Complete configurations to start from: `mini`, `cpu` and `paper`, for each backbone."""

from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files
from importlib.resources.abc import Traversable

from lrlm.backbones import BACKBONES, BackboneConfig, LstmConfig
from lrlm.errors import InputError
from lrlm.heads import TOKEN_LAYERS, TokenLayersConfig, WordConfig
from lrlm.plain_data import parse_toml
from lrlm.runs.config import RunConfig
from lrlm.runs.settings import ClassChoice, ClassChoices, from_nested, with_settings
from lrlm.runs.token_spaces import TOKEN_SPACES, TokenSpaceConfig, VocabularyConfig

AS_PUBLISHED = "paper"
"""The size that is the same for every corpus."""
SIZES = ("mini", "cpu", AS_PUBLISHED)

CHOICES: ClassChoices = {
    BackboneConfig: ClassChoice(BACKBONES),
    TokenLayersConfig: ClassChoice(TOKEN_LAYERS, default=WordConfig.name),
    TokenSpaceConfig: ClassChoice(TOKEN_SPACES, default=VocabularyConfig.name),
}
"""Where a configuration may hold one of several classes."""


def load_size(size: str, backbone: str | BackboneConfig) -> RunConfig:
    """Give the configuration of a size.

    A backbone that is given by its own configuration keeps it; all else is that of the size. A
    pretrained one has a size already, so its settings are the same in all sizes. One that has no
    sizes of its own takes the settings of the LSTM's.
    """
    if size not in SIZES:
        raise InputError(f"there is no size {size!r}; there are: {', '.join(SIZES)}")
    name = backbone if isinstance(backbone, str) else backbone.name
    if isinstance(backbone, str) and name not in BACKBONES:
        raise InputError(f"there is no backbone {name!r}; there are: {', '.join(BACKBONES)}")
    file = size_file(size, name)
    if file is None:
        file = files(__package__).joinpath(f"{size}.{LstmConfig.name}.toml")
        backbone = BACKBONES[backbone]() if isinstance(backbone, str) else backbone
    config = read_config(file.read_text(encoding="utf-8"), where=file.name)
    if isinstance(backbone, BackboneConfig):
        config = replace(config, model=replace(config.model, backbone=backbone))
    return config


def size_file(size: str, backbone: str) -> Traversable | None:
    """Find the file of a size for a backbone, or the one that a backbone has for all sizes."""
    names = (f"{size}.{backbone}.toml", f"{backbone}.toml")
    found = (files(__package__).joinpath(name) for name in names)
    return next((file for file in found if file.is_file()), None)


def read_config(text: str, *, where: str) -> RunConfig:
    """Make a configuration of TOML; `where` names the file in an error."""
    try:
        return from_nested(RunConfig, parse_toml(text, where=where), CHOICES)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None


def change(config: RunConfig, settings: Sequence[str]) -> RunConfig:
    """Set values, each given as `key=value`; they are checked together when all are set."""
    return with_settings(config, settings, CHOICES)
