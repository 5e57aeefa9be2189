"""The API answers whatever its description allows to be asked, and refuses the rest in words."""

import pytest

pytestmark = pytest.mark.extra("serve-tests")


def test_every_answer_is_one_that_is_described() -> None:
    from tests.serving.generated_requests import ask

    outcome = ask(200)
    assert outcome.failures == []
    assert outcome.statuses[200] >= 10
    assert outcome.statuses[422] >= 10
