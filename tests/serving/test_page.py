"""The page in a real browser: every view, the keyboard alone, a phone, and who cannot see it."""

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from lrlm.runs.shipped import SHIPPED
from tests.generators.injections import INJECTIONS
from tests.serving.browser import Visit, chromium, served

pytestmark = pytest.mark.extra("serve-tests")

VIEWS = ("annotate", "check", "topic", "generate", "edit", "compare")
GOLDEN = Path(__file__).parents[1] / "golden" / "version_0_1"
PHONE = {"viewport": {"width": 390, "height": 844}}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served(tmp_path_factory.mktemp("server")) as address:
        yield address


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as started:
        yield started


@contextmanager
def visit(browser: Any, place: str, **options: Any) -> Iterator[Visit]:
    visiting = Visit(browser, place, **options)
    if not options.get("fragment"):
        visiting.wait_for_annotation()
    yield visiting
    visiting.close()


def boxes_of(at: Visit, selector: str) -> list[dict[str, float]]:
    """Say where elements are, all at the same moment: a drawing may be drawn anew at any other."""
    script = (
        "at => [...document.querySelectorAll(at)].map(one => one.getBoundingClientRect().toJSON())"
    )
    found: list[dict[str, float]] = at.page.evaluate(script, selector)
    return found


def link_to(**content: Any) -> str:
    """Write a link as the page writes it."""
    code = base64.urlsafe_b64encode(json.dumps(content).encode()).decode().rstrip("=")
    return f"#view={code}"


def test_the_first_view_shows_an_annotated_example(browser: Any, place: str) -> None:
    with visit(browser, place) as at:
        view = at.page.locator("#view-annotate")
        assert view.locator(".mark").count() >= 8
        assert view.locator(".bars li").count() >= 2
        at.page.wait_for_selector("svg.lattice .copy.best")
        assert at.page.locator("#topic-name").inner_text() == "Norway"


def test_spans_open_their_explanations_and_the_slider_hides_marks(browser: Any, place: str) -> None:
    with visit(browser, place) as at:
        view = at.page.locator("#view-annotate")
        mark = view.locator(".mark", has_text="Galdhøpiggen")
        mark.click()
        assert "Galdhøpiggen" in view.locator(".why h3").inner_text()
        assert "highest point → Galdhøpiggen" in view.locator(".bars").inner_text()
        before = view.locator(".mark").count()
        view.locator("#threshold").fill("1")
        assert view.locator(".mark").count() < before
        assert view.locator(".candidate").count() > 0


def test_another_text_and_the_lattice_of_another_sentence(browser: Any, place: str) -> None:
    with visit(browser, place) as at:
        view = at.page.locator("#view-annotate")
        view.locator("summary", has_text="Change the text").click()
        view.locator("#text").fill("Oslo is a city. It shares borders with Sweden.")
        view.get_by_role("button", name="Annotate").click()
        view.locator("p.text:not(:has-text('Galdhøpiggen'))").wait_for()  # not the example any more
        assert view.locator(".mark, .candidate").count() == 2
        view.locator("#sentence").select_option("1")
        at.page.wait_for_selector("svg.lattice .copy text:has-text('borders')")
        words = view.locator("svg.lattice .word text").all_text_contents()
        assert words == ["It", "shares", "borders", "with", "Sweden", "."]


def test_a_topic_is_found_by_keyboard_alone(browser: Any, place: str) -> None:
    with visit(browser, place) as at:
        at.page.focus("#query")
        at.page.keyboard.type("danub")
        at.page.wait_for_selector("#found [data-id=Danube]")
        at.page.keyboard.press("ArrowDown")
        assert at.page.locator("#found [aria-selected=true]").count() == 1
        at.page.keyboard.press("Enter")
        at.page.wait_for_selector("#view-annotate .mark:has-text('Black Forest')")
        assert at.page.locator("#topic-name").inner_text() == "Danube"


def test_a_star_of_sixty_facts_can_be_read(browser: Any, place: str) -> None:
    relations = [
        {"type": f"relation {number % 17}", "object": f"Q{number}", "forms": [f"Object {number}"]}
        for number in range(60)
    ]
    topic = {"id": "Big", "names": ["A big topic"], "relations": relations}
    for size in ({}, PHONE):
        with visit(browser, place, **size) as at:
            view = at.open("topic")
            view.locator("summary", has_text="Paste a topic as JSON or Turtle").click()
            view.locator("textarea").fill(json.dumps(topic))
            view.get_by_role("button", name="Use this topic").click()
            at.page.wait_for_selector("h2:has-text('A big topic')")
            boxes = boxes_of(at, "svg.star .labels text")
            assert len(boxes) == 60
            assert all(box["height"] > 10 for box in boxes)
            for place_of_one, one in enumerate(boxes):
                for other in boxes[place_of_one + 1 :]:
                    assert (
                        one["y"] + one["height"] <= other["y"] + 4
                        or other["y"] + other["height"] <= one["y"] + 4
                        or one["x"] + one["width"] <= other["x"]
                        or other["x"] + other["width"] <= one["x"]
                    ), (one, other)


