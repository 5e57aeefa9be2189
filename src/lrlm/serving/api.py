"""The API of the explorer: what can be asked, and how an answer is made without keeping others.

Every path begins with `/api/v1`. Models work in threads beside the event loop, see `work`; this
module finds the model and the topic of a request, waits for the answer as long as somebody wants
it, and writes it as JSON.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from functools import partial
from typing import Annotated, Any, NamedTuple

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import StreamingResponse

from lrlm import __version__
from lrlm.annotation.annotation import Annotation
from lrlm.annotation.html import annotation_to_html
from lrlm.errors import InputError, LrlmError
from lrlm.generation.generated_text import Piece, piece_to_dict
from lrlm.knowledge import Topic
from lrlm.plain_data import json_text
from lrlm.serving import answers
from lrlm.serving.explorer import (
    Explorer,
    TextOfTopic,
    annotate_together,
    lattice_under,
    score_under,
    write,
    write_piecewise,
    written_to_dict,
    written_to_html,
)
from lrlm.serving.limits import LONGEST_NAME, MOST_FOUND, ServerLimits
from lrlm.serving.requests import (
    AnnotateManyRequest,
    AnnotateRequest,
    GenerateRequest,
    LatticeRequest,
    ScoreRequest,
    StreamRequest,
    TopicBody,
)
from lrlm.serving.work import Batcher, GivenUpError, Made, Order, OverloadedError, Workshop

_LOG = logging.getLogger(__name__)
_JSON = "application/json"
_LINES = "application/x-ndjson"
_EVENTS = "text/event-stream"


class TooSlowError(LrlmError):
    """A request took longer than requests may."""


class _ToAnnotate(NamedTuple):
    """One text in the queue, and how its annotation is written."""

    text: TextOfTopic
    written: Callable[[Annotation], str]


class Desk:
    """Takes requests, and has the work done that they need."""

    def __init__(self, explorer: Explorer, limits: ServerLimits) -> None:
        self.explorer = explorer
        self._limits = limits
        self._lookups = Workshop("topics", threads=1, most_waiting=limits.waiting)
        self._writers = Workshop("writers", threads=limits.writers, most_waiting=limits.waiting)
        self._annotators: dict[str, Batcher[_ToAnnotate, str]] = {
            name: Batcher(
                partial(self._annotate, name),
                name=f"annotates {name}",
                most_waiting=limits.waiting,
                together=limits.together,
            )
            for name in explorer.models
        }

    @property
    def waiting(self) -> int:
        """Requests that wait or are being worked on."""
        annotating = sum(each.taken for each in self._annotators.values())
        return self._lookups.taken + self._writers.taken + annotating

    def close(self) -> None:
        """Let begun work end."""
        self._lookups.close()
        self._writers.close()
        for annotator in self._annotators.values():
            annotator.close()

    def _annotate(self, name: str, given: Sequence[_ToAnnotate]) -> Sequence[str | Exception]:
        """Annotate what waits together, and write every annotation, beside the event loop."""
        model = self.explorer.models[name]
        made = annotate_together(name, model, [each.text for each in given])
        return [
            result if isinstance(result, Exception) else each.written(result)
            for each, result in zip(given, made, strict=True)
        ]

    async def while_wanted(self, request: Request, work: Awaitable[Made]) -> Made:
        """Wait for work while the client is there and time is left; else stop it."""
        working = asyncio.ensure_future(work)
        leaving = asyncio.ensure_future(_client_leaves(request))
        try:
            done, _ = await asyncio.wait(
                {working, leaving},
                timeout=self._limits.seconds,
                return_when=asyncio.FIRST_COMPLETED,
            )
            if working in done:
                return working.result()
            if leaving in done:
                raise GivenUpError("the client has gone")
            raise self.too_slow()
        finally:
            working.cancel()
            leaving.cancel()

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
        if isinstance(given, str):
            return await self._lookups.do(lambda _: self.explorer.topic(given))
        return await self._lookups.do(lambda _: given.to_topic())

    async def look_up(self, job: Callable[[], Made]) -> Made:
        """Read topics."""
        return await self._lookups.do(lambda _: job())

    async def annotate(
        self, model: str | None, texts: Sequence[TextOfTopic], written: Callable[[Annotation], str]
    ) -> list[str]:
        """Annotate texts together with those of other requests."""
        batcher = self._annotators[self.name_of(model)]
        if len(texts) > 1 and len(texts) > batcher.room:
            raise OverloadedError("the server has too much to do; try again in a moment")
        results = await asyncio.gather(
            *(batcher.do(_ToAnnotate(text, written)) for text in texts), return_exceptions=True
        )
        for number, result in enumerate(results):
            if isinstance(result, InputError) and len(texts) > 1:
                raise InputError(f"texts[{number}]: {result}") from None
            if isinstance(result, BaseException):
                raise result
        return [result for result in results if isinstance(result, str)]

    async def write(self, job: Callable[[Order], Made]) -> Made:
        """Generate, score or draw."""
        return await self._writers.do(job)

    async def pieces(self, asked: StreamRequest) -> AsyncIterator[Piece]:
        """Generate one text, and give each piece as soon as it is there."""
        model = self.explorer.model(asked.model)
        topic = await self.topic(asked.topic)
        job = self._writers.stream(
            lambda _: write_piecewise(model, topic, asked.options(), seed=asked.seed)
        )
        async for piece in job:
            yield piece


async def _client_leaves(request: Request) -> None:
    """Wait until the client has closed the connection; the request itself has been read."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    told = {
        400: "the request cannot be read",
        401: "a token is wanted",
        403: "a page of another origin asks",
        404: "there is no such model or topic",
        408: "the request took too long to arrive",
        413: "the request is too large",
        421: "the server does not go by that name",
        422: "something in the request cannot be used",
        500: "something is wrong on the server",
        503: "the server has too much to do; try again in a moment",
        504: "it took too long",
    }
    return {
        status: {"model": answers.ErrorAnswer, "description": told[status]} for status in statuses
    }


