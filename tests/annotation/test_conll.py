"""An annotation in the columns of CoNLL."""

from dataclasses import replace

from lrlm.annotation.exports import annotation_to_conll
from lrlm.text import Profile, tokenise
from tests.annotation.made import TEXT, annotation


def test_columns() -> None:
    made = replace(annotation(), topic="a\ttopic\nof lines")
    lines = annotation_to_conll(made, threshold=0.4).split("\n")
    assert lines[:2] == ["# id = first_one", "# topic = a_topic_of_lines"]
    assert lines[2:6] == [
        "The\t0\t3\tO\t_\t_",
        "United\t4\t10\tB-country\tQ30\t0.6",
        "States\t11\t17\tI-country\tQ30\t0.6",
        "of\t19\t21\tO\t_\t_",
    ]
    assert lines[-2:] == ["", ""]
    rows = [line.split("\t") for line in lines[2:-2]]
    assert all(len(row) == 6 for row in rows)
    assert [TEXT[int(row[1]) : int(row[2])] for row in rows] == [row[0] for row in rows]
    (tagged,) = (row for row in rows if row[0] == "Bo\u0308b")
    assert tagged[3:] == ['B-ty<pe>_"x"', "Q<1>", "0.45"]


def test_a_word_that_a_name_is_a_part_of_is_tagged() -> None:
    made = annotation(TEXT.replace("<b>Bo\u0308b</b>", "(Bo\u0308b)-<b>"))
    tokens = tokenise(made.text, Profile.SPACES)
    lines = annotation_to_conll(replace(made, tokens=tokens), threshold=0.4).split("\n")
    tags = {line.split("\t")[0]: line.split("\t")[3] for line in lines[2:-2]}
    assert tags["(Bo\u0308b)-<b>"] == 'B-ty<pe>_"x"'
    assert {tag for word, tag in tags.items() if word in ("of", "&", "end.")} == {"O"}
