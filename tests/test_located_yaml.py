"""Whatever strangers write, the fault is told with the line and column at which it stands."""

from typing import Annotated

import pytest
from pydantic import BaseModel, ConfigDict, Field, model_validator

from falsify import located_yaml
from falsify.errors import InvalidInputError, NotFoundError
from falsify.located_yaml import Place


class Leaf(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    size: int = 0
    names: Annotated[tuple[str, ...], Field(strict=False)] = ()


class Tree(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    title: str
    leaves: Annotated[tuple[Leaf, ...], Field(strict=False)] = ()
    by_name: dict[str, Leaf] = {}

    @model_validator(mode="after")
    def _grows(self):
        if self.title == "A stone":
            raise ValueError("stones do not grow")
        return self


def parse(text, name="tree.yaml"):
    return located_yaml.parse(name, text, Tree, what="tree", begins="it starts with `title: …`")


def refused(text, name="tree.yaml"):
    with pytest.raises(InvalidInputError) as told:
        parse(text, name)
    return told.value.message, told.value.hint


DOCUMENT = """\
title: An oak
leaves:
  - size: 1
  - {names: [a, b], size: 2}
by_name:
  c: {size: 3}
"""


def test_a_document_is_a_value_and_knows_where_its_parts_stand():
    document = parse(DOCUMENT)
    assert document.value == Tree(
        title="An oak", leaves=(Leaf(size=1), Leaf(size=2, names=("a", "b"))), by_name={"c": Leaf(size=3)}
    )
    assert document.place(()) == Place(1, 1)
    assert document.place(("leaves", 0, "size")) == Place(3, 11)
    assert document.place(("leaves", 1, "names", 1)) == Place(4, 17)
    assert document.place(("by_name", "c"), key=True) == Place(6, 3)
    assert document.place(("leaves", 7, "size")) == Place(3, 3)
    error = document.error(("leaves", 1), "that leaf fell", hint="pick another")
    assert (error.message, error.hint) == ("tree.yaml, line 4, column 5: that leaf fell", "pick another")


def test_json_is_read_the_same_and_held_to_its_own_rules():
    assert parse('{"title": "An oak", "leaves": [{"size": 1}]}', "tree.json").value.leaves == (Leaf(size=1),)
    message, _ = refused('{"title": "An oak",\n "leaves": [{"size": 1},]}', "tree.json")
    assert message.startswith("tree.json, line 2, column 24: this is not JSON: ")
    assert refused("title: An oak", "tree.json")[0].startswith("tree.json, line 1, column 1: this is not JSON: ")


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("title: [\n", "tree.yaml, line 2, column 1: this is not YAML", ""),
        ("title: a\n\tleaves: []", "tree.yaml, line 2, column 1: this is not YAML", ""),
        ("title: a\x07b", "tree.yaml, line 1, column 9: the character U+0007 is not allowed", "remove it"),
        ("a\nb: c\x00", "tree.yaml, line 2, column 5: the character U+0000 is not allowed", "remove it"),
        ("", "tree.yaml is not a tree", "it starts with `title: …`"),
        ("just words", "tree.yaml is not a tree", "it starts with `title: …`"),
        ("title: a\n---\ntitle: b", "tree.yaml, line 2, column 1: this is not YAML", ""),
        ("? [a, b]\n: c", "tree.yaml, line 1, column 3: a key must be a plain word", ""),
        ("title: a\ntitle: b", "tree.yaml, line 2, column 1: the key 'title' is given twice", ""),
        ("title: 2021-13-01", "tree.yaml, line 1, column 8: '2021-13-01' is not a value: month must be in 1..12", ""),
        ("title: !!python/name:os.system x", "tree.yaml, line 1, column 8: 'x' is not a value", ""),
        ("title: a\nleaves: &x []\nby_name: *x", "tree.yaml, line 2, column 9: anchors and aliases", "write it out"),
        ("title: 1", "tree.yaml, line 1, column 8: title: Input should be a valid string", ""),
        ("leaves: []", "tree.yaml, line 1, column 1: 'title' is missing", ""),
        ("titel: a", "tree.yaml, line 1, column 1: unknown key 'titel'", "by_name, leaves, title; 1 more like this"),
        ("title: a\nleaves:\n  - sise: 1", "tree.yaml, line 3, column 5: unknown key 'sise'", "names, size"),
        ("title: a\nby_name:\n  c: {sise: 1}", "tree.yaml, line 3, column 7: unknown key 'sise'", "names, size"),
        ("title: a\nby_name:\n  1: {}", "tree.yaml, line 3, column 3: the key 1 is not text", "put it in quotes"),
        ("title: a\nby_name:\n  no: {}", "tree.yaml, line ", "put it in quotes"),
        ("title: A stone", "tree.yaml, line 1, column 1: stones do not grow", ""),
        ("title: a\nleaves:\n  - size: big", "tree.yaml, line 3, column 11: leaves.0.size: Input should be", ""),
    ],
)
def test_a_fault_is_told_with_its_place(text, message, hint):
    told, advice = refused(text)
    assert told.startswith(message)
    assert hint in advice


def test_what_is_nested_beyond_reason_is_refused():
    deep = "title: " + "[" * 5000 + "]" * 5000
    assert refused(deep)[0] == "tree.yaml, line 1, column 1007: this is not YAML: exceeded maximum nesting depth"
    # How deep the interpreter follows differs by version; either way it is one refusal and no crash.
    assert refused("title: " + "[" * 900 + "]" * 900)[0] in {
        "tree.yaml is nested too deeply to be a tree",
        "tree.yaml, line 1, column 8: title: Input should be a valid string",
    }


def test_a_file_is_read_as_text(tmp_path):
    path = tmp_path / "tree.yaml"
    path.write_bytes(b"\xef\xbb\xbftitle: Eiche \xc3\xa4\r\n")
    document = located_yaml.read(path, Tree, what="tree", begins="")
    assert (document.name, document.value.title) == (str(path), "Eiche ä")


def test_what_is_no_text_file_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "tree.yaml"
    with pytest.raises(NotFoundError, match="there is no file"):
        located_yaml.read_text(path, what="tree")
    with pytest.raises(InvalidInputError, match="is a folder"):
        located_yaml.read_text(tmp_path, what="tree")
    with pytest.raises(InvalidInputError, match="cannot be read: File name too long"):
        located_yaml.read_text(tmp_path / ("x" * 300), what="tree")
    path.write_bytes(b"title: \xe4")
    with pytest.raises(InvalidInputError, match=r"is not UTF-8 text \(byte 7\)"):
        located_yaml.read_text(path, what="tree")
    monkeypatch.setattr(located_yaml, "MAX_BYTES", 7)
    with pytest.raises(InvalidInputError, match="has 8 bytes; the limit is 7"):
        located_yaml.read_text(path, what="tree")


def test_a_character_that_is_not_allowed_is_found_behind_others_of_several_bytes():
    message, _ = refused("title: Eiche äöü\nleaves: []\nby_name: {} # \x01\n")
    assert message == "tree.yaml, line 3, column 15: the character U+0001 is not allowed"
