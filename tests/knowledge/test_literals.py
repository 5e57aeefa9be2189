"""Dates and quantities in the ways people write them."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrlm.knowledge.literals import Date, Quantity, is_number, literal_forms


def test_a_day_in_the_usual_english_orders() -> None:
    assert Date(1961, 8, 4).forms() == (
        "4 August 1961",
        "August 4, 1961",
        "4 August",
        "August 4",
        "August 1961",
        "1961",
    )


def test_a_month_a_year_and_a_year_before_christ() -> None:
    assert Date(1961, 8).forms() == ("August 1961", "August, 1961", "1961")
    assert Date(1961).forms() == ("1961",)
    assert Date(-44, 3, 15).forms()[0] == "15 March 44 BC"
    assert Date(987).forms() == ("987",)


@pytest.mark.parametrize(
    ("time", "precision", "date"),
    [
        ("+1961-08-04T00:00:00Z", 11, Date(1961, 8, 4)),
        ("+1961-08-04T00:00:00Z", 14, Date(1961, 8, 4)),
        ("+1961-08-00T00:00:00Z", 10, Date(1961, 8)),
        ("+1961-08-04T00:00:00Z", 10, Date(1961, 8)),
        ("+1961-00-00T00:00:00Z", 9, Date(1961)),
        ("-0044-03-15T00:00:00Z", 11, Date(-44, 3, 15)),
        ("+00000001961-08-04T00:00:00Z", 11, Date(1961, 8, 4)),
        ("+1960-00-00T00:00:00Z", 8, None),
        ("+1900-00-00T00:00:00Z", 7, None),
        ("yesterday", 11, None),
        ("+1961-13-04T00:00:00Z", 11, None),
        ("+0000-01-01T00:00:00Z", 11, None),
    ],
)
def test_times_of_wikidata(time: str, precision: int, date: Date | None) -> None:
    assert Date.from_wikidata(time, precision) == date


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("1961-08-04", Date(1961, 8, 4)),
        ("1961-08", Date(1961, 8)),
        ("1961", Date(1961)),
        ("4 August 1961", Date(1961, 8, 4)),
        ("04 August 1961", Date(1961, 8, 4)),
        ("August 4, 1961", Date(1961, 8, 4)),
        ("August 4 , 1961", Date(1961, 8, 4)),
        ("August 1961", Date(1961, 8)),
        ("29 February 1900", Date(1900, 2, 29)),  # there was one in the Julian calendar
        ("1961-08-32", None),
        ("1961-02-30", None),
        ("31 April 1961", None),
        ("1961-13-01", None),
        ("4 Augustus 1961", None),
        ("", None),
    ],
)
def test_dates_are_read(text: str, date: Date | None) -> None:
    assert Date.parse(text) == date


@given(st.dates())
def test_each_whole_form_of_a_date_is_read_back(day: object) -> None:
    date = Date.parse(str(day))
    assert date is not None
    if date.year >= 100:  # shorter years are no dates without their context
        assert {Date.parse(form) for form in date.forms()[:2]} == {date}


@pytest.mark.parametrize(
    ("text", "forms"),
    [
        ("643801", ("643,801", "643801")),
        ("643,801", ("643,801", "643801")),
        ("12", ("12",)),
        ("-12.50", ("-12.50",)),
        ("1234.5", ("1,234.5", "1234.5")),
        ("660 m", ("660 m", "660 metres", "660 meters", "660")),
        ("1287 K", ("1,287 K", "1287 K", "1,287 kelvin", "1287 kelvin", "1,287", "1287")),
    ],
)
def test_quantities_with_and_without_thousands_separators(
    text: str, forms: tuple[str, ...]
) -> None:
    quantity = Quantity.parse(text)
    assert quantity is not None
    assert quantity.forms() == forms


@pytest.mark.parametrize("text", ["", "12,34", "1.", ".5", "1e5", "five", "12 34", "1,2345", "007"])
def test_what_is_no_quantity(text: str) -> None:
    assert Quantity.parse(text) is None


@given(st.decimals(min_value=-(10**12), max_value=10**12, places=2))
def test_each_writing_of_a_number_is_that_number(amount: Decimal) -> None:
    for form in Quantity(amount).forms():
        parsed = Quantity.parse(form)
        assert parsed is not None
        assert parsed.amount == amount


@pytest.mark.parametrize(
    ("text", "forms"),
    [
        ("Nominated", ("Nominated",)),
        ("1947", ("1947",)),
        ("4890", ("4,890", "4890")),
        ("6,000", ("6,000", "6000")),
        ("July 27, 1991", ("July 27, 1991", *Date(1991, 7, 27).forms())),
        ("July 27 , 1991", ("July 27 , 1991", *Date(1991, 7, 27).forms())),
        ("1991-07-27", Date(1991, 7, 27).forms()),
        ("+1991-07-27T00:00:00Z", Date(1991, 7, 27).forms()),
        ("1961-08", Date(1961, 8).forms()),
    ],
)
def test_forms_of_literals(text: str, forms: tuple[str, ...]) -> None:
    assert literal_forms(text) == tuple(dict.fromkeys(forms))


@pytest.mark.parametrize("seasons", ["2001-03", "2011-12", "1987-88", "1999-00", "2008-11"])
def test_two_years_are_not_a_month(seasons: str) -> None:
    assert literal_forms(seasons) == (seasons,)


@pytest.mark.parametrize("text", ["007", "09", "0101", "00"])
def test_leading_zeros_belong_to_a_code(text: str) -> None:
    assert literal_forms(text) == (text,)


@pytest.mark.parametrize(
    "text",
    [
        "142 South Huron Street",
        "11 December",
        "50 Cent",
        "1672 W. Bowman Rd",
        "2005 -2008",
        "3250 BC",
    ],
)
def test_a_number_within_a_name_is_not_a_form_of_it(text: str) -> None:
    assert literal_forms(text) == (text,)


def test_a_literal_keeps_its_letters_and_drops_outer_space() -> None:
    assert literal_forms("  El Niño ") == ("El Niño",)


@given(st.text(min_size=1).filter(str.strip))
def test_every_text_has_a_form_and_none_is_blank(text: str) -> None:
    forms = literal_forms(text)
    assert forms
    assert all(form.strip() for form in forms)
    assert len(set(forms)) == len(forms)


@pytest.mark.parametrize("text", ["²²²²", "①②③④", "١٩٦١", "½"])
def test_digits_of_other_kinds_are_text(text: str) -> None:
    assert literal_forms(text) == (text,)


def test_plain_numbers() -> None:
    assert all(map(is_number, ("1", "+1", "-1.5", "0.25")))
    others = ("", "+", ".5", "1e3", "1E1000000000", "0E-1000000000", "1.2.3", "٣", "NaN")
    assert not any(map(is_number, others))