def test_long_names_and_names_from_right_to_left_stay_in_their_places(
    browser: Any, place: str
) -> None:
    long = "Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch, as it is called there"
    relations = [
        {"type": "shares a long and winding border with " * 3, "object": "Q1", "forms": [long]},
        {"type": "country", "object": "Q79", "forms": ["مصر"]},
    ]
    topic = {"id": "x", "names": ["القاهرة"], "relations": relations}
    text = f"القاهرة مصر {long}"
    for size in ({"viewport": {"width": 1180, "height": 820}}, PHONE):
        wide = size["viewport"]["width"]
        with visit(browser, place, fragment=link_to(topic=topic, text=text), **size) as at:
            at.page.wait_for_selector("#view-annotate .mark")
            direction = "at => getComputedStyle(at).direction"
            assert at.page.locator("#view-annotate p.text").evaluate(direction) == "rtl"
            for view in VIEWS:
                at.open(view)
                at.page.wait_for_timeout(1000)
                assert at.page.evaluate("document.documentElement.scrollWidth") <= wide, view
            at.open("topic")
            at.page.wait_for_selector("svg.star")
            (drawing,) = boxes_of(at, "svg.star")
            for box in boxes_of(at, "svg.star text"):
                assert box["left"] >= drawing["left"] - 1
                assert box["right"] <= drawing["right"] + 1


def test_a_topic_is_built_by_hand(browser: Any, place: str) -> None:
    with visit(browser, place) as at:
        view = at.open("topic")
        view.locator("summary", has_text="Build a topic by hand").click()
        view.get_by_label("A new topic called").fill("Atlantis")
        view.get_by_role("button", name="Begin").click()
        at.page.wait_for_selector("h2:has-text('Atlantis')")
        view.get_by_label("Relation", exact=True).fill("capital")
        view.get_by_label("Object", exact=True).fill("Poseidonis")
        view.get_by_role("button", name="Add the fact").click()
        at.page.wait_for_selector("svg.star text:has-text('Poseidonis')")
        at.open("annotate")
        at.page.wait_for_selector("#view-annotate .mark:has-text('Poseidonis')")


def test_a_topic_is_pasted_in_turtle(browser: Any, place: str) -> None:
    turtle = """@prefix : <http://example.org/> .
        :Atlantis :capital :Poseidonis ; :borders :Mu . :Mu :capital :Hiranypura ."""
    with visit(browser, place) as at:
        view = at.open("topic")
        view.locator("summary", has_text="Paste a topic as JSON or Turtle").click()
        view.locator("textarea").fill(turtle)
        view.get_by_role("button", name="Use this topic").click()
        at.page.wait_for_selector("svg.star text:has-text('Poseidonis')")
        view.get_by_label("Topics in this Turtle").select_option(label="Mu (1 fact)")
        at.page.wait_for_selector("svg.star text:has-text('Hiranypura')")
        view.locator("textarea").fill("@prefix : <http://example.org/> . :Atlantis :capital")
        view.get_by_role("button", name="Use this topic").click()
        at.page.wait_for_selector("#status.error:has-text('the Turtle cannot be read: line 1')")
        at.troubles = [each for each in at.troubles if "status of 422" not in each]


def test_text_appears_with_its_copied_names_marked(browser: Any, place: str) -> None:
    with visit(browser, place) as at:
        view = at.open("generate")
        view.locator("p.text .mark").first.wait_for()
        at.page.wait_for_selector("#view-generate .quiet:has-text('perplexity')")
        first = view.locator("p.text").inner_text()
        view.get_by_role("button", name="Another").click()
        at.page.wait_for_selector("#view-generate .quiet:has-text('perplexity')")
        assert view.locator("p.text").inner_text() != first


def test_an_edited_fact_is_seen_before_and_after(browser: Any, place: str) -> None:
    with visit(browser, place) as at:
        view = at.open("edit")
        at.page.wait_for_selector("text=change a fact to see a difference")
        view.get_by_label("Object").fill("Bergen")
        view.get_by_label("Names in texts").fill("Bergen")
        view.get_by_role("button", name="Replace").click()
        view.locator(".difference strong").wait_for()
        assert "less probable by" in view.locator(".difference").inner_text()
        assert view.locator(".changes li").count() == 2
        view.get_by_role("button", name="Remove").click()
        at.page.wait_for_selector("#view-edit .changes li >> nth=0")
        view.get_by_role("button", name="Reset").click()
        at.page.wait_for_selector("text=change a fact to see a difference")


