"""The API of the explorer: what can be asked, and how it is answered.

Every path begins with `/api/v1`. The work itself is done by a `Desk`; this module says what a
request and its answer look like, and writes the answer as JSON.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from dataclasses import asdict
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import StreamingResponse

from lrlm import __version__
from lrlm.annotation.annotation import Annotation
from lrlm.annotation.html import annotation_to_html
from lrlm.checking.findings import CheckedText
from lrlm.checking.html import checked_to_html
from lrlm.errors import LrlmError
from lrlm.generation.generated_text import Piece, piece_to_dict
from lrlm.plain_data import json_text
from lrlm.serving import answers
from lrlm.serving.desk import Desk
from lrlm.serving.explorer import (
    CheckChoices,
    TextOfTopic,
    annotation_to_json,
    lattice_under,
    score_under,
    write,
    written_to_dict,
    written_to_html,
)
from lrlm.serving.limits import LONGEST_NAME, MOST_FOUND
from lrlm.serving.requests import (
    AnnotateManyRequest,
    AnnotateRequest,
    CheckManyRequest,
    CheckRequest,
    GenerateRequest,
    LatticeRequest,
    ScoreRequest,
    StreamRequest,
    TopicBody,
    TurtleRequest,
)
from lrlm.serving.work import Order

_LOG = logging.getLogger(__name__)
_JSON = "application/json"
_LINES = "application/x-ndjson"
_EVENTS = "text/event-stream"


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
        501: "a library is not installed here that this needs",
        503: "the server has too much to do; try again in a moment",
        504: "it took too long",
    }
    return {
        status: {"model": answers.ErrorAnswer, "description": told[status]} for status in statuses
    }


_ALWAYS = (400, 401, 403, 404, 408, 413, 421, 422, 500, 501, 503, 504)


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
        return _json(json_text({"models": explorer.described(), "graph": explorer.graph_name}))

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
        return _json(json_text({"topics": [asdict(each) for each in found]}))

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

    @router.post(
        "/topic/turtle", summary="Read a topic in Turtle", **_json_answer(answers.TurtleAnswer)
    )
    async def read_topic_in_turtle(request: Request, asked: TurtleRequest) -> Response:
        """Read topics in Turtle by the rules of `lrlm kg build`; needs the extra `rdf`.

        A relation type goes by its address where a model was trained with it, else by its name.
        """
        job = desk.write(lambda _: explorer.read_turtle(asked.turtle, asked.id))
        topic, found = await desk.while_wanted(request, job)
        return _json(json_text({"topic": topic, "topics": [asdict(each) for each in found]}))

    @router.post("/annotate", summary="Annotate a text", **_or_html(answers.AnnotationAnswer))
    async def annotate(request: Request, asked: AnnotateRequest) -> Response:
        """Say for every name in a text which facts it may have come from, and how probably."""

        def written(annotation: Annotation) -> str:
            if asked.format == "html":
                return annotation_to_html(annotation, threshold=asked.threshold)
            return annotation_to_json(annotation, threshold=asked.threshold)

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
                asked.model, texts, partial(annotation_to_json, threshold=asked.threshold)
            )

        made = await desk.while_wanted(request, work())
        return _json(f'{{"annotations":[{",".join(made)}]}}')

    @router.post("/check", summary="Check a text", **_or_html(answers.CheckAnswer))
    async def check(request: Request, asked: CheckRequest) -> Response:
        """Say which statements of a text are supported, contradicted or new to what is known."""
        written = checked_to_html if asked.format == "html" else CheckedText.to_json
        choices = CheckChoices(asked.threshold, asked.trust)

        async def work() -> str:
            text = TextOfTopic(asked.text, await desk.topic(asked.topic))
            (content,) = await desk.check(asked.model, [text], choices, written)
            return content

        content = await desk.while_wanted(request, work())
        return _json(content) if asked.format == "json" else _page(content, "check")

    @router.post(
        "/check/batch", summary="Check several texts", **_json_answer(answers.ChecksAnswer)
    )
    async def check_batch(request: Request, asked: CheckManyRequest) -> Response:
        """Check texts side by side; if one cannot be read, none is, and it is named."""
        choices = CheckChoices(asked.threshold, asked.trust)

        async def work() -> list[str]:
            texts = [TextOfTopic(each.text, await desk.topic(each.topic)) for each in asked.texts]
            return await desk.check(asked.model, texts, choices, CheckedText.to_json)

        made = await desk.while_wanted(request, work())
        return _json(f'{{"checks":[{",".join(made)}]}}')

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
