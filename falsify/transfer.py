"""A log as JSON Lines and back: to move it, to keep it, to read it with other tools.

The first line names the format; then comes one line for each record and one for each answer to a command, and a
last line with their numbers and the hash of all lines before it. The same log is always the same bytes.
"""

import hashlib
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator
from typing import Any

import orjson

from falsify.chain import Chain
from falsify.codec import decode
from falsify.errors import DamagedError, RefusedError
from falsify.log import EventLog
from falsify.recorders import Answer, Head, Row, Slot, Writer

FORMAT = "falsify-log"
VERSION = 1

_BATCH = 1000
_BODY = b',"body":'
_BODY_END = b"}\n"


def export_log(log: EventLog) -> Iterator[bytes]:
    """Yield the log line by line, as it is at one moment, each line with its line feed."""
    digest, records, answers = hashlib.sha256(), 0, 0
    with log.recorder.reading() as reader:
        line = orjson.dumps({"format": FORMAT, "version": VERSION}) + b"\n"
        digest.update(line)
        yield line
        for row in map(Row._make, reader.rows()):
            line = _record_line(row)
            digest.update(line)
            records += 1
            yield line
        for slot, answer in reader.answers():
            line = _answer_line(slot, answer)
            digest.update(line)
            answers += 1
            yield line
    yield orjson.dumps({"records": records, "answers": answers, "sha256": digest.hexdigest()}) + b"\n"


def import_log(log: EventLog, lines: Iterable[bytes]) -> Head:
    """Write the exported lines into an empty log, all or nothing, and return its head.

    Every record is hashed again and every event decoded. Raises DamagedError naming the first line that is not as it
    was exported, and RefusedError if the log is not empty.
    """
    with log.recorder.writing() as writer:
        if writer.head().position or next(writer.answers(), None):
            raise RefusedError("the log is not empty", hint="import into a new one")
        _Import(writer).run(lines)
        return writer.head()


class _Import:
    """Takes in one line after another."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._chain = Chain()
        self._rows: list[Row] = []
        self._answers = 0
        self._digest = hashlib.sha256()
        self._ended = False

    def run(self, lines: Iterable[bytes]) -> None:
        number = 0
        for number, line in enumerate(lines, 1):
            try:
                self._take(number, line)
            except DamagedError as error:
                raise DamagedError(f"line {number}: {error.message}", hint=error.hint) from error
            except (ValueError, TypeError, KeyError) as error:
                raise DamagedError(f"line {number}: it is not as it was exported ({error!r})") from error
        if not self._ended:
            raise DamagedError(f"line {number + 1}: it is missing: the export was cut off")

    def _take(self, number: int, line: bytes) -> None:
        if self._ended:
            raise DamagedError("it comes after the last line")
        head, is_record, body = line.partition(_BODY)
        fields = orjson.loads(head + b"}" if is_record else line)
        if number == 1:
            _check_format(fields)
        elif is_record:
            self._record(fields, body)
        elif "key" in fields:
            self._answer(fields)
        elif "records" in fields:
            self._end(fields)
        else:
            raise DamagedError("it is neither a record nor an answer")
        self._digest.update(line)

    def _record(self, fields: dict[str, Any], body: bytes) -> None:
        if not body.endswith(_BODY_END):
            raise DamagedError("the record was cut off")
        row = Row(**fields | {"hash": bytes.fromhex(fields["hash"]), "body": body.removesuffix(_BODY_END)})
        if fault := self._chain.check(row):
            raise DamagedError(fault.detail)
        decode(row.topic, row.body)
        self._rows.append(row)
        if len(self._rows) == _BATCH:
            self._flush()

    def _answer(self, fields: dict[str, Any]) -> None:
        slot = Slot(*(fields.pop(name) for name in Slot._fields))
        answer = Answer(
            **fields | {"digest": bytes.fromhex(fields["digest"]), "response": b64decode(fields["response"])}
        )
        if self._writer.answer(slot):
            raise DamagedError(f"the key {slot.key!r} is answered twice")
        self._writer.remember(slot, answer)
        self._answers += 1

    def _end(self, fields: dict[str, Any]) -> None:
        self._flush()
        self._ended = True
        found = {"records": self._chain.position, "answers": self._answers, "sha256": self._digest.hexdigest()}
        if fields != found:
            raise DamagedError(f"the lines before it are not those that were exported: {found} instead of {fields}")

    def _flush(self) -> None:
        if self._rows:
            self._writer.insert(self._rows)
            self._rows = []


def _check_format(fields: dict[str, Any]) -> None:
    if fields.get("format") != FORMAT:
        raise DamagedError("it does not say that this is an exported log")
    if fields["version"] > VERSION:
        raise DamagedError(
            f"the export has format {fields['version']}, and this version of Falsify knows formats up to {VERSION}",
            hint="it was made by a newer Falsify: upgrade with `pip install --upgrade falsify-log`",
        )


def _record_line(row: Row) -> bytes:
    """Return the record with its body last and as it is stored, so that it can be cut out again unchanged."""
    fields = row._asdict() | {"hash": row.hash.hex()}
    del fields["body"]
    return orjson.dumps(fields).removesuffix(b"}") + _BODY + row.body + _BODY_END


def _answer_line(slot: Slot, answer: Answer) -> bytes:
    encoded = {"digest": answer.digest.hex(), "response": b64encode(answer.response).decode()}
    return orjson.dumps(slot._asdict() | answer._asdict() | encoded) + b"\n"
