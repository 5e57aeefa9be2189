"""A size and a backbone in, a complete configuration out, read from the TOML files here."""

from collections.abc import Sequence
from importlib.resources import files

from lrlm.backbones import LstmConfig, TransformerXlConfig
from lrlm.errors import InputError
from lrlm.training.config import RunConfig
from lrlm.training.settings import from_nested, parse_toml, with_settings

SIZES = ("mini", "cpu", "paper")
BACKBONES = {"lstm": LstmConfig, "transformer-xl": TransformerXlConfig}


def load_size(size: str, backbone: str) -> RunConfig:
    """Read the configuration of a size."""
    if size not in SIZES:
        raise InputError(f"there is no size {size!r}; there are: {', '.join(SIZES)}")
    if backbone not in BACKBONES:
        raise InputError(f"there is no backbone {backbone!r}; there are: {', '.join(BACKBONES)}")
    name = f"{size}.{backbone}.toml"
    text = files(__package__).joinpath(name).read_text(encoding="utf-8")
    return read_config(text, where=name)


def read_config(text: str, *, where: str) -> RunConfig:
    """Make a configuration of TOML; `where` names the file in an error."""
    try:
        return from_nested(RunConfig, parse_toml(text, where=where), BACKBONES)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None


def change(config: RunConfig, settings: Sequence[str]) -> RunConfig:
    """Set values, each given as `key=value`; they are checked together when all are set."""
    return with_settings(config, settings, BACKBONES)
