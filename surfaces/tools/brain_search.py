"""What search_company_context and grep_company_context answer: payloads with exactly the contract's keys.

A call sees the pages of its scope and nothing else takes part: a page that is denied, or too sensitive for where the
answer goes, leaves the bytes of every answer as they would be without it.
"""

import math
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Any, Final

import orjson

from falsify.errors import UnavailableError
from projections.search.fusion import pipeline
from projections.search.index import Row, SearchIndex
from projections.search.pipeline import Hit, Ranking, neighbours, search, withheld
from projections.search.view import Admission
from surfaces.brain import Brain

Answer = bytes | str

NOTHING_THERE: Final = (
    "_There is nothing here that you may see: there are no pages yet, or none that is served to you, or to the person "
    "you ask for. The owner imports pages (`falsify brain import FOLDER`) and says on the org map who may see them "
    "(`falsify brain org`)._"
)
"""What is answered where there is no page that the call could see; it is true whatever the reason, and tells none."""

LONGEST_TEXT: Final = 2_000
"""Characters of a free text."""

MOST_RESULTS: Final = 50
"""The greatest k of a search."""

NEIGHBOR_TOKENS: Final = 400
"""About so many tokens of neighbouring sections come with each result."""

PATTERN: Final = (2, 256)
"""The fewest and most characters of a pattern."""

MOST_MATCHES: Final = 100
LINES_PER_PAGE: Final = 5
EXCERPT: Final = 240
"""Characters of a line that are shown, around the match."""


# --- search ---------------------------------------------------------------------------------------------------


def search_company_context(
    brain: Brain,
    caller: str,
    *,
    query: str,
    k: int = 8,
    on_behalf_of: str = "",
    include_indexes: bool = False,
    include_neighbors: bool = False,
    explain: bool = False,
    budget: int = 0,
    format: str = "compact",  # noqa: A002  # the contract's name
    show_expired: bool = False,
    doc_types: Sequence[str] = (),
    as_of: str = "",
    neighbor_tokens: int = NEIGHBOR_TOKENS,
) -> Answer:
    """Return the best chunks for a query. `neighbor_tokens` bounds the neighbours of each result."""
    if fault := text_fault(query, "query"):
        return refusal("invalid_query", fault)
    if format not in {"compact", "full", "toon"}:
        return refusal("invalid_format", "The format is compact, full or toon.")
    if format == "toon" and explain:
        return refusal("invalid_format", "explain is JSON: ask for it with the format compact or full.")
    if as_of and not is_day(as_of):
        return refusal("invalid_as_of", "as_of must be a date, written YYYY-MM-DD.")
    admission = Admission(
        scope=brain.scope(caller, on_behalf_of),
        day=as_of or brain.today,
        past=bool(as_of),
        lapsed=show_expired,
        indexes=include_indexes,
        types=tuple(dict.fromkeys(each.strip().casefold() for each in doc_types)),
    )
    try:
        index = brain.index
        ranking = search(index, query, admission)
    except UnavailableError as error:
        return unavailable(error)
    if ranking.nothing:
        return NOTHING_THERE
    hits = ranking.hits[: min(max(k, 1), MOST_RESULTS)]
    beside = _beside(index, ranking, hits, neighbor_tokens) if include_neighbors else None
    served = within(budget, [_volume(hit, beside[place] if beside else ()) for place, hit in enumerate(hits)])
    results = [
        {
            **(_full(hit) if format == "full" else _compact(hit)),
            **({"neighbors": beside[place]} if beside else {}),
            **({"explain": hit.explained()} if explain else {}),
        }
        for place, hit in enumerate(hits[:served])
    ]
    payload: dict[str, Any] = {"query": query, "results": results}
    if ranking.weak:
        payload["confidence"] = "low"
    if served < len(hits):
        payload["budget_truncated"] = True
    if as_of:
        payload["as_of"] = as_of
    if explain:
        payload["explain"] = _explained(index, ranking, admission)
    return serialized(payload, "toon" if format == "toon" else "json")


def _compact(hit: Hit) -> dict[str, Any]:
    return {
        "rank": hit.rank,
        "rel_path": hit.rel_path,
        "heading_path": hit.heading_path,
        "lifecycle_status": hit.lifecycle_status,
        "source_trust": hit.source_trust,
        "quotable": hit.quotable,
        "updated": hit.updated,
        "text": hit.text,
    }


def _full(hit: Hit) -> dict[str, Any]:
    return {
        "rank": hit.rank,
        "score": hit.score,
        "vector_score": hit.vector_score,
        "fts_score": hit.fts_score,
        "rel_path": hit.rel_path,
        "heading_path": hit.heading_path,
        "lifecycle_status": hit.lifecycle_status,
        "source_trust": hit.source_trust,
        "quotable": hit.quotable,
        "sources": list(hit.sources),
        "updated": hit.updated,
        "department": hit.department,
        "doc_type": hit.type,
        "text": hit.text,
        **({"origin": hit.origin} if hit.origin else {}),
    }


def _explained(index: SearchIndex, ranking: Ranking, admission: Admission) -> dict[str, Any]:
    return {
        "pipeline": pipeline(admission.day),
        "counts": dict(ranking.counts),
        "destination_filtered": withheld(index, admission),
    }


