"""A consultation: what is answered to a question or a task from what was served, and what it rests on.

Whoever is consulted is believed only as far as it can be checked. An answer that cites nothing that was served, that
repeats what may not be quoted, that speaks to whoever reads it, or that never came is replaced by the extractive one.
"""

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

import orjson

from falsify.brain.answering import (
    NO_EXPERIENCE,
    UNKNOWN,
    Extract,
    Found,
    extractive,
    find,
    guidance,
    may_quote,
    repeats,
)
from falsify.brain.citations import Citing, verified
from falsify.brain.injection import injections
from falsify.brain.response_schema import Schema, value_fault
from falsify.brain.sentences import first_sentences
from falsify.brain.structuring import extracted
from falsify.ports import Abstention, Advice, Consultant, Consultation, Embedder, Shown

Mode = Literal["question", "guidance"]

CHARACTERS: Final = 4
"""About so many characters are a token."""

UNANSWERED: Final[Mapping[Mode, str]] = {"question": UNKNOWN, "guidance": NO_EXPERIENCE}
"""What is said where nothing can be answered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is asked for: `schema` is {} for prose, `max_tokens` about how long the answer may be."""

    asked: str
    mode: Mode
    schema: Schema
    max_tokens: int

    @property
    def room(self) -> int:
        """The characters that an answer may have."""
        return CHARACTERS * self.max_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """An answer. `known` is False where nothing was found; `places` are those of the cited extracts, by number.

    `structured` is the object that was asked for, `fault` why there is none. `by` says who answered, `instead` whether
    that was because somebody else had no usable answer.
    """

    text: str
    known: bool = True
    places: tuple[int, ...] = ()
    structured: Mapping[str, Any] | None = None
    fault: str = ""
    by: str = "extractive"
    instead: bool = False


def consult(
    request: Request, extracts: Sequence[Extract], *, weak: bool, embedder: Embedder, consultant: Consultant | None
) -> Reply:
    """Return the answer; `weak` says that the evidence is. The consultant, if there is one, is asked at most once.

    Where nothing relevant was served, nobody is asked. Raises UnavailableError if the embedder cannot be used.
    """
    guides = request.mode == "guidance"
    broad = guides or bool(request.schema)
    found = find(request.asked, extracts, embedder, weak=weak, broad=broad, guidance=guides)
    if found is None:
        return _unknown(request)
    if consultant is None:
        return _extractive(request, found)
    advice = consultant.consult(_consultation(request, extracts))
    if isinstance(advice, Advice) and not advice.known:
        return replace(_unknown(request), by=consultant.name)
    checked = None if isinstance(advice, Abstention) else _checked(request, advice.text, extracts)
    if checked is None:
        return replace(_extractive(request, found), instead=True)
    return replace(checked, by=consultant.name)


def _unknown(request: Request) -> Reply:
    fault = "nothing is known that could be structured" if request.schema else ""
    return Reply(text=UNANSWERED[request.mode], known=False, fault=fault)


def _extractive(request: Request, found: Found) -> Reply:
    if request.schema:
        told = [each.sentence.text for each in found.best if may_quote(each, found.extracts[each.place])]
        return _structured(request.schema, extracted(request.schema, told))
    made = guidance(found, room=request.room) if request.mode == "guidance" else extractive(found, room=request.room)
    return _cited(made)


def _consultation(request: Request, extracts: Sequence[Extract]) -> Consultation:
    shown = tuple(Shown(each.title, each.text, each.quotable) for each in extracts)
    return Consultation(
        mode=request.mode, asked=request.asked, extracts=shown, schema=request.schema, max_tokens=request.max_tokens
    )


# --- what is believed -----------------------------------------------------------------------------------------


def _checked(request: Request, said: str, extracts: Sequence[Extract]) -> Reply | None:
    """Return an answer of a consultant as far as it holds, or None where it cannot be used."""
    text = _visible(said).strip()
    if repeats(text, extracts) or next(injections(text), None) is not None:
        return None
    if request.schema:
        return _parsed(request, text) if len(text) <= request.room else None
    reply = _cited(verified(first_sentences(text, request.room), extracts))
    return reply if reply.places else None


def _cited(made: Citing) -> Reply:
    return Reply(text=made.text, places=made.places)


def _parsed(request: Request, text: str) -> Reply:
    """Return what was said as JSON; where it is none, or does not conform, it is told as it was said, and why."""
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return Reply(text=text, fault="the answer is no JSON")
    fault = value_fault(request.schema, value)
    return Reply(text=text, structured=None if fault else value, fault=fault)


def _structured(schema: Schema, value: Mapping[str, Any]) -> Reply:
    fault = value_fault(schema, value) or ("" if value else "nothing of it was found")
    return Reply(text=orjson.dumps(value).decode(), structured=None if fault else value, fault=fault)


def _visible(text: str) -> str:
    """Return a text without control and format characters, which nobody sees; line ends and tabs stay."""
    return "".join(c for c in text if c in "\n\t" or unicodedata.category(c) not in {"Cc", "Cf", "Cs", "Co"})
