"""Taking in files: which there are, what each says, and what of it is recorded.

Each file is one command, recorded as a whole or not at all. One whose last recorded edition has the same bytes is not
even read again, so that a folder which was interrupted is simply taken in once more.
"""

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from falsify.belief import prose
from falsify.belief.documents import Claim, Document, edition, standing
from falsify.belief.events import DocumentIngested
from falsify.belief.prose import Passage
from falsify.belief.text import clean, moment, normalise
from falsify.errors import InvalidInputError, NotFoundError
from falsify.events import NodeId
from falsify.located_yaml import MAX_BYTES
from falsify.ports import Abstention, Extracted, Extractor
from surfaces import belief_file
from surfaces.readers import BELIEF_FILE, FORMATS, format_of, holds_beliefs, read
from surfaces.readers.reading import Reading
from surfaces.workspace import Outcome, Watch, Workspace, unwatched

SENTENCES: Final = "sentences 1"
ROWS: Final = "rows 1"
"""Who finds the claims without a model. The number is raised with the rules, so that documents are read anew."""

CHUNK: Final = 4_000
"""Characters of a document that a model is shown at a time."""

TIMEOUT: Final = 60.0
"""Seconds that a model may take for one such part."""

LONGEST: Final = 2_000
"""Characters in a claim that a model may write."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a person says about the files. `extract` is `sentences`, `llm`, or empty for what the settings say."""

    question: str | None = None
    source_id: str = ""
    source_title: str = ""
    asserted_at: str = ""
    trust: float | None = None
    extract: str = ""
    judged: bool = False


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of a file; `notes` are what is to be said of how it was read."""

    path: str
    outcome: Outcome
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Found:
    """A file; one that was found in a folder, and not named, need not be one of ours."""

    path: Path
    named: bool


def find(paths: Sequence[Path]) -> tuple[list[Found], list[Path]]:
    """Return the files at the paths, and those in folders that are in no format we read.

    Folders are walked, without what is hidden; belief files come first, since they may ask the question.
    """
    found: list[Found] = []
    others: list[Path] = []
    for path in paths:
        if not path.is_dir():
            found.append(Found(path, named=True))
            continue
        below = list(_below(path))
        found += [Found(file, named=False) for file in below if file.suffix.lower() in FORMATS]
        others += [file for file in below if file.suffix.lower() not in FORMATS]
    ordered = sorted(dict.fromkeys(found), key=lambda each: FORMATS.get(each.path.suffix.lower()) != BELIEF_FILE)
    return ordered, others


def _below(folder: Path) -> Iterator[Path]:
    for here, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        paths = (Path(here, name) for name in sorted(files) if not name.startswith("."))
        yield from (path for path in paths if path.is_file())


def take(
    workspace: Workspace,
    file: Found,
    wishes: Wishes,
    *,
    key: str | None = None,
    dry_run: bool = False,
    watch: Watch = unwatched,
) -> Taken | None:
    """Record what a file says; None for one in a folder that is not a file of ours.

    Raises InvalidInputError, or NotFoundError, for one that cannot be read, with the place of its first fault.
    """
    data = _bytes(file.path)
    name = str(file.path)
    format_ = format_of(name, data)
    if format_ == BELIEF_FILE:
        if not file.named and not holds_beliefs(data):
            return None
        beliefs = belief_file.read(file.path)
        return Taken(name, workspace.ingest(beliefs, judged=wishes.judged, key=key, dry_run=dry_run))
    path = lasting_name(workspace.root, file.path)
    text = Text(name, path, data, format_)
    return take_text(workspace, text, wishes, key=key, dry_run=dry_run, watch=watch)


@dataclass(frozen=True, slots=True)
class Text:
    """A document at hand: what it is called, its lasting name, its bytes and in which format they are."""

    name: str
    path: str
    data: bytes
    format: str


def take_text(
    workspace: Workspace,
    text: Text,
    wishes: Wishes,
    *,
    key: str | None = None,
    dry_run: bool = False,
    watch: Watch = unwatched,
) -> Taken:
    """Record what a document says."""
    name, path, data, format_ = text.name, text.path, text.data, text.format
    question_id = workspace.question(wishes.question).id
    digest = hashlib.sha256(data).hexdigest()
    extractor = None if format_ in {"JSON Lines", "CSV"} else _extractor(workspace, wishes)
    last = edition(workspace.graph, question_id, path)
    document: Document | None = None
    notes: tuple[str, ...] = ()
    if last is None or not _is_current(workspace, last, wishes, digest, _expected(format_, extractor)):
        reading = read(name, data, format_)
        known = standing(workspace.graph, question_id, path) if last and last.extractor.startswith("llm ") else []
        claims, left_out, by, notes = _claims(reading, extractor, known)
        document = Document(
            path=path,
            sha256=digest,
            title=wishes.source_title or reading.title,
            retitled=bool(wishes.source_title),
            source_id=wishes.source_id or (last.source_id if last else path),
            asserted_at=moment(wishes.asserted_at, what="--asserted-at") if wishes.asserted_at else reading.asserted_at,
            trust=wishes.trust,
            extractor=by,
            claims=tuple(claims),
            left_out=left_out,
        )
    outcome = workspace.ingest_document(
        question_id,
        document,
        body=_body(path, question_id, digest, wishes),
        judged=wishes.judged,
        key=key,
        dry_run=dry_run,
        watch=watch,
    )
    return Taken(name, outcome, notes)


def lasting_name(root: Path, path: Path) -> str:
    """Return the name by which a file is known in the log: its path from the root of the workspace."""
    try:
        return Path(os.path.relpath(path.resolve(), root.resolve())).as_posix()
    except ValueError:  # another drive
        return path.resolve().as_posix()


def _body(path: str, question_id: NodeId, digest: str, wishes: Wishes) -> dict[str, Any]:
    return {
        "path": path,
        "question_id": question_id,
        "sha256": digest,
        "source_id": wishes.source_id,
        "source_title": wishes.source_title,
        "asserted_at": wishes.asserted_at,
        "trust": wishes.trust,
        "extract": wishes.extract,
        "judged": wishes.judged,
    }


def _bytes(path: Path) -> bytes:
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise InvalidInputError(f"{path} has {size:,} bytes; the limit is {MAX_BYTES:,}", hint="split the file")
        return path.read_bytes()
    except FileNotFoundError:
        raise NotFoundError(f"there is no file {path}") from None
    except OSError as error:
        raise InvalidInputError(f"{path} cannot be read: {error.strerror}") from error


def _is_current(workspace: Workspace, last: DocumentIngested, wishes: Wishes, digest: str, extractor: str) -> bool:
    """Return whether the last edition is this one, and says all that is wished for."""
    source = workspace.graph.sources.get(last.source_id)
    return (
        (last.sha256, last.extractor) == (digest, extractor)
        and wishes.source_id in {"", last.source_id}
        and (not wishes.asserted_at or moment(wishes.asserted_at, what="--asserted-at") == last.asserted_at)
        and (not wishes.source_title or (source is not None and source.title == wishes.source_title))
        and (wishes.trust is None or (source is not None and source.trust == wishes.trust))
    )


# --- finding claims -------------------------------------------------------------------------------------------


def _extractor(workspace: Workspace, wishes: Wishes) -> Extractor | None:
    """Return the model that finds the claims, or None for the rule that takes sentences."""
    if (wishes.extract or workspace.settings.extractor) != "llm":
        return None
    if not workspace.environ.get("LLM_API_KEY"):
        raise InvalidInputError(
            "there is no language model to extract claims", hint="set LLM_API_KEY, or use --extract sentences"
        )
    from falsify.extractors.llm import LLMExtractor

    return LLMExtractor(root=workspace.folder / "judge", timeout=TIMEOUT, environ=workspace.environ)


def _expected(format_: str, extractor: Extractor | None) -> str:
    if format_ in {"JSON Lines", "CSV"}:
        return ROWS
    return SENTENCES if extractor is None else f"{extractor.name} {extractor.version}"


def _claims(
    reading: Reading, extractor: Extractor | None, known: Sequence[Claim]
) -> tuple[list[Claim], int, str, tuple[str, ...]]:
    """Return the claims of a document, how much was left out, who found them, and what is to be said of that."""
    if reading.claims is not None:
        return list(reading.claims), 0, ROWS, ()
    if extractor is None:
        claims, left_out = _sentences(reading.passages)
        return claims, left_out, SENTENCES, ()
    chunks = list(prose.gathered(reading.passages, CHUNK))
    answers = extractor.extract([chunk.text for chunk in chunks])
    kept = [claim for claim in known if any(prose.find(chunk.text, claim.quote) for chunk in chunks)]
    claims, left_out, reasons = _taken(chunks, answers, {normalise(claim.quote) for claim in kept})
    by = f"{extractor.name} {extractor.version}"
    notes = [f"{left_out} claims of the model quote what the document does not say, and were left out"] * bool(left_out)
    if reasons:
        by = f"{by}, {SENTENCES}" if len(reasons) < len(chunks) else SENTENCES
        notes.append(f"{len(reasons)} of {len(chunks)} passages were taken as sentences: {reasons[0]}")
    return [*kept, *claims], left_out, by, tuple(notes)


def _taken(
    chunks: Sequence[Passage], answers: Sequence[tuple[Extracted, ...] | Abstention], quoted: set[str]
) -> tuple[list[Claim], int, list[str]]:
    """Return the claims that the text bears out, how many it does not, and the reasons of those who gave none.

    What quotes the same words as a claim that stands is that claim in other words, and no claim of its own.
    """
    claims: list[Claim] = []
    left_out, reasons = 0, list[str]()
    for chunk, answer in zip(chunks, answers, strict=True):
        if isinstance(answer, Abstention):
            found, _ = _sentences([chunk])
            claims += found
            reasons.append(answer.reason)
            continue
        for extracted in answer:
            claim = _borne_out(chunk, extracted)
            if claim is None:
                left_out += 1
            elif normalise(claim.quote) not in quoted:
                claims.append(claim)
    return claims, left_out, reasons


def _borne_out(chunk: Passage, extracted: Extracted) -> Claim | None:
    """Return the claim with its place in the text, if the text has its quote."""
    place = prose.find(chunk.text, extracted.quote)
    try:
        text = clean(extracted.text, what="the claim")
    except InvalidInputError:
        return None
    if place is None or len(text) > LONGEST:
        return None
    start, end = place
    return Claim(text, " ".join(chunk.text[start:end].split()), chunk.at(start))


def _sentences(passages: Iterable[Passage]) -> tuple[list[Claim], int]:
    found, left_out = prose.claims(passages)
    return [Claim(sentence.text, sentence.text, sentence.location) for sentence in found], left_out
