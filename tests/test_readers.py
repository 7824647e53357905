"""Readers: what of a document is prose, what of the prose is a claim, and where in the file it stands."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from falsify.belief.documents import Claim, Weight
from falsify.belief.prose import Location, claims, find, gathered, is_claim, passage
from falsify.errors import InvalidInputError
from surfaces.readers import format_of, holds_beliefs, read
from tests.pdfs import encrypted, pdf

TEXT = "The pump leaks. It is old, as Dr. Smith wrote.\n"


def prose(text, format_="text", name="a.txt"):
    data = text if isinstance(text, bytes) else text.encode()
    return read(name, data, format_)


def found(text, format_="text"):
    """Return the claims of a document as texts."""
    return [sentence.text for sentence in claims(prose(text, format_).passages)[0]]


def located(text, format_="text"):
    return [(sentence.text, sentence.location) for sentence in claims(prose(text, format_).passages)[0]]


def refusal(data, format_, name="file"):
    with pytest.raises(InvalidInputError) as refused:
        read(name, data if isinstance(data, bytes) else data.encode(), format_)
    return refused.value.message


# --- what a claim is -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "The pump leaks.",
        "Sessions expire after 60 minutes.",
        "Die Pumpe ist undicht.",
        "the sun rising is a kind of event",
        "The report documents the defect",
        "It didn't start",
        "Leaks occur in winter",
        'He said: "It is broken."',
        "The valve was replaced (twice)",
        "Pumps have seals",
    ],
)
def test_what_ends_like_a_sentence_or_has_a_verb_is_a_claim(text):
    assert is_claim(text)


@pytest.mark.parametrize(
    "text",
    [
        "Who broke the pump?",
        "The causes of this are the following:",
        'Who said "it broke"?)',
        "It leaks.",
        "Latch failure rate by unit",
        "Table of contents",
        "Appendix B: field data",
        "The quality of the new valves",
        "Three kinds of pumps in the plant",
        "42",
        "",
        "-- * --",
    ],
)
def test_questions_fragments_and_two_words_are_none(text):
    assert not is_claim(text)


def test_how_many_were_left_out_is_counted():
    kept, left_out = claims(prose("The pump leaks. Does it? Yes. It is old enough.").passages)
    assert ([s.text for s in kept], left_out) == (["The pump leaks.", "It is old enough."], 2)


# --- passages ------------------------------------------------------------------------------------------------

pieces = st.lists(st.text(alphabet="ab \n\t\u00ad\u200b.é", max_size=8), max_size=6)


@given(pieces)
def test_every_character_of_a_passage_is_where_it_says_it_is(texts):
    whole = "".join(texts)
    starts = [len("".join(texts[:i])) for i in range(len(texts))]
    made = passage((text, Location(start)) for text, start in zip(texts, starts, strict=True))
    if made is None:
        assert not re.sub(r"[\s\u00ad\u200b]", "", whole)
        return
    assert made.text == " ".join(re.sub("[\u00ad\u200b]", "", whole).split())
    for index, character in enumerate(made.text):
        if character != " ":
            assert whole[made.at(index).character] == character


@given(st.lists(st.lists(st.sampled_from(["The pump leaks.", "It is old.", "A b c d e f."]), min_size=1), max_size=5))
def test_gathered_passages_lose_no_sentence_and_keep_its_place(blocks):
    text = "\n\n".join(" ".join(block) for block in blocks) or "x"
    read_ = prose(text).passages
    gathered_ = list(gathered(read_, 30))
    assert [(s.text, s.location) for s in claims(gathered_)[0]] == [(s.text, s.location) for s in claims(read_)[0]]
    assert all(len(each.text) <= 30 for each in gathered_)


@pytest.mark.parametrize(
    ("quote", "place"),
    [
        ("pump  LEAKS", (4, 14)),
        ("\u201cold\u201d \u2013 it's", (19, 31)),
        ("pump.leaks", None),
        ("", None),
        ("and more", None),
    ],
)
def test_a_quote_is_found_whatever_its_case_spaces_and_marks(quote, place):
    assert find('The pump leaks; is "old" - it\u2019s said', quote) == place


# --- plain text ----------------------------------------------------------------------------------------------


def test_a_text_is_its_sentences_with_the_place_of_each():
    assert located("\ufeffIntro here\n\n" + TEXT) == [
        ("The pump leaks.", Location(12, 3)),
        ("It is old, as Dr. Smith wrote.", Location(28, 3)),
    ]


def test_hard_wrapped_lines_are_one_paragraph():
    text = "The pump of the second line leaks since\nMonday, and nobody has looked at it, as\n"
    text += "the well-\nknown report says."
    assert found(text) == [
        "The pump of the second line leaks since Monday, and nobody has looked at it, as the well-known report says."
    ]


def test_a_line_that_had_room_for_the_next_word_ended_on_purpose():
    assert found("The pump leaks\nThe seal is worn and was never replaced\nIt was seen by\nAda Smith on Monday") == [
        "The pump leaks",
        "The seal is worn and was never replaced",
        "It was seen by Ada Smith on Monday",
    ]


def test_bullets_and_numbers_begin_a_passage():
    assert located(
        "Findings:\n- the pump leaks\n  every day\n* the seal is worn\n1. the motor is old\n(b) the fan is off"
    ) == [
        ("the pump leaks every day", Location(12, 2)),
        ("the seal is worn", Location(41, 4)),
        ("the motor is old", Location(61, 5)),
        ("the fan is off", Location(82, 6)),
    ]


@given(
    st.lists(st.sampled_from(["The pump leaks.", "It is very old.", "Nobody saw it fail."]), min_size=1),
    st.integers(12, 60),
)
def test_the_claims_of_a_text_do_not_depend_on_how_it_is_wrapped(sentences, width):
    import textwrap

    flowing = " ".join(sentences)
    assert found("\n".join(textwrap.wrap(flowing, width))) == found(flowing) == sentences


@given(st.text(alphabet=st.characters(codec="utf-8", categories=("L", "N", "P", "Z")), max_size=200))
def test_any_text_is_read_or_refused(text):
    try:
        kept, _ = claims(prose(text).passages)
    except InvalidInputError:
        assert not text.strip()
        return
    for sentence in kept:
        first = sentence.text[0]
        assert text[sentence.location.character] == first


# --- markdown ------------------------------------------------------------------------------------------------

PAGE = """\
---
title: "Field report"
date: 2021-03-15
---
# The first heading is here

