"""Record again what the golden tests compare with: `python -m tests.golden.record`.

WARNING: this changes what the tests promise. They say that training, scores, annotations, written
texts and evaluations are those of version 0.1. Record again only where behaviour is *meant* to
change, look at every number that differs (`git diff`), and say in the commit what changed and why.
A number that merely moved in a refactoring is an error in the refactoring.

What lies in `version_0_1` was written by version 0.1 and is never written again; only what the
present package makes of it is recorded here.
"""

import json
import math
import os
import tempfile
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # as in the tests; read when PyTorch is loaded

from tests.golden import behaviour
from tests.golden.recorded import RECORDED

DIGITS = 8


def record() -> dict[str, Any]:
    """Do everything once."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        behaviour.build_corpus(folder)
        found: dict[str, Any] = {
            f"{kind} on {backbone}": behaviour.of_model(folder, kind, backbone)
            for kind in behaviour.KINDS
            for backbone in behaviour.BACKBONES
        }
        found["side by side"] = behaviour.compared(folder)
        found["shipped"] = behaviour.of_shipped_model(folder)
        found["old run"] = behaviour.of_old_run(folder)
        found["old run, resumed"] = behaviour.of_old_run_resumed(folder)
        found["old graph"] = behaviour.of_old_graph()
        return found


def rounded(value: Any) -> Any:
    """Cut numbers to so many digits that no test can tell."""
    if isinstance(value, dict):
        return {key: rounded(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(each) for each in value]
    if isinstance(value, float) and math.isfinite(value):
        return float(f"{value:.{DIGITS}g}")
    return value


def lines(value: Any, depth: int) -> str:
    """Write JSON with a line for each value down to a depth, so that differences can be read."""
    if depth == 0 or not isinstance(value, dict | list) or not value:
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict):
        inside = [f"{json.dumps(key)}: {lines(each, depth - 1)}" for key, each in value.items()]
        return "{\n" + ",\n".join(inside) + "\n}"
    return "[\n" + ",\n".join(lines(each, depth - 1) for each in value) + "\n]"


if __name__ == "__main__":
    RECORDED.write_text(lines(rounded(record()), 3) + "\n", encoding="utf-8")
    print(f"{RECORDED}: {RECORDED.stat().st_size:,} bytes; now look at every difference")