_ALWAYS = (400, 401, 403, 404, 408, 413, 421, 422, 500, 503, 504)


def _json_answer(model: type, **more: Any) -> dict[str, Any]:
    return {"responses": {200: {"model": model, **more}, **_refusals(*_ALWAYS)}}


def _or_html(model: type) -> dict[str, Any]:
    page = {"text/html": {"schema": {"type": "string"}}}
    return _json_answer(model, content=page, description="as JSON, or as a page in one file")


def _json(content: str) -> Response:
    return Response(content, media_type=_JSON)


def _page(content: str, name: str) -> Response:
    headers = {"content-disposition": f'attachment; filename="{name}.html"'}
    return Response(content, media_type="text/html", headers=headers)


def router_for(desk: Desk) -> APIRouter:  # noqa: PLR0915  one route after the other
    """Give all routes of the API, answered by this desk."""
    router = APIRouter(prefix="/api/v1", default_response_class=Response)
    explorer = desk.explorer

    @router.get(
        "/health",
        summary="Is the server there?",
        responses={200: {"model": answers.HealthAnswer}, **_refusals(400, 403, 408, 413, 421)},
    )
    async def health() -> Response:
        """Answer at once, whatever else goes on; needs no token."""
        content = {"status": "ok", "version": __version__, "waiting": desk.waiting}
        return _json(json_text(content))

    @router.get("/models", summary="Which models are there?", **_json_answer(answers.ModelsAnswer))
    async def models() -> Response:
        """Give the models; the first is used where a request names none."""
        return _json(json_text({"models": explorer.described(), "graph": explorer.graph}))

    @router.get("/examples", summary="Texts to begin with", **_json_answer(answers.ExamplesAnswer))
    async def examples(request: Request) -> Response:
        """Give some texts with their topics."""
        found = await desk.while_wanted(request, desk.look_up(explorer.examples))
        return _json(json_text({"examples": found}))

    @router.get("/topics", summary="Find topics by name", **_json_answer(answers.TopicsAnswer))
    async def topics(
        request: Request,
        query: Annotated[str, Query(min_length=1, max_length=LONGEST_NAME, examples=["norway"])],
        limit: Annotated[int, Query(ge=1, le=MOST_FOUND)] = 10,
    ) -> Response:
        """Search the graph and what the models were trained on, the most alike first."""
        search = desk.look_up(lambda: explorer.topics.search(query, limit))
        found = await desk.while_wanted(request, search)
        names = answers.FoundTopicAnswer.model_fields
        content = [{name: getattr(each, name) for name in names} for each in found]
        return _json(json_text({"topics": content}))

    @router.get("/topic", summary="A topic with its facts", **_json_answer(answers.TopicAnswer))
    async def topic(
        request: Request,
        id: Annotated[str, Query(min_length=1, max_length=LONGEST_NAME, examples=["Norway"])],  # noqa: A002
    ) -> Response:
        """Give a topic by its id."""
        look_up = desk.look_up(lambda: explorer.topics.described(id))
        return _json(json_text(await desk.while_wanted(request, look_up)))

    @router.post("/topic", summary="Read a topic", **_json_answer(answers.TopicAnswer))
    async def read_topic(request: Request, given: TopicBody) -> Response:
        """Read a topic that was written by hand, and give it with its names cleaned."""
        made = await desk.while_wanted(request, desk.topic(given))
        content = made.to_dict()
        for relation in content["relations"]:
            relation.setdefault("label", relation["type"])
        return _json(json_text(content))

    @router.post("/annotate", summary="Annotate a text", **_or_html(answers.AnnotationAnswer))
    async def annotate(request: Request, asked: AnnotateRequest) -> Response:
        """Say for every name in a text which facts it may have come from, and how probably."""

        def written(annotation: Annotation) -> str:
            if asked.format == "html":
                return annotation_to_html(annotation, threshold=asked.threshold)
            return annotation.to_json(threshold=asked.threshold)

        async def work() -> str:
            text = TextOfTopic(asked.text, await desk.topic(asked.topic))
            (content,) = await desk.annotate(asked.model, [text], written)
            return content

        content = await desk.while_wanted(request, work())
        return _json(content) if asked.format == "json" else _page(content, "annotation")

    @router.post(
        "/annotate/batch",
        summary="Annotate several texts",
        **_json_answer(answers.AnnotationsAnswer),
    )
    async def annotate_batch(request: Request, asked: AnnotateManyRequest) -> Response:
        """Annotate texts side by side; if one cannot be read, none is, and it is named."""

        async def work() -> list[str]:
            texts = [TextOfTopic(each.text, await desk.topic(each.topic)) for each in asked.texts]
            return await desk.annotate(
                asked.model, texts, lambda made: made.to_json(threshold=asked.threshold)
            )

        made = await desk.while_wanted(request, work())
        return _json(f'{{"annotations":[{",".join(made)}]}}')

    @router.post("/generate", summary="Generate texts", **_or_html(answers.GenerationAnswer))
    async def generate(request: Request, asked: GenerateRequest) -> Response:
        """Write texts about a topic, and say of every piece where it comes from."""
        name = desk.name_of(asked.model)

        async def work() -> str:
            topic = await desk.topic(asked.topic)

            def job(order: Order) -> str:
                options, seed = asked.options(), asked.seed
                texts = write(
                    explorer.models[name], topic, options, samples=asked.samples, seed=seed,
                    check=order.check,
                )  # fmt: skip
                if asked.format == "html":
                    return written_to_html(name, topic, texts, seed=seed)
                return json_text(written_to_dict(name, topic, options, texts, seed=seed))

            return await desk.write(job)

        content = await desk.while_wanted(request, work())
        return _json(content) if asked.format == "json" else _page(content, "texts")

    @router.post(
        "/generate/stream",
        summary="Generate a text, piece by piece",
        responses={
            200: {
                "description": "One JSON object a line; as server-sent events if asked for",
                "content": {
                    _LINES: {"schema": answers.StreamedLine.model_json_schema()},
                    _EVENTS: {"schema": {"type": "string"}},
                },
            },
            **_refusals(*_ALWAYS),
        },
    )
    async def generate_stream(request: Request, asked: StreamRequest) -> Response:
        """Write one text, and give every piece of it as soon as it is there.

        Every line is `{"piece": …}`; the last is `{"end": true}`, or `{"error": …}` where the text
        could not be ended. With `Accept: text/event-stream` they are server-sent events.
        """
        as_events = _EVENTS in request.headers.get("accept", "")
        lines = _lines(desk, desk.pieces(asked))
        # What is wrong with the request is known with the first piece: it still has a status then.
        first = await desk.while_wanted(request, anext(lines))

        async def body() -> AsyncIterator[str]:
            yield _line(first, as_event=as_events)
            async for line in lines:
                yield _line(line, as_event=as_events)

        return StreamingResponse(body(), media_type=_EVENTS if as_events else _LINES)

    @router.post("/score", summary="Score a text", **_json_answer(answers.ScoresAnswer))
    async def score(request: Request, asked: ScoreRequest) -> Response:
        """Say how probable a text is, in all and piece by piece, under one or several models."""
        names = [desk.name_of(name) for name in asked.models] or list(explorer.models)

        async def work() -> list[dict[str, Any]]:
            text = TextOfTopic(asked.text, await desk.topic(asked.topic))

            def job(order: Order) -> list[dict[str, Any]]:
                scores = []
                for name in names:
                    order.check()
                    found = score_under(explorer.models[name], text)
                    scores.append({"model": name, **found.to_dict()})
                return scores

            return await desk.write(job)

        return _json(json_text({"scores": await desk.while_wanted(request, work())}))

    @router.post(
        "/lattice", summary="The lattice of a sentence", **_json_answer(answers.LatticeAnswer)
    )
    async def lattice(request: Request, asked: LatticeRequest) -> Response:
        """Give boundaries, words and candidates of a part of a text, with posteriors.

        The part grows until no candidate reaches out of it.
        """
        name = desk.name_of(asked.model)

        async def work() -> str:
            text = TextOfTopic(asked.text, await desk.topic(asked.topic))
            model = explorer.models[name]
            return await desk.write(
                lambda _: lattice_under(
                    name, model, text, start=asked.start, end=asked.end
                ).to_json()
            )

        return _json(await desk.while_wanted(request, work()))

    return router


async def _lines(desk: Desk, pieces: AsyncIterator[Piece]) -> AsyncIterator[dict[str, Any]]:
    """Give the lines of a stream within the time of a request; errors after the first are lines."""
    loop = asyncio.get_running_loop()
    end = loop.time() + desk.seconds
    has_begun = False
    try:
        while True:
            try:
                piece = await asyncio.wait_for(anext(pieces), end - loop.time())
            except StopAsyncIteration:
                break
            except TimeoutError:
                raise desk.too_slow() from None
            yield {"piece": piece_to_dict(piece)}
            has_begun = True
    except LrlmError as error:
        if not has_begun:
            raise
        yield {"error": str(error)}
        return
    except Exception:
        if not has_begun:
            raise
        _LOG.exception("a text that was being streamed ended with an error")
        yield {"error": "something went wrong here"}
        return
    yield {"end": True}


def _line(content: dict[str, Any], *, as_event: bool) -> str:
    text = json_text(content)
    return f"data: {text}\n\n" if as_event else f"{text}\n"
