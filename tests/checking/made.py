"""A checked text made by hand, with what must be escaped in it."""

from lrlm.annotation.annotation import Fact
from lrlm.checking.findings import CheckedText, Conflict, Finding, GraphVerdict

TEXT = "Oslo <b>is</b> in Asia & \u202eEU, near Bergen."


def finding(name: str, verdict: GraphVerdict, *instead: str, probability: float = 0.9) -> Finding:
    start = TEXT.index(name)
    facts = tuple(Fact("ty<pe>", each, each, "ty<pe>") for each in instead)
    fact = Fact("ty<pe>", f"Q<{name}>", name, "ty<pe>")
    return Finding(start, start + len(name), name, verdict, probability, "T&T", fact, facts)


def checked() -> CheckedText:
    return CheckedText(
        "1",
        "T&T",
        "Top <ic>",
        TEXT,
        (
            finding("Oslo", GraphVerdict.SUPPORTED),
            finding("Asia", GraphVerdict.CONTRADICTED, "Europe", "A", "B", "C", "D"),
            finding("Bergen", GraphVerdict.NEW, probability=0.6),
        ),
        (
            Conflict(
                "capital",
                (Fact("capital", "x", "<X>", "capital"), Fact("capital", "y", "Y", "capital")),
            ),
        ),
    )