def _beside(index: SearchIndex, ranking: Ranking, hits: Sequence[Hit], tokens: int) -> list[list[dict[str, Any]]]:
    return [_neighbors(rows, 4 * tokens) for rows in neighbours(index, ranking, hits)]


def _neighbors(rows: Sequence[Row], room: int) -> list[dict[str, Any]]:
    """Return the neighbours of a result, cut to so many characters, which they share in order."""
    found = []
    for row in rows:
        text = row["text"][: max(room, 0)]
        if text:
            room -= len(text)
            found.append(
                {
                    "chunk_index": row["ordinal"],
                    "heading_path": row["heading_path"],
                    "text": text,
                    "truncated": len(text) < len(row["text"]),
                }
            )
    return found


def _volume(hit: Hit, beside: Sequence[Mapping[str, Any]]) -> int:
    return tokens_of(hit.text) + sum(tokens_of(each["text"]) for each in beside)


# --- grep -----------------------------------------------------------------------------------------------------


def grep_company_context(
    brain: Brain,
    caller: str,
    *,
    pattern: str,
    prefix: str = "",
    case_sensitive: bool = False,
    k: int = 20,
    on_behalf_of: str = "",
    format: str = "json",  # noqa: A002  # the contract's name
) -> Answer:
    """Return the lines of the present pages that hold a literal, by path and line.

    `truncated` says that visible lines were left out: more than `k`, or more than five of one page.
    """
    least, most = PATTERN
    if fault := text_fault(pattern, "pattern", least=least, most=most):
        return refusal("invalid_pattern", fault)
    if format not in {"json", "toon"}:
        return refusal("invalid_format", "The format is json or toon.")
    admission = Admission(scope=brain.scope(caller, on_behalf_of), day=brain.today, lapsed=True)
    try:
        index = brain.index
        view = index.view(admission)
        may_hold = index.literal(view, pattern.casefold())
        if not view.pages and not index.view(admission.unfiltered()).pages:
            return NOTHING_THERE
    except UnavailableError as error:
        return unavailable(error)
    texts = (
        (path, brain.text_at(path, position)) for path, position in view.paths(may_hold) if path.startswith(prefix)
    )
    matches: list[dict[str, Any]] = []
    truncated, room = False, min(max(k, 1), MOST_MATCHES)
    for path, text in texts:
        found = list(_lines(text, pattern, case_sensitive=case_sensitive))
        shown = found[: min(LINES_PER_PAGE, room - len(matches))]
        matches += [{"rel_path": path, "line": number, "text": line} for number, line in shown]
        truncated = truncated or len(shown) < len(found)
        if truncated and len(matches) == room:
            break
    payload = {"pattern": pattern, "matches": matches, **({"truncated": True} if truncated else {})}
    return serialized(payload, format)


def _lines(text: str, pattern: str, *, case_sensitive: bool) -> Iterator[tuple[int, str]]:
    """Yield number (from 1) and excerpt of the lines that hold the pattern."""
    wanted = pattern if case_sensitive else pattern.casefold()
    if wanted not in (text if case_sensitive else text.casefold()):
        return
    for number, line in enumerate(text.split("\n"), start=1):
        at = (line if case_sensitive else line.casefold()).find(wanted)
        if at >= 0:
            yield number, _excerpt(line.rstrip("\r"), at, len(pattern))


def _excerpt(line: str, at: int, length: int) -> str:
    """Return the line, or of a long one what is around the match."""
    if len(line) <= EXCERPT:
        return line
    start = min(max(0, at - (EXCERPT - length) // 2), len(line) - EXCERPT)
    return line[start : start + EXCERPT]


# --- answers --------------------------------------------------------------------------------------------------


def text_fault(text: str, name: str, *, least: int = 1, most: int = LONGEST_TEXT) -> str:
    """Return what is wrong with a free text, or nothing: empty, too long, or with control characters."""
    if not text.strip():
        return f"The {name} is empty."
    if any(unicodedata.category(character) in {"Cc", "Cs"} for character in text):
        return f"The {name} holds control characters."
    if len(text) < least:
        return f"The {name} is shorter than {least} characters."
    if len(text) > most:
        return f"The {name} is longer than {most:,} characters."
    return ""


def is_day(text: str) -> bool:
    """Return whether the text is a date, written YYYY-MM-DD."""
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def refusal(code: str, message: str) -> bytes:
    """Return an error object."""
    return orjson.dumps({"error": code, "message": message})


def unavailable(error: UnavailableError) -> str:
    """Return the note that is served instead of a crash."""
    return f"_The search index is not available: {error.message}._"


def tokens_of(text: str) -> int:
    """Return about how many tokens a text has."""
    return math.ceil(len(text) / 4)


def within(budget: int, volumes: Sequence[int]) -> int:
    """Return how many items fit into a budget, in their order; all of them where it is 0."""
    if budget <= 0:
        return len(volumes)
    spent = 0
    for count, volume in enumerate(volumes):
        spent += volume
        if spent > budget:
            return count
    return len(volumes)


def serialized(payload: Mapping[str, Any], form: str) -> Answer:
    """Return a payload as compact JSON bytes, or as TOON text."""
    if form != "toon":
        return orjson.dumps(payload)
    from toon_format import encode  # not before somebody asks for it

    return encode(payload)
