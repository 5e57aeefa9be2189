"""Requests that are made from the API's own description, fitting and unfitting ones.

Every answer must be one that the description tells of, and no answer may be a fault of the server.
"""

from collections import Counter
from dataclasses import dataclass, field
from itertools import cycle, product
from typing import Any

import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from lrlm.serving.app import create_app
from lrlm.serving.guard import Doorkeeper
from tests.serving.served import shipped

PLANNED = {503, 504}
"""Too much to do, and too slow: no faults."""


@dataclass
class Outcome:
    """What became of the requests."""

    statuses: Counter[int] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)


def ask(requests: int) -> Outcome:
    """Make at least so many requests, shared out over all that can be asked."""
    app = create_app(shipped(), doorkeeper=Doorkeeper(frozenset({"testserver"})))
    schema = schemathesis.openapi.from_asgi("/api/v1/openapi.json", app)
    operations = [found.ok() for found in schema.get_all_operations()]
    outcome = Outcome()
    each = max(1, requests // (2 * len(operations)))
    modes = (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
    for operation, mode in cycle(product(operations, modes)):
        try:
            _ask(operation, mode, each, outcome)
        except Unsatisfiable:
            continue  # nothing unfitting can be asked of what takes no arguments
        if outcome.statuses.total() >= requests:
            break
    return outcome


def _ask(operation: Any, mode: GenerationMode, times: int, outcome: Outcome) -> None:
    @settings(
        max_examples=times, suppress_health_check=list(HealthCheck), database=None, deadline=None
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def ask_once(case: Any) -> None:
        try:
            response = case.call()
            outcome.statuses[response.status_code] += 1
            if response.status_code in PLANNED:
                return
            case.validate_response(
                response,
                checks=[
                    not_a_server_error,
                    status_code_conformance,
                    content_type_conformance,
                    response_schema_conformance,
                ],
            )
        except Exception as error:  # noqa: BLE001  it is told
            outcome.failures.append(f"{operation.label}: {str(error)[:800]}")

    ask_once()