def test_models_are_compared_word_by_word(browser: Any, place: str) -> None:
    with visit(browser, place) as at:
        view = at.open("compare")
        view.locator(".unit").first.wait_for()
        assert view.locator("tbody tr").count() == 2
        assert view.locator(".unit").first.locator("i").count() == 2
        view.locator(".unit").nth(2).focus()
        assert "nats" in view.locator("p[role=status]").inner_text()


def test_several_runs_and_a_graph(browser: Any, tmp_path: Path) -> None:
    graph = str(GOLDEN / "graph")
    with (
        served(tmp_path, str(GOLDEN / "run"), str(SHIPPED), "--graph", graph) as place,
        visit(browser, place) as at,
    ):
        assert at.page.locator("#model option").count() == 2
        at.page.fill("#query", "aldermoor")
        at.page.wait_for_selector("#found [data-id=Aldermoor]")
        at.page.keyboard.press("Enter")
        at.page.wait_for_selector("#topic-name:has-text('Aldermoor')")
        view = at.open("compare")
        view.locator(".unit").first.wait_for()
        names = view.locator("tbody tr td:nth-child(2)").all_inner_texts()
        assert [name.split(",")[0] for name in names] == ["run", "miniworld", "run"]
        assert view.locator(".unit").first.locator("i").count() == 3
        view.get_by_label("miniworld (").uncheck()
        at.page.wait_for_selector("#view-compare tbody:not(:has-text('miniworld'))")
        at.page.select_option("#model", "miniworld")
        at.open("check").locator(".legend").wait_for()
        at.page.wait_for_selector("#view-check .why *")


def test_a_text_is_checked(browser: Any, place: str) -> None:
    with visit(browser, place) as at:
        view = at.open("check")
        view.locator(".mark").first.wait_for()
        assert [each.split()[2] for each in view.locator(".verdicts b").all_inner_texts()] == [
            "supported", "contradicted", "new",
        ]  # fmt: skip
        assert "The facts say" in view.locator(".why").inner_text()  # of what is contradicted
        assert "Trondheim" in view.locator(".why h3").inner_text()
        assert "capital: Oslo" in view.locator(".why dd").nth(1).inner_text()
        view.locator(".mark", has_text="Denmark").click()
        assert "new" in view.locator(".why .tag").inner_text()
        assert view.locator(".why dd").nth(2).inner_text() == "Norway · borders · Denmark"
        view.get_by_label("Where text and facts differ").select_option("graph")
        at.page.wait_for_selector("#view-check .verdicts b:has-text('0 new')")
        view.locator(".mark", has_text="Denmark").click()
        assert "contradicted" in view.locator(".why .tag").inner_text()
        view.locator("summary", has_text="Change the text").click()
        view.locator("textarea").fill("The currency is the euro.")
        view.get_by_role("button", name="Check").click()
        at.page.wait_for_selector("#view-check p.text:has-text('The currency')")
        assert "Norwegian krone" in view.locator(".why").inner_text()
        view.get_by_role("button", name="Copy JSON").click()
        at.page.wait_for_selector("#status:has-text('Copied')")
        copied = json.loads(at.page.evaluate("navigator.clipboard.readText()"))
        assert copied["findings"][0]["triple"] == ["Norway", "currency", "Euro"]
        at.page.click("#link")
        at.page.wait_for_selector("#status:has-text('Copied a link')")
        address = at.page.url
    with visit(browser, place, fragment=address.removeprefix(place)) as at:
        at.page.wait_for_selector("#view-check .mark:has-text('euro')")
        assert at.page.get_by_label("Where text and facts differ").input_value() == "graph"


def test_results_are_taken_along(browser: Any, place: str) -> None:
    with visit(browser, place) as at:
        view = at.page.locator("#view-annotate")

        def copied(name: str) -> str:
            at.page.get_by_role("button", name=name).locator("visible=true").click()
            at.page.wait_for_selector("#status:has-text('Copied')")
            at.page.wait_for_timeout(100)
            return str(at.page.evaluate("navigator.clipboard.readText()"))

        assert json.loads(copied("Copy JSON"))["format"] == "lrlm annotation"
        assert copied("Copy curl").startswith(f"curl '{place}api/v1/annotate'")
        python = copied("Copy Python")
        compile(python, "copied", "exec")
        assert "model.annotate(" in python
        with at.page.expect_download() as download:
            view.get_by_role("button", name="Download HTML").click()
        assert Path(download.value.path()).read_text().startswith("<!doctype html>")


