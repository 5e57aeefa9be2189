"""`lrlm generate`: write texts about a topic, and say where every piece comes from."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lrlm.cli.console import as_plain_text, output, palette, progress_of
from lrlm.cli.options import Device, OutputFile, TopicCorpus, TopicEndpoint, TopicGraph
from lrlm.cli.outputs import check_writable, write_out
from lrlm.errors import InputError
from lrlm.plain_data import json_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lrlm.generation.generated_text import Piece


class GenerationFormat(StrEnum):
    """How generated texts are written."""

    TEXT = "text"
    JSON = "json"
    HTML = "html"


def generate(
    run: Annotated[
        Path | None,
        typer.Argument(
            metavar="[RUN]",
            help="Folder of a trained model; without it, the small model that comes with lrlm.",
            show_default=False,
        ),
    ] = None,
    topic: Annotated[
        str | None,
        typer.Option(
            metavar="ID|FILE.json",
            help="Topic to write about: an id or a name to look up, or a JSON file.",
            show_default=False,
        ),
    ] = None,
    graph: TopicGraph = None,
    corpus: TopicCorpus = None,
    endpoint: TopicEndpoint = None,
    samples: Annotated[
        int | None,
        typer.Option("-n", "--samples", help="Number of texts.", show_default="10"),
    ] = None,
    seed: Annotated[int, typer.Option(help="Random seed: the same seed gives the same texts.")] = 0,
    temperature: Annotated[
        float,
        typer.Option(help="Sampling temperature; below 1, probable choices become more probable."),
    ] = 1.0,
    top_k: Annotated[
        int | None, typer.Option(help="Sample only from the K most probable choices.")
    ] = None,
    top_p: Annotated[
        float | None,
        typer.Option(
            help="Nucleus sampling: only from the most probable choices that together have"
            " probability P."
        ),
    ] = None,
    greedy: Annotated[
        bool, typer.Option("--greedy", help="Take the most probable choice instead of sampling.")
    ] = False,
    min_length: Annotated[int, typer.Option(help="Minimum length of a text, in tokens.")] = 1,
    max_length: Annotated[int, typer.Option(help="Maximum length of a text, in tokens.")] = 200,
    prompt: Annotated[str, typer.Option(help="Beginning of every text.", show_default=False)] = "",
    max_uses: Annotated[
        int | None, typer.Option(help="How often one relation may be used in a text.")
    ] = None,
    only_known_names: Annotated[
        bool,
        typer.Option(
            "--only-known-names",
            help="Spell no unknown words with capital letters, so that no names are invented.",
        ),
    ] = False,
    known_facts_only: Annotated[
        bool,
        typer.Option(
            "--known-facts/--any-facts",
            help="Write texts again that would state a fact of a type that the topic does not"
            " have, or keep them.",
        ),
    ] = True,
    repetition_cost: Annotated[
        float | None,
        typer.Option(
            metavar="NATS",
            min=0,
            help="What a sentence pays for each name that it repeats: it is e^-NATS times as"
            " probable.",
            show_default="what was fitted for the run, or 0",
        ),
    ] = None,
    must_use: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TYPE[=OBJECT]",
            help="Relation that every text must use; may be repeated.",
            show_default=False,
        ),
    ] = None,
    stream: Annotated[
        bool,
        typer.Option(
            "--stream",
            help="Write one text; with --any-facts it is shown word by word as it is generated.",
        ),
    ] = False,
    format_: Annotated[
        GenerationFormat, typer.Option("--format", help="Output format.")
    ] = GenerationFormat.TEXT,
    out: OutputFile = None,
    device: Device = "auto",
) -> None:
    """Write texts about a topic with the facts that are known about it.

    The text with the lowest perplexity comes first. For every piece of a text the output says where
    it comes from: a word of the vocabulary, an unknown word spelled letter by letter, or a relation
    of the topic.
    """
    if topic is None:
        raise InputError(
            "what should the texts be about? Give a topic: --topic ID or --topic FILE.json"
        )
    if stream and (
        format_ is not GenerationFormat.TEXT or out is not None or samples not in (None, 1)
    ):
        raise InputError(
            "--stream shows one text on the terminal: leave out --format, --out and -n"
        )
    if out is not None:
        check_writable([out])

    from lrlm.generation.generate import generate as write
    from lrlm.generation.generate import stream as write_piecewise
    from lrlm.generation.generated_text import generated_to_json
    from lrlm.generation.options import GenerationOptions
    from lrlm.generation.views import generated_to_html, generated_view
    from lrlm.model import load
    from lrlm.runs.topics import find_topic, topics_for

    options = GenerationOptions(
        temperature=temperature,
        top_k=top_k,
        top_p=top_p,
        greedy=greedy,
        min_length=min_length,
        max_length=max_length,
        prompt=prompt,
        max_uses=max_uses,
        only_known_names=only_known_names,
        known_facts_only=known_facts_only,
        repetition_cost=repetition_cost,
        must_use=tuple(map(_wish, must_use or ())),
    )
    with progress_of("texts") as progress:
        progress("loading the model", 0, 0)
        model = load(run, device=device)
        found = find_topic(
            topic, topics_for(model.run, graph=graph, corpus=corpus, endpoint=endpoint)
        )
        if not stream:
            progress("writing", 0, 0)
            number = 10 if samples is None else samples
            texts = write(model.run, found, options, samples=number, seed=seed, schema=model.schema)
    if stream:
        _show(write_piecewise(model.run, found, options, seed=seed, schema=model.schema))
    elif format_ is GenerationFormat.JSON:
        content = generated_to_json(
            texts, model=model.kind, topic=found.id, seed=seed, options=options
        )
        write_out(json_text(content, indent=1) + "\n", out)
    elif format_ is GenerationFormat.HTML:
        about = f"Written by a model of the kind {model.kind}; seed {seed}."
        write_out(generated_to_html(texts, title=found.names[0], about=about), out)
    elif out is not None:
        write_out(as_plain_text(generated_view(texts)), out)
    else:
        output.print(generated_view(texts, palette=palette()))


def _wish(given: str) -> str | tuple[str, str]:
    type_, equals, object_ = given.partition("=")
    if not type_ or (equals and not object_):
        raise InputError(f"--must-use {given}: give a relation type, or TYPE=OBJECT")
    return (type_, object_) if equals else type_


def _show(pieces: "Iterator[Piece]") -> None:
    from lrlm.generation.views import marked_piece

    end = 0
    for piece in pieces:
        output.print(marked_piece(piece, {}, end=end), end="", soft_wrap=True)
        output.file.flush()
        end = piece.end
    output.print()
