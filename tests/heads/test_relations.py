"""Vectors of relations, and the choice among the relations of a topic."""

import pytest
import torch
from torch import Tensor

from lrlm.errors import InputError, ShapeError
from lrlm.heads import RelationConfig, RelationHead, RelationVectors, VectorTable


@pytest.fixture
def head() -> RelationHead:
    torch.manual_seed(0)
    return RelationHead(4, 6, 5).double()


def test_equals_a_softmax_over_the_real_relations_of_each_row(head: RelationHead) -> None:
    states, vectors = torch.randn(3, 2, 4).double(), torch.randn(3, 7, 5).double()
    mask = torch.tensor(
        [[1, 1, 1, 1, 1, 1, 1], [1, 0, 1, 1, 0, 0, 0], [1, 0, 0, 0, 0, 0, 0]]
    ).bool()
    log_probs = head.log_probs(states, vectors, mask)
    first, second = head.linear
    for row in range(3):
        for query in range(2):
            compared = second(first(states[row, query]))
            expected = (vectors[row][mask[row]] @ compared).log_softmax(0)
            torch.testing.assert_close(
                log_probs[row, query][mask[row]], expected, rtol=1e-10, atol=1e-10
            )
            assert (log_probs[row, query][~mask[row]] == -torch.inf).all()
    torch.testing.assert_close(log_probs.exp().sum(2), torch.ones(3, 2).double())
    assert (log_probs[2, :, 0] == 0).all()


def test_a_row_without_relations_has_no_probability_and_no_gradient(head: RelationHead) -> None:
    states = torch.randn(2, 3, 4).double().requires_grad_()
    vectors = torch.randn(2, 4, 5).double().requires_grad_()
    mask = torch.tensor([[True, True, False, False], [False] * 4])
    log_probs = head.log_probs(states, vectors, mask)
    assert (log_probs[1] == -torch.inf).all()
    torch.autograd.backward(log_probs[0, :, :2].sum())
    assert states.grad is not None
    assert vectors.grad is not None
    for gradient in (states.grad, vectors.grad, *(p.grad for p in head.parameters())):
        assert gradient is not None
        assert gradient.isfinite().all()
    assert (states.grad[1] == 0).all()
    assert (vectors.grad[1] == 0).all()
    assert (vectors.grad[0, 2:] == 0).all()


def test_masses_that_meet_in_a_logsumexp_have_finite_gradients(head: RelationHead) -> None:
    states = torch.randn(2, 3, 4).double().requires_grad_()
    mask = torch.tensor([[True, False], [False, False]])
    log_probs = head.log_probs(states, torch.randn(2, 2, 5).double(), mask)
    torch.autograd.backward(log_probs[0].logsumexp(1).sum())
    assert states.grad is not None
    assert states.grad.isfinite().all()


def test_gradient_is_the_slope(head: RelationHead) -> None:
    mask = torch.tensor([[True, True, True], [True, False, True]])

    def real(states: Tensor, vectors: Tensor) -> Tensor:
        return head.log_probs(states, vectors, mask).movedim(1, 0)[:, mask]

    given = (torch.randn(2, 2, 4), torch.randn(2, 3, 5))
    assert torch.autograd.gradcheck(real, [tensor.double().requires_grad_() for tensor in given])


@pytest.mark.parametrize(("rows", "queries", "relations"), [(0, 2, 3), (2, 0, 3), (2, 3, 0)])
def test_nothing_to_choose(head: RelationHead, rows: int, queries: int, relations: int) -> None:
    log_probs = head.log_probs(
        torch.randn(rows, queries, 4).double(),
        torch.randn(rows, relations, 5).double(),
        torch.ones(rows, relations, dtype=torch.bool),
    )
    assert log_probs.shape == (rows, queries, relations)


def test_wrong_shapes_are_refused_by_name(head: RelationHead) -> None:
    states, vectors = torch.randn(2, 3, 4).double(), torch.randn(2, 3, 5).double()
    mask = torch.ones(2, 3, dtype=torch.bool)
    with pytest.raises(ShapeError, match="states_BSD"):
        head.log_probs(states[:1], vectors, mask)
    with pytest.raises(ShapeError, match="vectors_BRW"):
        head.log_probs(states, vectors[:, :, :4], mask)
    with pytest.raises(ShapeError, match="mask_BR"):
        head.log_probs(states, vectors, mask[0])


