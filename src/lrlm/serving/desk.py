"""Have the work done that requests need: find topics, read texts together, write new ones.

Models work in threads beside the event loop, see `work`. A `Desk` finds the model and the topic of
a request, and waits for the result as long as somebody wants it.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple

from fastapi import Request

from lrlm.annotation.annotation import Annotation
from lrlm.checking.findings import CheckedText
from lrlm.errors import InputError, LrlmError
from lrlm.generation.generated_text import Piece
from lrlm.knowledge import Topic
from lrlm.serving.explorer import (
    CheckChoices,
    Explorer,
    TextOfTopic,
    annotate_together,
    check_together,
    write_piecewise,
)
from lrlm.serving.limits import ServerLimits
from lrlm.serving.requests import StreamRequest, TopicBody
from lrlm.serving.work import (
    Batcher,
    Given,
    GivenUpError,
    Made,
    Order,
    OverloadedError,
    Workshop,
)

_SHARED = 8
"""Texts from which on two threads share a batch; fewer are read almost as fast by one."""
_SHORT_SHARE = 0.6
"""The share of a batch that is read as short texts: so both parts take about as long."""

_REMEMBERED = 128
"""Topics that need not be looked up again."""


class TooSlowError(LrlmError):
    """A request took longer than requests may."""


class _ToAnnotate(NamedTuple):
    """One text in the queue, and how its annotation is written."""

    text: TextOfTopic
    written: Callable[[Annotation], str]


class _ToCheck(NamedTuple):
    """One text in the queue, how it is checked, and how that is written."""

    text: TextOfTopic
    asked: CheckChoices
    written: Callable[[CheckedText], str]


class Desk:
    """Takes requests, and has the work done that they need."""

    def __init__(self, explorer: Explorer, limits: ServerLimits) -> None:
        self.explorer = explorer
        self._limits = limits
        self._topics: dict[str, Topic] = {}
        """The topics that were asked for last."""
        self._lookups = Workshop("topics", threads=1, most_waiting=limits.waiting)
        self._writers = Workshop("writers", threads=limits.writers, most_waiting=limits.waiting)
        self._second_reader = ThreadPoolExecutor(1, thread_name_prefix="lrlm reads beside")
        batcher = partial(Batcher, most_waiting=limits.waiting, together=limits.together)
        self._annotators: dict[str, Batcher[_ToAnnotate, str]] = {
            name: batcher(partial(self._annotate, name), name=f"annotates {name}")
            for name in explorer.models
        }
        self._checkers: dict[str, Batcher[_ToCheck, str]] = {
            name: batcher(partial(self._check, name), name=f"checks {name}")
            for name in explorer.models
        }

    @property
    def waiting(self) -> int:
        """Requests that wait or are being worked on."""
        reading = sum(each.taken for each in self._batchers)
        return self._lookups.taken + self._writers.taken + reading

    @property
    def _batchers(self) -> list[Batcher[Any, str]]:
        return [*self._annotators.values(), *self._checkers.values()]

    def close(self) -> None:
        """Let begun work end."""
        self._lookups.close()
        self._writers.close()
        self._second_reader.shutdown(wait=False, cancel_futures=True)
        for batcher in self._batchers:
            batcher.close()

    def _annotate(self, name: str, given: Sequence[_ToAnnotate]) -> Sequence[str | Exception]:
        """Annotate what waits together, and write every annotation, beside the event loop.

        A large batch is read by two threads at once, the short texts by one and the long ones by
        the other: nobody asks for anything else meanwhile, and texts of about the same length are
        read faster.
        """
        model = self.explorer.models[name]
        results: dict[int, str | Exception] = {}

        def annotate(numbers: Sequence[int]) -> None:
            made = annotate_together(name, model, [given[number].text for number in numbers])
            for number, result in zip(numbers, made, strict=True):
                results[number] = (
                    result if isinstance(result, Exception) else given[number].written(result)
                )

        by_length = sorted(range(len(given)), key=lambda number: len(given[number].text.text))
        if len(given) < _SHARED:
            annotate(by_length)
        else:
            middle = round(_SHORT_SHARE * len(given))
            beside = self._second_reader.submit(annotate, by_length[:middle])
            annotate(by_length[middle:])
            beside.result()
        return [results[number] for number in range(len(given))]

    def _check(self, name: str, given: Sequence[_ToCheck]) -> Sequence[str | Exception]:
        """Check what waits together, and write every result, beside the event loop."""
        model, graph = self.explorer.models[name], self.explorer.graph
        results: dict[int, str | Exception] = {}
        for asked in {each.asked for each in given}:
            numbers = [n for n, each in enumerate(given) if each.asked == asked]
            texts = [given[number].text for number in numbers]
            made = check_together(name, model, texts, asked, graph=graph)
            for number, result in zip(numbers, made, strict=True):
                results[number] = (
                    result if isinstance(result, Exception) else given[number].written(result)
                )
        return [results[number] for number in range(len(given))]

    async def while_wanted(self, request: Request, work: Awaitable[Made]) -> Made:
        """Wait for work while the client is there and time is left; else stop it."""
        has_left = False

        async def stop_when_left() -> None:
            nonlocal has_left
            await _client_leaves(request)
            has_left = True
            time_left.reschedule(0)

        try:
            async with asyncio.timeout(self._limits.seconds) as time_left:
                watching = asyncio.ensure_future(stop_when_left())
                try:
                    return await work
                finally:
                    watching.cancel()
        except TimeoutError:
            raise (GivenUpError("the client has gone") if has_left else self.too_slow()) from None

    def too_slow(self) -> TooSlowError:
        """Give the error of a request whose time is up."""
        return TooSlowError(
            f"this took longer than {self._limits.seconds:g} seconds; ask for less at a time"
        )

    @property
    def seconds(self) -> float:
        """Seconds that a request may take in all."""
        return self._limits.seconds

    def name_of(self, model: str | None) -> str:
        """Find the name of a model; without a name, that of the first."""
        self.explorer.model(model)
        return next(iter(self.explorer.models)) if model is None else model

    async def topic(self, given: str | TopicBody) -> Topic:
        """Look up a topic, or make the one that was sent."""
        if not isinstance(given, str):
            return await self._lookups.do(lambda _: given.to_topic())
        if (known := self._topics.get(given)) is not None:
            return known
        found = await self._lookups.do(lambda _: self.explorer.topic(given))
        if len(self._topics) >= _REMEMBERED:
            del self._topics[next(iter(self._topics))]
        self._topics[given] = found
        return found

    async def look_up(self, job: Callable[[], Made]) -> Made:
        """Read topics."""
        return await self._lookups.do(lambda _: job())

    async def annotate(
        self, model: str | None, texts: Sequence[TextOfTopic], written: Callable[[Annotation], str]
    ) -> list[str]:
        """Annotate texts together with those of other requests."""
        annotator = self._annotators[self.name_of(model)]
        return await _all_of(annotator, [_ToAnnotate(text, written) for text in texts])

    async def check(
        self,
        model: str | None,
        texts: Sequence[TextOfTopic],
        asked: CheckChoices,
        written: Callable[[CheckedText], str],
    ) -> list[str]:
        """Check texts together with those of other requests."""
        checker = self._checkers[self.name_of(model)]
        return await _all_of(checker, [_ToCheck(text, asked, written) for text in texts])

    async def write(self, job: Callable[[Order], Made]) -> Made:
        """Generate, score or draw."""
        return await self._writers.do(job)

    async def pieces(self, asked: StreamRequest) -> AsyncIterator[Piece]:
        """Generate one text, and give each piece as soon as it is there."""
        model = self.explorer.model(asked.model)
        topic = await self.topic(asked.topic)
        job = self._writers.stream(
            lambda order: write_piecewise(
                model, topic, asked.options(), seed=asked.seed, check=order.check
            )
        )
        async for piece in job:
            yield piece


async def _all_of(batcher: Batcher[Given, str], texts: Sequence[Given]) -> list[str]:
    """Have texts read, all or none; of several, the first that cannot be read is named."""
    if len(texts) == 1:
        return [await batcher.do(texts[0])]
    if len(texts) > batcher.room:
        raise OverloadedError("the server has too much to do; try again in a moment")
    results = await asyncio.gather(*map(batcher.do, texts), return_exceptions=True)
    for number, result in enumerate(results):
        if isinstance(result, InputError):
            raise InputError(f"texts[{number}]: {result}") from None
        if isinstance(result, BaseException):
            raise result
    return [result for result in results if isinstance(result, str)]


async def _client_leaves(request: Request) -> None:
    """Wait until the client has closed the connection; the request itself has been read."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
