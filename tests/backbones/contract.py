"""What every backbone must hold; a backbone's test class inherits it and builds the backbone."""

import pytest
import torch
from torch import Tensor

from lrlm.backbones import Backbone, State
from lrlm.errors import InputError, LrlmError, ShapeError

INPUT_SIZE = 6
TOLERANCE = 1e-10


class BackboneContract:
    def build(self, *, dropout: float = 0.0) -> Backbone:
        """A small backbone with INPUT_SIZE inputs whose memory covers 60 tokens."""
        raise NotImplementedError

    @pytest.fixture
    def backbone(self) -> Backbone:
        torch.manual_seed(0)
        return self.build().double().eval()

    def test_outputs_and_states_of_windows_equal_one_piece(self, backbone: Backbone) -> None:
        lengths = torch.tensor([37, 60, 1, 0, 22])
        inputs = random_inputs(5, 60)
        whole, whole_state = backbone(inputs, lengths, backbone.initial_state(5))
        generator = torch.Generator().manual_seed(1)
        read = torch.zeros(5, dtype=torch.long)
        state: State = backbone.initial_state(5)
        while (read < lengths).any():
            window = torch.minimum(torch.randint(0, 12, (5,), generator=generator), lengths - read)
            steps = int(window.max())
            part = torch.full((5, steps, INPUT_SIZE), torch.nan, dtype=torch.float64)
            for row in range(5):
                part[row, : window[row]] = inputs[row, read[row] : read[row] + window[row]]
            outputs, state = backbone(part, window, state.detach())
            for row in range(5):
                expected = whole[row, read[row] : read[row] + window[row]]
                close(outputs[row, : window[row]], expected)
                assert (outputs[row, window[row] :] == 0).all()
            read += window
        probe = random_inputs(5, 3, seed=7)
        full = torch.full((5,), 3)
        close(backbone(probe, full, state)[0], backbone(probe, full, whole_state)[0])

    def test_a_step_is_a_window_of_one_token(self, backbone: Backbone) -> None:
        inputs = random_inputs(3, 9)
        whole, _ = backbone(inputs, torch.full((3,), 9), backbone.initial_state(3))
        state: State = backbone.initial_state(3)
        step = backbone.stepper()
        with torch.inference_mode():
            for place in range(9):
                if place == 5:  # rows may be dropped, turned round and doubled on the way
                    order = torch.tensor([2, 0, 0])
                    state, inputs, whole = state.select(order), inputs[order], whole[order]
                outputs, state = step(inputs[:, place], state)
                close(outputs, whole[:, place])

    def test_padding_is_never_read(self, backbone: Backbone) -> None:
        lengths = torch.tensor([4, 0, 7])
        inputs = random_inputs(3, 9).requires_grad_()
        padding = torch.arange(9)[None, :, None] >= lengths[:, None, None]
        spoiled = inputs.detach().masked_fill(padding, torch.nan).requires_grad_()
        results = []
        for given in (inputs, spoiled):
            outputs, state = backbone(given, lengths, backbone.initial_state(3))
            backbone.zero_grad()
            outputs.square().sum().backward()
            results.append((outputs, given.grad, gradients(backbone)))
            probe = backbone(random_inputs(3, 2), torch.full((3,), 2), state)[0]
            assert probe.isfinite().all()
        (clean, clean_grad, clean_weights), (other, other_grad, other_weights) = results
        assert torch.equal(clean, other)
        assert clean_grad is not None
        assert other_grad is not None
        assert torch.equal(clean_grad, other_grad)
        assert (clean_grad[padding.expand_as(clean_grad)] == 0).all()
        assert all(map(torch.equal, clean_weights, other_weights))
        assert (clean[padding.expand_as(clean)] == 0).all()

    def test_row_of_length_zero_keeps_its_state(self, backbone: Backbone) -> None:
        _, state = backbone(random_inputs(2, 6), torch.tensor([6, 3]), backbone.initial_state(2))
        _, same = backbone(random_inputs(2, 4, seed=1), torch.tensor([0, 0]), state)
        _, other = backbone(random_inputs(2, 4, seed=1), torch.tensor([4, 0]), state)
        probe, full = random_inputs(2, 3, seed=2), torch.full((2,), 3)
        expected = backbone(probe, full, state)[0]
        close(backbone(probe, full, same)[0], expected)
        close(backbone(probe, full, other)[0][1], expected[1])

    @pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-9), (torch.float32, 1e-5)])
    def test_batch_mates_change_nothing(
        self, backbone: Backbone, dtype: torch.dtype, tolerance: float
    ) -> None:
        backbone = backbone.to(dtype)
        lengths = torch.tensor([5, 11, 2, 8])
        inputs = random_inputs(4, 11).to(dtype)
        _, state = backbone(
            random_inputs(4, 6).to(dtype), torch.tensor([6, 0, 2, 5]), backbone.initial_state(4)
        )
        together, _ = backbone(inputs, lengths, state)
        for row in range(4):
            index = torch.tensor([row])
            alone, _ = backbone(inputs[index, : lengths[row]], lengths[index], state.select(index))
            close(together[row, : lengths[row]], alone[0], tolerance)

    def test_selected_rows_continue_as_they_would(self, backbone: Backbone) -> None:
        _, state = backbone(random_inputs(3, 6), torch.tensor([6, 0, 4]), backbone.initial_state(3))
        probe, full = random_inputs(3, 4, seed=1), torch.full((3,), 4)
        expected, _ = backbone(probe, full, state)
        rows = torch.tensor([2, 0, 2])
        assert state.select(rows).rows == 3
        close(backbone(probe[rows], full, state.select(rows))[0], expected[rows])

    def test_an_input_never_changes_earlier_outputs(self, backbone: Backbone) -> None:
        inputs, lengths = random_inputs(1, 8), torch.tensor([8])
        outputs, _ = backbone(inputs, lengths, backbone.initial_state(1))
        for step in range(8):
            changed = inputs.clone()
            changed[0, step] += torch.arange(INPUT_SIZE)  # a norm would take away what is constant
            others, _ = backbone(changed, lengths, backbone.initial_state(1))
            assert torch.equal(others[0, :step], outputs[0, :step])
            assert not torch.isclose(others[0, step:], outputs[0, step:]).all(dim=1).any()

    def test_dropout_is_inactive_in_evaluation(self) -> None:
        torch.manual_seed(0)
        backbone = self.build(dropout=0.5).double()
        inputs, lengths = random_inputs(2, 6), torch.tensor([6, 3])

        def outputs() -> Tensor:
            result: Tensor = backbone(inputs, lengths, backbone.initial_state(2))[0]
            return result

        assert not torch.equal(outputs(), outputs())
        backbone.eval()
        assert torch.equal(outputs(), outputs())

    def test_every_parameter_gets_a_gradient(self, backbone: Backbone) -> None:
        backbone.train()
        _, state = backbone(random_inputs(2, 6), torch.tensor([6, 3]), backbone.initial_state(2))
        outputs, _ = backbone(random_inputs(2, 6), torch.tensor([6, 3]), state.detach())
        (outputs * random_inputs(2, 6, width=outputs.shape[2], seed=3)).sum().backward()
        for name, parameter in backbone.named_parameters():
            assert parameter.grad is not None, name
            assert (parameter.grad != 0).any(), name

    def test_gradient_is_the_slope(self, backbone: Backbone) -> None:
        state = backbone.initial_state(2)
        lengths = torch.tensor([3, 1])
        inputs = random_inputs(2, 3).requires_grad_()
        assert torch.autograd.gradcheck(lambda x: backbone(x, lengths, state)[0], inputs)

    def test_nothing_to_read(self, backbone: Backbone) -> None:
        none, empty = torch.zeros(0, dtype=torch.long), backbone.initial_state(0)
        outputs, state = backbone(random_inputs(0, 4), none, empty)
        assert outputs.shape == (0, 4, backbone.output_size)
        assert state.rows == 0
        outputs, state = backbone(
            random_inputs(2, 0), torch.zeros(2, dtype=torch.long), backbone.initial_state(2)
        )
        assert outputs.shape == (2, 0, backbone.output_size)
        assert state.rows == 2

    def test_wrong_windows_are_refused_by_name(self, backbone: Backbone) -> None:
        state = backbone.initial_state(2)
        lengths = torch.tensor([3, 3])
        with pytest.raises(ShapeError, match="inputs_BTI"):
            backbone(random_inputs(2, 3, width=INPUT_SIZE + 1), lengths, state)
        with pytest.raises(ShapeError, match="lengths_B must have the shape"):
            backbone(random_inputs(2, 3), lengths[:1], state)
        with pytest.raises(ShapeError, match="state remembers 3 rows"):
            backbone(random_inputs(2, 3), lengths, backbone.initial_state(3))
        with pytest.raises(InputError, match="State"):
            backbone(random_inputs(2, 3), lengths, OtherState())

    def test_builds_without_memory(self) -> None:
        with torch.device("meta"):
            backbone = self.build()
        assert all(parameter.is_meta for parameter in backbone.parameters())
        assert backbone.input_size == INPUT_SIZE

    def test_errors_are_of_one_family(self, backbone: Backbone) -> None:
        with pytest.raises(LrlmError):
            backbone(random_inputs(2, 3), torch.tensor([3, 3]), backbone.initial_state(5))

    def test_a_state_survives_a_checkpoint(self, backbone: Backbone) -> None:
        lengths = torch.tensor([6, 3])
        _, state = backbone(random_inputs(2, 6), lengths, backbone.initial_state(2))
        tensors = {name: tensor.clone() for name, tensor in state.tensors().items()}
        expected, _ = backbone(random_inputs(2, 6, seed=1), lengths, state)
        again, _ = backbone(random_inputs(2, 6, seed=1), lengths, backbone.restore_state(tensors))
        assert torch.equal(again, expected)


class OtherState(State):
    @property
    def rows(self) -> int:
        return 2

    def tensors(self) -> dict[str, Tensor]:
        return {}

    def detach(self) -> "OtherState":
        return self

    def select(self, rows: Tensor) -> "OtherState":
        return self


def random_inputs(rows: int, steps: int, *, width: int = INPUT_SIZE, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(rows, steps, width, dtype=torch.float64, generator=generator)


def gradients(backbone: Backbone) -> list[Tensor]:
    return [
        torch.zeros_like(parameter) if parameter.grad is None else parameter.grad.clone()
        for parameter in backbone.parameters()
    ]


def close(actual: Tensor, expected: Tensor, tolerance: float = TOLERANCE) -> None:
    torch.testing.assert_close(actual, expected, rtol=tolerance, atol=tolerance)
