"""The training loop: epochs of batches of windows, with a validation after each epoch.

An update learns from one window of each document of a batch. The backbone's state goes from window
to window without its graph, so learning looks back over one window and memory over all of them.
"""

import math
from contextlib import closing
from dataclasses import asdict
from typing import NoReturn

import torch
from safetensors.torch import save

from lrlm.backbones import Dropout
from lrlm.batching import Collator, training_batches
from lrlm.errors import InputError, LrlmError, StoppedError
from lrlm.models import LanguageModel
from lrlm.runs.config import TrainingConfig
from lrlm.runs.devices import Precision
from lrlm.runs.run import Tensors, copy_into, weights_of
from lrlm.training.batch_plan import BatchPlan, BatchReader, PlannedBatch, SplitDocuments
from lrlm.training.checkpoint import Checkpoint
from lrlm.training.environment import Position, Speed, TrainingEnvironment, TrainingStatus
from lrlm.training.optimiser import GradientAccumulator, Optimiser, copies, under
from lrlm.training.schedule import make_schedule
from lrlm.training.validation import Validation, validate

_NATS, _STOP, _SAVE, _TIME_UP = range(4)
"""What travels behind the gradients: the loss, and the wishes of any process."""

_COST_OF_VALIDATION = 0.4
"""Of a token, in the time of training with one; a guess, until there was a validation."""


