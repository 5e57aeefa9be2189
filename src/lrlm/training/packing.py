"""A run folder in, a small one to pass on out: all that using the model takes, in 16 bits."""

import shutil
from pathlib import Path

from safetensors.torch import load_file

from lrlm.artifacts import new_folder, write_manifest
from lrlm.features import Features
from lrlm.features.spelling import log_unknown_mass
from lrlm.tensor_files import write_tensors
from lrlm.training.run import CONFIG, FEATURES, VOCABULARY, WEIGHTS, Run


def pack(run: Path | str, out: Path | str, *, overwrite: bool = False) -> Run:
    """Copy a run without its checkpoints, with every number rounded to 16 bits.

    The rounded spelling model gives other probabilities to the words of the vocabulary, so the
    share of all others is worked out anew: the probabilities of all texts still sum to one.
    """
    whole = Run.open(run)
    with new_folder(Path(out), overwrite=overwrite) as draft:
        for name in (CONFIG, VOCABULARY, WEIGHTS):
            shutil.copyfile(whole.folder / name, draft / name)
        shutil.copytree(whole.folder / FEATURES, draft / FEATURES)
        for path in sorted(draft.rglob("*.safetensors")):
            tensors = load_file(path)
            path.unlink()  # the file may still be mapped: it is replaced, not written over
            write_tensors(path, {name: tensor.half() for name, tensor in tensors.items()})
        speller = Features.open(draft / FEATURES).speller
        assert speller is not None
        manifest = dict(whole.setting.manifest)
        manifest["log_unknown"] = log_unknown_mass(speller, whole.vocabulary)
        write_manifest(draft, **manifest)
    return Run.open(out)
