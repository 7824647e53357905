"""The guard, tier 2: what a proposal says against pages that hold, as a judge sees it. It is a finding for people."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from falsify.brain.likeness import normal
from falsify.brain.page import Page
from falsify.ports import Abstention, Judge, Opinion, Statement

ACTS: Final = 0.6
"""The confidence from which a verdict counts."""

PAGES: Final = 8
"""How many pages are looked at: those with most words in common."""

SENTENCES: Final = 16
"""How many sentences of a proposal are judged."""

CLAIMS: Final = 4
"""How many sentences of pages each of them is held against."""

ALIKE: Final = 0.5
"""The share of the shorter one's words that two sentences have in common before a judge is asked."""

_ENDS: Final = re.compile(r"(?<=[.!?])\s+|\n+")
_SHORTEST, _LONGEST = 12, 500


class _Claim(NamedTuple):
    rel_path: str
    title: str
    text: str


def findings(body: str, pages: Mapping[str, Page], judge: Judge) -> Iterator[str]:
    """Yield what a judge has to say of a text against the pages, a sentence each.

    Only active pages are looked at; the caller has narrowed them to what may be seen.
    """
    claims = list(_claims(body, pages))
    silent: dict[str, str] = {}
    for sentence in list(_sentences(body))[:SENTENCES]:
        near = _nearest(sentence, claims)
        answers = judge.judge(Statement(sentence), [Statement(c.text, c.title) for c in near]) if near else []
        for claim, answer in zip(near, answers, strict=True):
            if isinstance(answer, Abstention):
                silent[claim.rel_path] = answer.reason
            elif _counts(answer):
                sure = f"{answer.confidence:.2f}"
                yield f'{answer.relation} {claim.rel_path} ({sure}): "{sentence}" against "{claim.text}"'
    for rel_path, reason in silent.items():
        yield f"no verdict on {rel_path}: {reason}"


def _counts(opinion: Opinion) -> bool:
    return opinion.relation in {"contradicts", "supersedes"} and opinion.confidence >= ACTS


def _claims(body: str, pages: Mapping[str, Page]) -> Iterator[_Claim]:
    """Yield the sentences of the pages that share most words with a text, in the order of the paths."""
    wanted = _words(body)
    shared = {
        path: len(wanted & _words(page.body)) for path, page in pages.items() if page.lifecycle_status == "active"
    }
    for path in sorted(sorted(shared, key=lambda path: (-shared[path], path))[:PAGES]):
        if shared[path]:
            yield from (_Claim(path, pages[path].title, text) for text in _sentences(pages[path].body))


def _nearest(sentence: str, claims: Iterable[_Claim]) -> Sequence[_Claim]:
    """Return the claims that are about what a sentence is about, those that share most words first.

    They share two words at least, and the half of the words of the shorter: a judge that is shown two sentences on
    different things sees contradictions where there are none.
    """
    wanted = _words(sentence)
    near: list[tuple[int, _Claim]] = []
    for claim in claims:
        words = _words(claim.text)
        shared = len(wanted & words)
        if shared >= max(2, ALIKE * min(len(wanted), len(words))):
            near.append((shared, claim))
    near.sort(key=lambda each: -each[0])  # stable: of equals the first
    return [claim for _, claim in near[:CLAIMS]]


def _words(text: str) -> frozenset[str]:
    return frozenset(word for word in normal(text).split() if len(word) > 3)


def _sentences(text: str) -> Iterator[str]:
    found = (part.strip(" \t#*->|") for part in _ENDS.split(text))
    return (part for part in found if _SHORTEST <= len(part) <= _LONGEST)