def test_a_link_brings_the_same_view(browser: Any, place: str) -> None:
    topic = {"id": "x", "names": ["Xanadu"], "relations": [{"type": "ruler", "object": "Kubla"}]}
    linked = link_to(view="annotate", topic=topic, text="Kubla rules Xanadu.", threshold=0.01)
    with visit(browser, place, fragment=linked) as at:
        at.page.wait_for_selector("#view-annotate .mark:has-text('Kubla')")
        assert at.page.locator("#topic-name").inner_text() == "Xanadu"
        at.open("compare")
        at.page.locator(".unit").first.wait_for()
        at.page.click("#link")
        at.page.wait_for_selector("#status:has-text('Copied a link')")
        address = at.page.url
    with visit(browser, place, fragment=address.removeprefix(place)) as at:
        at.page.wait_for_selector("#view-compare .unit:has-text('Kubla')")


@pytest.mark.parametrize(
    "fragment", ["#view=!!!", "#view=bnVsbA", link_to(view=3, topic=[], text=7)]
)
def test_a_broken_link_does_no_harm(browser: Any, place: str, fragment: str) -> None:
    visiting = Visit(browser, place, fragment=fragment)
    visiting.page.wait_for_selector("#topic-name:not(:has-text('No topic'))")
    visiting.context.close()


def test_script_in_texts_names_and_types_stays_text(browser: Any, place: str) -> None:
    relations = [
        {"type": string, "object": string, "forms": [string, f"Name{number}"]}
        for number, string in enumerate(INJECTIONS)
    ]
    topic = {"id": INJECTIONS[0], "names": [INJECTIONS[1]], "relations": relations}
    text = " ".join(f"{string} Name{number}." for number, string in enumerate(INJECTIONS))
    linked = link_to(view="annotate", topic=topic, text=text, threshold=0.01)
    with visit(browser, place, fragment=linked) as at:
        at.page.wait_for_selector("#view-annotate .mark")
        for view in VIEWS:
            at.open(view)
            at.page.wait_for_timeout(1500)
        assert at.page.evaluate("window.hit") is None
        for tag in ("img", "iframe", "object", "embed", "video", "math", "marquee", "base"):
            assert at.page.locator(tag).count() == 0
        assert at.page.locator("script").count() == 1
        assert INJECTIONS[0] in at.page.locator("#view-annotate p.text").text_content()
        at.troubles = [each for each in at.troubles if "status of 422" not in each]


def test_the_keyboard_is_enough(browser: Any, place: str) -> None:
    with visit(browser, place) as at:
        at.page.keyboard.press("Tab")
        assert at.page.evaluate("document.activeElement.className") == "skip"
        for _ in range(60):
            at.page.keyboard.press("Tab")
            if at.page.evaluate("document.activeElement.classList.contains('mark')"):
                break
        at.page.keyboard.press("Enter")
        assert at.page.evaluate("document.activeElement.getAttribute('aria-pressed')") == "true"
        at.page.keyboard.press("Tab")
        at.page.keyboard.press("Space")
        name = at.page.evaluate("document.activeElement.firstChild.textContent")
        assert name in at.page.locator("#view-annotate .why h3").inner_text()
        for view in VIEWS:
            at.page.focus(f"nav [data-view={view}]")
            at.page.keyboard.press("Enter")
            assert at.page.locator(f"#view-{view}").is_visible()


def test_a_phone_needs_no_scrolling_sideways(browser: Any, place: str) -> None:
    with visit(browser, place, **PHONE) as at:
        for view in VIEWS:
            at.open(view)
            at.page.wait_for_timeout(1500)
            wide = at.page.evaluate("document.documentElement.scrollWidth")
            assert wide <= 390, view


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_keeps_anybody_from_using_it(browser: Any, place: str, scheme: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    with visit(browser, place, color_scheme=scheme, bypass_csp=True) as at:
        for view in VIEWS:
            section = at.open(view)
            at.page.wait_for_timeout(2000)
            section.evaluate("at => at.querySelectorAll('details').forEach(d => (d.open = true))")
            found = Axe().run(at.page).response["violations"]
            serious = [
                (each["id"], [node["html"][:120] for node in each["nodes"][:3]])
                for each in found
                if each["impact"] in ("serious", "critical")
            ]
            assert serious == [], view


def test_the_page_asks_for_a_token(browser: Any, tmp_path: Path) -> None:
    token = "a secret of 24 characters"
    with served(tmp_path, "--token", token) as place:
        visiting = Visit(browser, place)
        visiting.page.wait_for_selector("dialog[open]")
        visiting.page.fill("#token", token)
        visiting.page.get_by_role("button", name="Go on").click()
        visiting.wait_for_annotation()
        visiting.page.goto("about:blank")
        visiting.context.close()
        with visit(browser, place, fragment=f"#token={token.replace(' ', '%20')}") as at:
            at.wait_for_annotation()
            assert "token" not in at.page.url


def test_the_page_is_small() -> None:
    folder = Path(__file__).parents[2] / "src/lrlm/serving/page"
    assert sum(file.stat().st_size for file in folder.iterdir()) < 300_000