def test_given_vectors_come_first_and_stay_then_learned_ones_then_the_shared_one() -> None:
    given = torch.arange(6.0).view(2, 3)
    table = VectorTable(3, learned=2, given_VW=given)
    assert len(table) == 4
    vectors = table(torch.tensor([[0, 1], [2, 3], [-1, -1]]))
    assert torch.equal(vectors[0], given)
    assert torch.equal(vectors[1], table.learned_VW[1:])
    assert torch.equal(vectors[2], table.learned_VW[[0, 0]])
    torch.autograd.backward(vectors.sum())
    assert table.learned_VW.grad is not None
    assert table.learned_VW.grad[:, 0].tolist() == [2.0, 1.0, 1.0]
    assert [name for name, _ in table.named_parameters()] == ["learned_VW"]
    assert "given_VW" in table.state_dict()


def test_a_table_of_unknowns_only() -> None:
    table = VectorTable(3)
    assert len(table) == 0
    assert torch.equal(table(torch.tensor([-1])), table.learned_VW)


def test_vectors_of_another_width_are_refused() -> None:
    with pytest.raises(ShapeError, match="given_VW"):
        VectorTable(3, given_VW=torch.zeros(2, 4))


def test_given_vectors_may_be_tuned() -> None:
    given = torch.randn(2, 3)
    table = VectorTable(3, learned=1, given_VW=given, tuned=True)
    ids = torch.tensor([0, 1, 2, -1])
    vectors = table(ids)
    assert torch.equal(vectors[:2], given)
    vectors.sum().backward()
    assert table.learned_VW.grad is not None
    assert torch.equal(table.learned_VW.grad, torch.ones(4, 3))


def test_a_relation_is_its_type_beside_its_object() -> None:
    vectors = RelationVectors(VectorTable(2, learned=3), VectorTable(4, learned=2), unseen_rate=0.0)
    types, objects = torch.tensor([[0, 2, -1]]), torch.tensor([[1, -1, 0]])
    both = vectors(types, objects)
    assert both.shape == (1, 3, vectors.output_size)
    assert torch.equal(both[..., :2], vectors.types(types))
    assert torch.equal(both[..., 2:], vectors.objects(objects))
    with pytest.raises(ShapeError, match="objects_BR"):
        vectors(types, objects[:, :2])


def test_training_takes_some_types_for_unseen() -> None:
    torch.manual_seed(0)
    vectors = RelationVectors(VectorTable(2, learned=1), VectorTable(2), unseen_rate=0.2)
    types, objects = torch.zeros(100, 50, dtype=torch.long), torch.full((100, 50), -1)
    shared = vectors.types.learned_VW[0]
    is_shared = (vectors(types, objects)[..., :2] == shared).all(2)
    assert float(is_shared.double().mean()) == pytest.approx(0.2, abs=0.03)
    assert not (vectors.eval()(types, objects)[..., :2] == shared).all(2).any()
    assert (types == 0).all()


def test_training_takes_some_objects_for_unseen() -> None:
    torch.manual_seed(0)
    objects = VectorTable(2, given_VW=torch.ones(1, 2))
    vectors = RelationVectors(
        VectorTable(2, learned=1), objects, unseen_rate=0.0, unseen_objects=0.3
    )
    ids = torch.zeros(100, 50, dtype=torch.long)
    is_shared = (vectors(ids, ids)[..., 2:] == objects.learned_VW[0]).all(2)
    assert float(is_shared.double().mean()) == pytest.approx(0.3, abs=0.03)
    assert (vectors.eval()(ids, ids)[..., 2:] == 1).all()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("type_size", 0),
        ("object_size", 0),
        ("hidden_size", 0),
        ("unseen_rate", 1.0),
        ("unseen_objects", -0.1),
    ],
)
def test_config_errors_name_the_field(field: str, value: float) -> None:
    with pytest.raises(InputError, match=f"model.relations.{field}"):
        RelationConfig(**{field: value})  # type: ignore[arg-type]


def test_builds_without_memory() -> None:
    with torch.device("meta"):
        vectors = RelationVectors(VectorTable(2, learned=3), VectorTable(4), unseen_rate=0.0)
        head = RelationHead(4, 6, vectors.output_size)
        log_probs = head.log_probs(
            torch.empty(2, 3, 4),
            vectors(torch.empty(2, 5, dtype=torch.long), torch.empty(2, 5, dtype=torch.long)),
            torch.empty(2, 5, dtype=torch.bool),
        )
    assert log_probs.shape == (2, 3, 5)