The latch **failed** in [4 % of units](http://x.y/z_(1) "t"), `unit-7` among
them. Did we know? It was \\*<b>seen</b>\\* &amp; told.[^1]

| The table | is here |
|-----------|---------|
| The table | is data. |

```python
The code is no prose.
```

    The indented code is none.

Setext heading is no prose
--------------------------

> The pump was replaced in 2019.

* The first point is that it leaks
* [x] The second point
  goes on here.

      The list goes on with code-like depth.

1. ~~The valve is fine.~~ The valve is broken.

<!-- The comment
is hidden. -->
<script>
The script is no prose.
</script>

![The picture shows it.](a.png)

[ref]: http://x.y The reference is none.
[^1]: The footnote is prose.

***
The end is near.
"""


def test_the_prose_of_a_page_is_what_is_no_heading_code_table_or_comment():
    assert found(PAGE, "markdown") == [
        "The latch failed in 4 % of units, unit-7 among them.",
        "It was *seen* & told.",
        "The pump was replaced in 2019.",
        "The first point is that it leaks",
        "The second point goes on here.",
        "The list goes on with code-like depth.",
        "The valve is broken.",
        "The footnote is prose.",
        "The end is near.",
    ]


def test_the_places_of_a_page_are_those_in_its_source():
    for text, location in located(PAGE, "markdown"):
        assert PAGE[location.character :].startswith(text.split()[0].rstrip("."))
        assert PAGE.count("\n", 0, location.character) + 1 == location.line


def test_title_and_date_are_those_of_the_front_matter_or_the_first_heading():
    told = prose(PAGE, "markdown")
    assert (told.title, told.asserted_at) == ("Field report", "2021-03-15")
    assert prose("Intro is here.\n\n# The *big* title #\n", "markdown").title == "The big title"
    assert prose("The big\ntitle\n=====\n", "markdown").title == "The big title"
    assert prose("## Not the first\n\nIt is so.", "markdown", "x/note.md").title == "note.md"


@pytest.mark.parametrize("date", ["soon", "03/04/2021", "[1, 2]", "2021-13-45", ""])
def test_a_date_that_could_be_read_in_two_ways_is_none(date):
    told = prose(f"---\ndate: {date}\n---\nIt is so.", "markdown")
    assert (told.asserted_at, [p.text for p in told.passages]) == ("", ["It is so."])


def test_front_matter_that_is_no_yaml_is_no_prose_either():
    assert found("---\n{ it is: [ broken.\n---\nIt is so.", "markdown") == ["It is so."]


def test_a_fence_that_is_never_closed_hides_the_rest():
    assert found("It is so.\n\n~~~\nThe code is here.\n\nAnd it is code.", "markdown") == ["It is so."]


def test_snake_case_products_and_stars_between_numbers_stay():
    assert found("The flag keep_going_now is 3 * 4 and 5*6 high.", "markdown") == [
        "The flag keep_going_now is 3 * 4 and 5*6 high."
    ]


# --- HTML ----------------------------------------------------------------------------------------------------

WEB = """<!DOCTYPE html>
<html><head><title>The pump &amp; its seal</title>
<meta property="article:published_time" content="2021-03-15T10:00:00+01:00">
<style>p { color: red }</style></head><body>
<nav><ul><li>The nav is here.</li></ul></nav>
<h1>The heading is big</h1>
<p>The pump <b>leaked</b> on
Monday&nbsp;&amp; Tuesday. It is <code>old</code>.<br>Nobody was told<p>The valve&#x2019;s broken.
<table><tr><td>The layout cell is prose.</td></tr></table>
<table><thead><tr><th>h</th></tr></thead><tr><td>The data cell is data.</td></tr></table>
<pre>The code is code.</pre><script>var x = "The script is bad.";</script>
<p hidden>The hidden is hidden.</p><p>It is <del>not</del> here.</p>
<ul><li>An item which is fine<li>Another one is too</ul>
<form><p>The form is a form.</p></form><aside>The aside is aside.</aside><footer>The foot is foot.</footer>
<!-- The comment is hidden. --></body></html>
"""


def test_the_prose_of_a_web_page_is_what_its_reader_reads():
    assert found(WEB, "HTML") == [
        "The pump leaked on Monday & Tuesday.",
        "It is old.",
        "Nobody was told",
        "The valve’s broken.",
        "The layout cell is prose.",
        "It is here.",
        "An item which is fine",
        "Another one is too",
    ]


def test_the_places_of_a_web_page_are_those_in_its_source():
    for text, location in located(WEB, "HTML"):
        assert WEB[location.character :].startswith(text.split()[0])
        assert WEB.count("\n", 0, location.character) + 1 == location.line


def test_a_web_page_has_the_title_and_the_date_it_says():
    told = prose(WEB, "HTML")
    assert (told.title, told.asserted_at) == ("The pump & its seal", "2021-03-15T09:00:00Z")
    assert prose("<h2>A <i>small</i> head</h2><p>It is so.", "HTML").title == "A small head"
    assert prose("<p>It is so.", "HTML", "x/page.html").title == "page.html"


def test_a_page_may_declare_its_encoding():
    page = '<meta charset="windows-1252"><p>The café is “closed”.'
    assert found(page.encode("cp1252"), "HTML") == ["The café is “closed”."]
    assert "is not UTF-8" in refusal(page.replace("windows-1252", "nonsense").encode("cp1252"), "HTML")


SOUP = (
    "<p> </p> <table> </table> <nav> </nav> <!-- --> <b > &amp &#x; <script> </script> <![CDATA[ ]]> <![foo[ <!DOC </ "
    "<th> <del> <h1> <title>"
)


@given(st.lists(st.sampled_from([*SOUP.split(), "It is so. ", "\x0c", "<td hidden>"]), min_size=1, max_size=15))
def test_soup_is_read_or_refused(tags):
    soup = "".join(tags)
    try:
        told = located(soup, "HTML")
    except InvalidInputError:
        return  # what is empty, or opens a declaration that there is not
    for text, location in told:
        assert soup[location.character] == text[0]


# --- PDF -----------------------------------------------------------------------------------------------------


def test_a_pdf_is_its_sentences_with_the_page_of_each():
    data = pdf(
        ["Results of the second series", "The pump of the second line was found to leak, and the docu-",
         "mentation of its well-", "known seal did not say so. The well-known", "report was written by"],
        ["Ada Smith. Nobody read the report that she wrote about it.", "The end is here."],
        title="The report",
    )  # fmt: skip
    long = [
        "The pump of the second line was found to leak, and the documentation",
        "of its well-known seal did not say so.",
    ]
    told = prose(data, "PDF")
    assert told.title == "The report"
    kept, left_out = claims(told.passages)
    assert [(s.text, s.location.page) for s in kept] == [
        (" ".join(long), 1),
        ("The well-known report was written by Ada Smith.", 1),
        ("Nobody read the report that she wrote about it.", 2),
        ("The end is here.", 2),
    ]
    assert left_out == 1
    assert kept[1].location.line == 0


def test_running_heads_and_page_numbers_are_left_out():
    pages = [
        ["The annual report is out.", f"Fact {n} is that the pump leaks.", f"Page {n} is here."] for n in range(1, 5)
    ]
    assert found(pdf(*pages), "PDF") == [f"Fact {n} is that the pump leaks." for n in range(1, 5)]


@pytest.mark.parametrize("title", ["", "Microsoft Word - x.doc", "report-final.docx", "Untitled"])
def test_a_title_that_a_program_gave_is_none(title):
    assert prose(pdf(["The pump leaks."], title=title), "PDF", "x/scan.pdf").title == "scan.pdf"


def test_a_pdf_without_a_password_for_reading_is_read():
    assert found(encrypted(pdf(["The pump leaks."]), ""), "PDF") == ["The pump leaks."]


# --- tables --------------------------------------------------------------------------------------------------

LEAKS = Claim("The pump leaks.", "", Location(line=2))


def rows(text, format_):
    return list(prose(text, format_).claims)


def test_a_csv_is_a_claim_a_row():
    text = (
        "claim,source,title,asserted_at,quote,supports,refutes\n"
        '"It leaks, they say.",log,The log,2021-01-02,"""drip""",A:0.5; B,C\n\nThe pump leaks.,,,,,,\n'
    )
    assert rows(text, "CSV") == [
        Claim(
            "It leaks, they say.",
            '"drip"',
            Location(line=2),
            "log",
            "The log",
            "2021-01-02",
            (Weight("A", "supports", 0.5), Weight("B", "supports", 1.0), Weight("C", "refutes", 1.0)),
        ),
        Claim("The pump leaks.", "", Location(line=4)),
    ]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_commas_semicolons_and_tabs_separate(delimiter):
    assert rows(f"source{delimiter}claim\r\nlog{delimiter}The pump leaks.\r\n", "CSV") == [
        Claim("The pump leaks.", "", Location(line=2), "log")
    ]


def test_a_row_with_line_breaks_in_it_stands_where_it_begins():
    assert [c.location.line for c in rows('claim\n"It\nleaks."\nIt is old.\n', "CSV")] == [2, 4]


def test_json_lines_are_a_claim_a_line():
    supports = '["A:0.5", {"hypothesis": "B", "weight": 0.25}]'
    text = f'{{"claim": "The pump leaks."}}\n\n{{"claim": "It is old.", "supports": {supports}, "refutes": "C"}}'
    assert rows(text, "JSON Lines") == [
        Claim("The pump leaks.", "", Location(line=1)),
        Claim(
            "It is old.",
            "",
            Location(line=3),
            weights=(Weight("A", "supports", 0.5), Weight("B", "supports", 0.25), Weight("C", "refutes", 1.0)),
        ),
    ]


# --- formats -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "data", "format_"),
    [
        ("a.txt", b"", "text"),
        ("A.MD", b"", "markdown"),
        ("a.htm", b"", "HTML"),
        ("a.pdf", b"", "PDF"),
        ("a.ndjson", b"", "JSON Lines"),
        ("a.tsv", b"", "CSV"),
        ("a.yml", b"", "belief file"),
        ("a", b"%PDF-1.4", "PDF"),
        ("a", b"\xef\xbb\xbf<!doctype HTML>", "HTML"),
        ("a", b'{"claim": 1}', "JSON Lines"),
        ("a", b"# comment\n\nquestion: What?\n", "belief file"),
        ("a", b"What is it?", "text"),
        ("a.rst", b"What is it?", "text"),
    ],
)
def test_a_format_is_known_by_the_name_or_by_how_the_file_begins(name, data, format_):
    assert format_of(name, data) == format_


@pytest.mark.parametrize(
    ("data", "holds"),
    [
        (b"question: What?", True),
        (b"# x\nquestion : What?\nevidence: []", True),
        (b'{"question": "What?"}', True),
        (b'{\n  "question": "What?"}', True),
        (b'{"name": "package", "version": "1"}', False),
        (b"services:\n  db: {}\n", False),
    ],
)
def test_other_yaml_and_json_is_told_from_belief_files(data, holds):
    assert holds_beliefs(data) is holds


# --- faults --------------------------------------------------------------------------------------------------

TEXTUAL = ["text", "markdown", "HTML", "JSON Lines", "CSV"]
BROKEN_TEXT = {
    "empty": (b"", r"file is empty"),
    "blank": (b" \n\t\r\n ", r"file is empty"),
    "only a mark": (b"\xef\xbb\xbf", r"file is empty"),
    "binary": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", r"file is binary"),
    "nul": (b"claim\nThe pump\0 leaks.", r"line 2, column 9: it is binary"),
    "escape": (b"claim\nThe pump\x1b[1m leaks.", r"line 2, column 9: it holds the control character U\+001B"),
    "delete": (b"claim\nThe pump\x7f leaks.", r"line 2, column 9: it holds the control character U\+007F"),
    "latin-1": ("claim\nThe café is shut.".encode("latin-1"), r"line 2, column 8: byte 0xE9 is not UTF-8"),
    "cut character": ("claim\nThe café".encode()[:-1], r"line 2, column 8: byte 0xC3 is not UTF-8"),
    "utf-16 without a mark": ("claim".encode("utf-16-le"), r"line 1, column 2: it is binary"),
    "half utf-16": (b"\xff\xfe\x41", r"begins like UTF-16 and is not"),
    "surrogate": (b"claim\n\xed\xa0\x80 is here.", r"line 2, column 1: byte 0xED is not UTF-8"),
}


@pytest.mark.parametrize("format_", TEXTUAL)
@pytest.mark.parametrize("kind", BROKEN_TEXT)
def test_bytes_that_are_no_text_are_named_with_their_place(kind, format_):
    data, says = BROKEN_TEXT[kind]
    message = refusal(data, format_)
    assert re.search(says, message), message
    assert message.startswith("file")
    assert "\n" not in message


def test_utf_16_with_its_mark_is_read():
    assert found("The pump leaks.".encode("utf-16")) == ["The pump leaks."]


ROW_FAULTS = [
    ("CSV", "The pump leaks.\n", r"line 1: there is no column 'The pump leaks\.'"),
    ("CSV", "source,title\na,b\n", r"line 1: there is no column 'claim'"),
    ("CSV", "claim,klaim\na,b\n", r"line 1: there is no column 'klaim'"),
    ("CSV", "claim,\na,b\n", r"line 1: there is no column ''"),
    ("CSV", "claim,claim\na,b\n", r"line 1: the column 'claim' is there twice"),
    ("CSV", "claim,source\nIt is so.\n", r"line 2: it has 1 cells, and the first line names 2 columns"),
    ("CSV", "claim\nIt is so, or not.\n", r"line 2: it has 2 cells"),
    ("CSV", 'claim\nIt is so.\n"It is not.\n', r"line 3: a quotation mark is not closed"),
    ("CSV", 'claim\n"It is "so".\n', r"line 2: .*expected after"),
    ("CSV", "claim,source\n,log\n", r"line 2, column 'claim': the text is empty"),
    ("CSV", "claim,asserted_at\nIt is.,soon\n", r"line 2, column 'asserted_at': the date 'soon' is not a date"),
    ("CSV", "claim,supports\nIt is.,A:2\n", r"line 2, column 'supports': .*less than or equal to 1"),
    ("CSV", "claim,supports\nIt is.,A B\n", r"line 2, column 'supports': "),
    ("CSV", f"claim\n{'x' * 20_001}\n", r"line 2, column 'claim': the text has 20,001 characters"),
    ("CSV", f"claim\n{'x' * 1_000_001}\n", r"line 2: field larger than field limit"),
    ("CSV", f"claim,source\nIt is.,{'x' * 257}\n", r"line 2, column 'source': "),
    ("JSON Lines", '{"claim": "It is so."}\n{"claim": "It is"\n', r"line 2, column 18: this is not JSON"),
    ("JSON Lines", "It is so.\n", r"line 1, column 1: this is not JSON"),
    ("JSON Lines", "[1]\n", r"line 1: a line is an object"),
    ("JSON Lines", '"It is so."\n', r"line 1: a line is an object"),
    ("JSON Lines", "null\n", r"line 1: a line is an object"),
    ("JSON Lines", "{}\n", r"line 1: the column 'claim' is missing"),
    ("JSON Lines", '{"klaim": "It is."}\n', r"line 1: there is no column 'klaim'"),
    ("JSON Lines", '{"claim": "It is.", "claim": "b"}\n', r"line 1: the key 'claim' is given twice"),
    ("JSON Lines", '{"claim": NaN}\n', r"line 1: NaN is not JSON"),
    ("JSON Lines", '{"claim": 7}\n', r"line 1, column 'claim': .*valid string"),
    ("JSON Lines", '{"claim": null}\n', r"line 1, column 'claim': .*valid string"),
    ("JSON Lines", '{"claim": "It is.", "source": ["a"]}\n', r"line 1, column 'source': .*valid string"),
    ("JSON Lines", '{"claim": "It is.", "asserted_at": 2021}\n', r"line 1, column 'asserted_at': .*valid string"),
    ("JSON Lines", '{"claim": "It is.", "supports": 7}\n', r"line 1, column 'supports': .*valid tuple"),
    ("JSON Lines", '{"claim": "It is.", "supports": [7]}\n', r"line 1, column 'supports': "),
    (
        "JSON Lines",
        '{"claim": "It is.", "supports": [{"hypothesis": "A", "wait": 1}]}\n',
        r"line 1, column 'supports': ",
    ),
    ("JSON Lines", '{"claim": "It is.", "quote": "a\\u0007b"}\n', r"line 1, column 'quote': .*U\+0007"),
    ("JSON Lines", '{"claim": "a\\ud800b"}\n', r"line 1, column 'claim': "),
    ("JSON Lines", f'{{"claim": {"[" * 100_000}\n', r"line 1: it is nested too deeply"),
    ("JSON Lines", f'{{"claim": "{"x" * 20_001}"}}\n', r"line 1, column 'claim': the text has 20,001 characters"),
]


@pytest.mark.parametrize(("format_", "text", "says"), ROW_FAULTS, ids=range(len(ROW_FAULTS)))
def test_a_bad_row_is_named_with_line_and_column(format_, text, says):
    message = refusal(text, format_)
    assert re.match(f"file, {says}", message), message
    assert len(message) < 400


WHOLE = pdf(["The pump leaks."], ["The seal is worn."])
PDF_FAULTS = {
    "empty": (b"", "is not a PDF"),
    "text": (b"The pump leaks.", "is not a PDF"),
    "only a head": (b"%PDF-1.4\n", "is cut off"),
    "half": (WHOLE[: len(WHOLE) // 2], "is cut off"),
    "without an end": (WHOLE[:-8], "is cut off"),
    "nothing inside": (b"%PDF-1.4\n%%EOF\n", "this PDF is broken"),
    "no pages": (
        WHOLE.replace(b"/Type /Pages", b"/Type /Pagex").replace(b"/Kids", b"/Kidx"),
        "this PDF is broken|holds no text",
    ),
    "noise inside": (WHOLE[:20] + bytes(range(1, 200)) * 20 + b"\n%%EOF\n", "this PDF is broken"),
    "a page that loops": (WHOLE.replace(b"/Kids [4 0 R", b"/Kids [2 0 R"), "this PDF is broken|holds no text"),
    "a password": (encrypted(WHOLE, "secret"), "is encrypted"),
    "scanned": (pdf([], []), "holds no text on its 2 pages"),
    "no page at all": (pdf(), "holds no text on its 0 pages"),
}


@pytest.mark.parametrize("kind", PDF_FAULTS)
def test_a_broken_pdf_is_one_clear_message(kind):
    data, says = PDF_FAULTS[kind]
    message = refusal(data, "PDF")
    assert re.search(says, message), message
    assert message.startswith("file")
    assert "\n" not in message


@given(st.data())
def test_a_pdf_that_was_damaged_anywhere_is_read_or_refused(data):
    damaged = bytearray(WHOLE)
    for _ in range(data.draw(st.integers(1, 8))):
        damaged[data.draw(st.integers(0, len(WHOLE) - 1))] = data.draw(st.integers(0, 255))
    try:
        told = read("file", bytes(damaged), "PDF")
    except InvalidInputError:
        return  # anything else that pypdf raises would fail this test
    assert all(passage_.text for passage_ in told.passages)


def test_no_reader_is_imported_before_it_is_needed():
    source = Path(read.__code__.co_filename).read_text(encoding="utf-8")
    assert "pypdf" not in source
    assert "import_module" in source
