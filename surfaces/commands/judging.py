"""Commands about the two gates themselves: judge, calibrate. They need no workspace, and write nothing."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from falsify.errors import InvalidInputError, NotFoundError, UnavailableError
from surfaces.commands.session import Session, common

if TYPE_CHECKING:
    from falsify.judges.quality import Pair
    from falsify.ports import Embedder, Judge
    from surfaces.settings import JudgeKind

KINDS = ("auto", "offline", "llm", "pinned", "panel")

_BATCH = 32

_kind = click.option("--judge", "kind", type=click.Choice(KINDS), help="Another judge than the one that is configured.")


@click.command()
@click.argument("fact", metavar="A")
@click.argument("claim", metavar="B")
@_kind
@click.option("--source-title", default="", help="The title of B's source, which A may speak of.")
@common
def judge(session: Session, fact: str, claim: str, kind: "JudgeKind | None", source_title: str) -> None:
    """Show what the judge says of a new fact A against an existing claim B, and why.

    Both gates are shown: whether B would come before the judge at all (distance, or the source that A names), and
    whether the verdict would act. Nothing is recorded; the settings are those of the workspace, if there is one.
    """
    from surfaces.gates import Wiring, examine
    from surfaces.text import gates

    with Wiring.of(session.folder, kind=kind) as wiring:
        told = examine(fact, claim, source_title=source_title, embedder=wiring.embedder, judge=wiring.judge)
    session.show(told, gates)


@click.command()
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True))
@_kind
@click.option("--embedder", "by_distance", is_flag=True, help="Calibrate the first gate instead: the distance.")
@common
def calibrate(session: Session, file: Path, kind: "JudgeKind | None", by_distance: bool) -> None:
    """Measure the judge on labelled pairs: precision, recall and F1 for a conflict, and the best threshold.

    FILE has a pair on each line, with tabs between relation (contradicts, supersedes, supports or unrelated), new fact
    and claim; `-` reads standard input. A conflict is what contradicts or supersedes. With --embedder: the distance
    that lets 95 % of the true conflicts through, for `embedder_threshold` in falsify.toml.
    """
    from surfaces.gates import Wiring
    from surfaces.text import calibrated

    if by_distance and kind is not None:
        raise click.UsageError("--embedder asks no judge: leave --judge out")
    pairs = _read(file)
    with Wiring.of(session.folder, kind=kind) as wiring:
        told = _distances(session, pairs, wiring.embedder) if by_distance else _verdicts(session, pairs, wiring.judge)
    session.show(told, calibrated)


def _verdicts(session: Session, pairs: "list[Pair]", appointed: "Judge") -> dict[str, Any]:
    from falsify.judges.quality import ask
    from surfaces.gates import judged

    answers = [ask(appointed, pair) for pair in session.progress(pairs, length=len(pairs), label="Judging")]
    return judged(pairs, answers, appointed)


def _distances(session: Session, pairs: "list[Pair]", embedder: "Embedder") -> dict[str, Any]:
    from surfaces.gates import distances, measured

    batches = [pairs[start : start + _BATCH] for start in range(0, len(pairs), _BATCH)]
    told = session.progress(batches, length=len(batches), label="Embedding")
    return measured(pairs, [distance for batch in told for distance in distances(embedder, batch)], embedder)


def _read(file: Path) -> "list[Pair]":
    from falsify.judges.quality import read_pairs

    return read_pairs(_lines(file), name="standard input" if str(file) == "-" else str(file))


def _lines(file: Path) -> Iterator[str]:
    try:
        with click.open_file(os.fspath(file), encoding="utf-8-sig") as stream:
            yield from stream
    except FileNotFoundError as error:
        raise NotFoundError(f"there is no file {file}") from error
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"{file} is not UTF-8 text: {error}") from error
    except OSError as error:
        raise UnavailableError(f"{file} cannot be read: {error.strerror}") from error
