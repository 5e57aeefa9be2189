"""Put the explorer together: the API, the page, and the guard before both."""

import hashlib
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.routing import BaseRoute, Route

from lrlm import __version__
from lrlm.errors import LrlmError, MissingExtraError
from lrlm.plain_data import json_text
from lrlm.serving.api import router_for
from lrlm.serving.desk import Desk, TooSlowError
from lrlm.serving.explorer import Explorer, UnknownModelError
from lrlm.serving.guard import Doorkeeper, Guard
from lrlm.serving.limits import ServerLimits
from lrlm.serving.topics import BrokenCollectionError, UnknownTopicError
from lrlm.serving.work import GivenUpError, OverloadedError

INDEX = "index.html"
_KINDS = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}

_ABOUT = """\
Annotate, generate and score texts with language models that know which fact they are writing.
A topic is the id of one that the server knows, or a whole topic with its facts. Offsets count
characters, half-open. Where the server wants a token, send it as `Authorization: Bearer TOKEN`."""

_STATUSES: tuple[tuple[type[LrlmError], int], ...] = (
    (UnknownTopicError, 404),
    (UnknownModelError, 404),
    (OverloadedError, 503),
    (TooSlowError, 504),
    (GivenUpError, 503),
    (BrokenCollectionError, 500),
    (MissingExtraError, 501),
)
"""The status of each kind of error; any other says what is wrong with the request."""


def create_app(
    explorer: Explorer,
    *,
    limits: ServerLimits | None = None,
    doorkeeper: Doorkeeper | None = None,
) -> FastAPI:
    """Make the application that shows an explorer."""
    limits = limits or ServerLimits()
    desk = Desk(explorer, limits)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        desk.close()

    return FastAPI(
        title="lrlm",
        version=__version__,
        description=_ABOUT,
        openapi_url="/api/v1/openapi.json",
        docs_url=None,  # these load scripts from elsewhere
        redoc_url=None,
        lifespan=lifespan,
        middleware=[Middleware(Guard, doorkeeper=doorkeeper or Doorkeeper(), limits=limits)],
        exception_handlers={
            LrlmError: _told,
            RequestValidationError: _told_what_is_wrong,
            HTTPException: _told_by_status,
        },
        # A router that is included is searched twice for every request; its routes are not.
        routes=[*router_for(desk).routes, *page_routes()],
    )


def page_routes() -> list[BaseRoute]:
    """Serve the files of the page."""
    folder = files("lrlm.serving") / "page"
    return [
        _file_route("/" if file.name == INDEX else f"/{file.name}", file.read_bytes(), kind)
        for file in sorted(folder.iterdir(), key=lambda file: file.name)
        if (kind := _KINDS.get(Path(file.name).suffix))
    ]


def _file_route(path: str, content: bytes, kind: str) -> Route:
    """Serve one file; a browser that has it already does not get it again."""
    tag = f'"{hashlib.sha256(content).hexdigest()[:20]}"'

    async def serve(request: Request) -> Response:
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers={"etag": tag})
        return Response(content, media_type=kind, headers={"etag": tag})

    return Route(path, serve)


def _refusal(status: int, told: str) -> Response:
    headers = {"retry-after": "1"} if status == 503 else {}
    content = json_text({"status": status, "error": told})
    return Response(content, status, headers, "application/json")


async def _told(_: Request, error: Exception) -> Response:
    status = next((status for kind, status in _STATUSES if isinstance(error, kind)), 422)
    return _refusal(status, str(error))


async def _told_by_status(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    told = {
        404: "there is nothing here; /api/v1/openapi.json lists what is",
        405: "this cannot be asked in that way; /api/v1/openapi.json says how",
    }
    response = _refusal(error.status_code, told.get(error.status_code, str(error.detail)))
    response.headers.update(error.headers or {})
    return response


async def _told_what_is_wrong(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    # A topic may be an id or an object: of what is wrong with either, the deepest is meant.
    first = max(error.errors(), key=lambda each: len(each["loc"]))
    if first["type"] == "json_invalid":
        return _refusal(422, "the request is not JSON")
    message = str(first["msg"]).removeprefix("Value error, ")
    where = _place(first["loc"])
    return _refusal(422, f"{where}: {message}" if where else message)


def _place(location: tuple[Any, ...]) -> str:
    """Write where something is in a request: topic.relations[3].type."""
    place = ""
    for part in location[1:]:
        if isinstance(part, int):
            place += f"[{part}]"
        elif re.fullmatch(r"[a-z_]+", part) and part != "constrained-str":
            place += f".{part}" if place else part
    return place