class Trainer:
    """Trains one model; `restore` goes on from a checkpoint."""

    def __init__(
        self,
        model: LanguageModel,
        documents: tuple[SplitDocuments, SplitDocuments],
        collator: Collator,
        config: TrainingConfig,
        *,
        backbone_rate: float = 1.0,
        environment: TrainingEnvironment | None = None,
    ) -> None:
        """`documents` are those to train on and those to validate with.

        The weights of a pretrained language model learn at `backbone_rate` times the rate of all
        others.
        """
        self.model = model
        self.config = config
        self.position = Position()
        self.schedule = make_schedule(config)
        self.optimiser = Optimiser(
            model,
            weight_decay=config.weight_decay,
            extra=4,
            shares={"backbone.": backbone_rate},
            method=config.optimiser,
            with_adam=model.learned_with_adam,
        )
        self._environment = environment or TrainingEnvironment()
        self._processes = self._environment.processes
        self._train, self._valid = documents
        self._lengths = self._train.lengths
        self._valid_tokens = sum(self._valid.lengths)
        self._collator = collator
        self._precision = Precision(config.precision, self._environment.device, model)
        self._gradients = GradientAccumulator(model, self._precision, self._environment.device)
        self._reader = BatchReader(
            self._train,
            collator,
            processes=self._processes.count,
            rank=self._processes.rank,
            parts=config.accumulate,
        )
        self._best: Tensors = {}
        self._start = self._last_save = self._environment.clock()
        self._speed = Speed(self._environment.clock, 0)
        torch.manual_seed((config.seed * 1_000_003 + self._processes.rank) % 2**63)

    def run(self) -> Position:
        """Train until the epochs, the minutes or the patience are used up."""
        self._processes.spread(list(weights_of(self.model).values()))
        self._last_save = self._environment.clock()
        self._start = self._last_save - self.position.seconds
        self._speed = Speed(self._environment.clock, self.position.tokens)
        while not self._is_over():
            self._epoch()
        return self.position

    def restore(self, checkpoint: Checkpoint) -> None:
        """Go on from a checkpoint instead of from the beginning."""
        if checkpoint.state["processes"] != self._processes.count:
            raise InputError(
                f"this run is trained by {checkpoint.state['processes']} processes, not by"
                f" {self._processes.count}; resume it with as many as before"
            )
        self.position = Position(**checkpoint.state["position"])
        self.schedule.restore(checkpoint.state["schedule"])
        copy_into(weights_of(self.model), checkpoint.weights)
        self.optimiser.restore(checkpoint.optimiser)
        device = self._environment.device
        self._best = {name: tensor.to(device) for name, tensor in checkpoint.best.items()}
        self._gradients.restore(checkpoint.own(self._processes.rank))

    def _is_over(self) -> bool:
        is_read = self.position.epoch >= self.config.epochs
        return is_read or self.schedule.gives_up or self._is_time_up()

    def _epoch(self) -> None:
        position = self.position
        batches = training_batches(
            self._lengths, self.config.batch_size, seed=self.config.seed, epoch=position.epoch
        )
        self._set_dropout()
        has_time = True
        with closing(self._reader.read(batches[position.batch :])) as planned:
            for batch in planned:
                has_time = self._batch(batch, len(batches))
                if not has_time:
                    break
        is_best = self._judge(self._validation())
        if has_time:  # else the epoch is not over
            if not is_best and self.schedule.goes_back:
                copy_into(weights_of(self.model), under("weights/", self._best))
                self.optimiser.restore(under("optimiser/", self._best))
            position.epoch += 1
            position.batch = 0
        self._save()

    def _set_dropout(self) -> None:
        """Let dropout have the share of this epoch."""
        for module in self.model.modules():
            if isinstance(module, Dropout):
                module.share = min((self.position.epoch + 1) / self.config.dropout_epochs, 1.0)

    def _batch(self, planned: PlannedBatch, batches: int) -> bool:
        """Learn from one of the epoch's batches; tell whether there is time for more."""
        position, plan = self.position, planned.plan
        self._gradients.begin(planned.windows)
        while position.window < plan.updates:
            done = (position.batch + position.window / plan.updates) / batches
            self._update(plan, self._progress(done))
            stop, save_now, time_up = (self.optimiser.extra[_STOP:] > 0).tolist()
            if save_now or stop:
                self._save()
            if stop:
                self._stop()
            if time_up:
                return False
        position.window = 0
        position.batch += 1
        self._gradients.end()
        return True

    def _update(self, plan: BatchPlan, progress: float) -> None:
        """Learn from the next window of every document of the batch."""
        position, extra = self.position, self.optimiser.extra
        self.optimiser.clear()
        extra[_NATS] = self._gradients.add(position.window, plan.weight)
        extra[_STOP] = float(self._environment.interruption.is_wanted)
        if self._processes.is_first:
            extra[_SAVE] = float(self._is_save_due())
            extra[_TIME_UP] = float(self._is_time_up())
        self._processes.add(self.optimiser.buffer)
        nats = float(extra[_NATS])
        length = self.optimiser.clip(self.config.clip)
        if not (math.isfinite(nats) and math.isfinite(length)):
            raise LrlmError(self._describe_failure(plan, nats))
        rate = self.schedule.rate(position.updates, progress)
        self.optimiser.step(rate)
        tokens = plan.tokens[position.window]
        position.window += 1
        position.updates += 1
        position.tokens += tokens
        position.logged_nats += nats
        position.logged_tokens += tokens
        position.seconds = self._seconds()
        self._report(nats / tokens, progress)
        if position.updates % self.config.log_updates == 0:
            self._log(rate, length)

    def _describe_failure(self, plan: BatchPlan, nats: float) -> str:
        numbers = sorted(number for share in plan.shares for number in share)
        names = ", ".join(repr(self._train.documents[number].id) for number in numbers)
        what = "the gradient" if math.isfinite(nats) else f"the loss ({nats})"
        position = self.position
        return (
            f"{what} is not finite in epoch {position.epoch + 1}, batch {position.batch + 1},"
            f" window {position.window + 1}; the weights were not updated. Lower"
            f" training.learning_rate or training.clip, or look at its documents: {names}"
        )

    def _validation(self) -> Validation:
        """Score the validation documents; where a stop is wished, save instead and stop."""
        before = self._environment.clock()
        validation = validate(
            self.model,
            self._valid,
            self._collator,
            batch_size=self.config.validation_batch_size,
            precision=self._precision,
            processes=self._processes,
            device=self._environment.device,
            is_unwanted=lambda: self._environment.interruption.is_wanted,
        )
        if validation is None:
            self._save()
            self._stop()
        self.position.validation_seconds = self._environment.clock() - before
        self.position.seconds = self._seconds()
        self.position.perplexity = validation.perplexity
        return validation

    def _judge(self, validation: Validation) -> bool:
        """Keep the weights if they are the best so far, and tell whether they are."""
        position = self.position
        is_best = self.schedule.judge(validation.nats_per_word)
        if is_best:
            weights = copies(weights_of(self.model))
            if self.schedule.can_go_back:
                moments = copies(self.optimiser.tensors())
                self._best = {f"weights/{name}": each for name, each in weights.items()}
                self._best |= {f"optimiser/{name}": each for name, each in moments.items()}
            if self._processes.is_first:
                self._environment.keep_best(weights)
        if self._environment.metrics is not None:
            self._environment.metrics.add(
                "valid",
                update=position.updates,
                epoch=position.epoch + 1,
                nats_per_token=validation.nats_per_word,
                perplexity=validation.perplexity,
                is_best=is_best,
                seconds=round(position.seconds, 1),
            )
        self._environment.reporter.message(
            f"epoch {position.epoch + 1}: validation perplexity {validation.perplexity:.2f}"
            f" after {position.seconds / 60:.1f} min{', the best so far' if is_best else ''}"
        )
        return is_best

    def _progress(self, share_of_epoch: float) -> float:
        """Tell how much of all training is done, by epochs or by minutes, from 0 to 1."""
        progress = (self.position.epoch + share_of_epoch) / self.config.epochs
        if self.config.minutes is not None:
            progress = max(progress, self.position.seconds / self._budget(self.config.minutes))
        return min(progress, 1.0)

    def _budget(self, minutes: float) -> float:
        """Give the seconds of a budget without those that the last validation will take."""
        position = self.position
        last = position.validation_seconds
        if not last and position.tokens:
            per_token = position.seconds / position.tokens
            last = _COST_OF_VALIDATION * per_token * self._valid_tokens
        return max(60 * minutes - last, 1e-9)

    def _is_time_up(self) -> bool:
        minutes = self.config.minutes
        return minutes is not None and self._seconds() >= self._budget(minutes)

    def _seconds(self) -> float:
        """Give the time of training and validating so far, all sessions together."""
        return self._environment.clock() - self._start

    def _is_save_due(self) -> bool:
        return self._environment.clock() - self._last_save >= 60 * self.config.checkpoint_minutes

    def _report(self, loss: float, progress: float) -> None:
        position = self.position
        self._environment.reporter.status(
            TrainingStatus(
                epoch=position.epoch + 1,
                share=progress,
                loss=loss,
                tokens_per_second=self._speed.at(position.tokens),
                seconds_left=position.seconds * (1 / progress - 1) if progress > 0 else None,
                perplexity=position.perplexity,
            )
        )

    def _log(self, rate: float, gradient: float) -> None:
        position = self.position
        if self._environment.metrics is not None:
            self._environment.metrics.add(
                "train",
                update=position.updates,
                epoch=position.epoch + 1,
                loss=position.logged_nats / position.logged_tokens,
                rate=rate,
                gradient=gradient,
                tokens_per_second=round(self._speed.at(position.tokens)),
                seconds=round(position.seconds, 1),
            )
        position.logged_nats, position.logged_tokens = 0.0, 0

    def _save(self) -> None:
        """Write a checkpoint, all processes together."""
        if self._environment.checkpoints is not None:
            everybody = self._processes.collect(save(self._gradients.own_tensors()))
            if self._processes.is_first:
                metrics = self._environment.metrics
                checkpoint = Checkpoint(
                    state={
                        "position": asdict(self.position),
                        "schedule": self.schedule.state(),
                        "processes": self._processes.count,
                    },
                    weights=weights_of(self.model),
                    optimiser=self.optimiser.tensors(),
                    best=self._best,
                    processes=everybody,
                    metrics=b"" if metrics is None else metrics.content(),
                )
                self._environment.checkpoints.write(checkpoint)
        self._last_save = self._environment.clock()

    def _stop(self) -> NoReturn:
        position = self.position
        reason = self._environment.interruption.reason or "another process of the run"
        raise StoppedError(
            f"stopped by {reason} in epoch {position.epoch + 1}, batch {position.batch + 1};"
            " everything is saved, and the run can be resumed"
        )
