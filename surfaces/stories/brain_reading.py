"""The first half of the story of the brain: what is known, to whom, since when, and why it is so."""

from collections.abc import Generator, Mapping, Sequence
from typing import Final

import click

from surfaces.lines.page import imported, versions
from surfaces.stories.narration import more, says, shell, table, title
from surfaces.stories.office import NAMES, OWNER, QUALITY, SALES, Office
from surfaces.stories.payloads import Told, counted, expect, pages_of, prose
from surfaces.stories.sample_org import build_repository
from surfaces.terminal import unicode_out

LEFT_LYING: Final[Mapping[str, str]] = {
    "memory/personal/ideas.md": "# Ideas\n\nMine, and nobody else's.\n",
    "memory/sales/stand-plan.svg": "<svg xmlns='http://www.w3.org/2000/svg'/>\n",
    "memory/sales/spare-parts.md": "---\ntitle: Spare parts\naliases: [spares\n---\nHow long we keep them.\n",
}
"""What lies in every real folder, too: something private, something that is no page, and a page with a mistake."""

MOVED: Final = "memory/sales/warranty-policy.md"
TERMS: Final = "payment terms for key accounts"
SALARIES: Final = "memory/people/salary-bands-2026.md"
NOWHERE: Final = "memory/people/unicorns.md"
DENIED_WORDS: Final = "salary bands"
NO_WORDS: Final = "unicorn herds"
COMPLAINT: Final = "What do we do when a customer complains?"
DENIED_TOPIC: Final = "How wide are the salary bands?"
NO_TOPIC: Final = "How do unicorns graze?"
STOCK: Final = "We may run out of ceramic cells: how many should we keep?"
INTERVAL: Final = "calibration interval of reference instruments"
DAYS: Final = ("2025-01-31", "2025-06-30", "")
TOPIC: Final = "calibration of reference instruments"

Act = Generator[str, None, None]


def take_in(office: Office) -> Act:
    """Import the company's repository, with its history."""
    yield from title(1, "Two years of what a company wrote down are read in, with their past")
    build_repository(office.folder)
    office.write(LEFT_LYING)
    told = office.take_in()
    library = office.brain.library
    every = [version for past in library.pages.values() for version in past]
    commits, authors = {v.commit for v in every if v.commit}, {v.author for v in every if v.author}
    known = [version.known_at[:10] for version in every]
    yield from says(
        OWNER,
        f"imports the pages of Corvane Instruments, a maker of sensors, on {office.brain.today} (it is always that day "
        f"in this story). They lie in a git repository: {len(commits)} commits by {len(authors)} people, from "
        f"{min(known)} to {max(known)}. {counted(len(LEFT_LYING), 'more file')} lie about in the folder.",
    )
    name = office.folder.name
    yield from shell(f"falsify brain import {name}", imported({**told, "folder": name}))
    expect(told["recorded"] > told["files"] and not told["faults_in_history"], "the history was not recorded")
    expect((len(told["faults"]), told["personal"], told["passed_over"]) == (1, 1, 1), "something else was left out")
    org = library.org
    yield from more(
        f"So {told['recorded']} versions are known, each with its date and author; what could not be read stopped "
        f"nothing. The org map says who is who: {len(org.departments)} departments, {len(org.people)} people, "
        f"{len(org.agents)} agents, and what each may see. One of the pages, over the years:"
    )
    past = office.history(MOVED)
    expect(any(row["moved_from"] for row in past), f"{MOVED} was never moved")
    yield from shell(f"falsify brain show {MOVED} --history", versions(past))


def search(office: Office) -> Act:
    """Put one query as the owner and as an agent."""
    yield from title(2, "One question, two callers: each searches what they may see, and nothing else")
    yield from more("(The first search makes the index: every page is embedded, here and offline, in some seconds.)")
    owners, agents = (pages_of(office.search(caller, TERMS)) for caller in (OWNER, SALES))
    agent = office.brain.library.org.agent(SALES.removeprefix("agent:"))
    denied = set(agent.deny) if agent else set()
    hidden = [row["department"] for row in owners.values() if row["department"] in denied]
    expect(bool(hidden), f"nothing that the owner finds is denied to {SALES}")
    expect(not any(row["department"] in denied for row in agents.values()), f"{SALES} found what is denied")
    yield from says(OWNER, f'searches for "{TERMS}" (search_company_context), and may see everything:')
    yield from _found(owners, denied)
    yield from says(
        NAMES[SALES], f"asks the same. It is {SALES}, which the org map denies {' and '.join(sorted(denied))}:"
    )
    yield from _found(agents, denied)
    yield from more(
        f"{counted(len(hidden), 'page')} of the owner's, in {' and '.join(sorted(set(hidden)))}, took no part in this: "
        "no gap, no count and no remark says that there was more."
    )


def hide(office: Office) -> Act:
    """Compare the answers about what is denied with those about what there never was."""
    yield from title(3, "What is denied does not exist, byte for byte")
    there = office.call(OWNER, "read_page", rel_path=SALARIES)
    denied, absent = (office.call(SALES, "read_page", rel_path=path) for path in (SALARIES, NOWHERE))
    expect(len(there) > len(denied), f"there is no {SALARIES}")
    expect(denied == absent, "a page that is denied is told from one that is absent")
    yield from says(
        NAMES[SALES],
        f"reads {SALARIES}, which has {len(there)} bytes, and {NOWHERE}, which there never was (read_page):",
    )
    yield from more(f"{denied.decode()}  {absent.decode()}", color="yellow")
    yield from more(f"The two answers are the same {len(denied)} bytes.")
    lines = office.ask(OWNER, "grep_company_context", pattern=DENIED_WORDS)["matches"]
    one, other = (office.call(SALES, "grep_company_context", pattern=words) for words in (DENIED_WORDS, NO_WORDS))
    expect(bool(lines), f'nothing says "{DENIED_WORDS}"')
    expect(one.replace(DENIED_WORDS.encode(), NO_WORDS.encode()) == other, "words that are denied are told from others")
    yield from says(
        NAMES[SALES],
        f'looks for the words "{DENIED_WORDS}", which the owner finds in {counted(len(lines), "line")}, and for '
        f'"{NO_WORDS}" (grep_company_context):',
    )
    yield from more(f"{one.decode()}  {other.decode()}", color="yellow")
    yield from more("They differ in nothing but the words that were asked for.")


def ask(office: Office) -> Act:
    """Ask what is known, what is known to others only, and what is known to nobody."""
    yield from title(4, "An answer cites what it says, and says so when there is nothing to cite")
    told = office.ask(QUALITY, "ask_company_context", question=COMPLAINT)
    cited = told["citations"]
    expect(bool(cited) and all(f"[{row['n']}]" in told["answer"] for row in cited), "the answer cites nothing")
    yield from says(NAMES[QUALITY], f'({QUALITY}) asks "{COMPLAINT}" (ask_company_context):')
    for line in told["answer"].splitlines():
        yield from more(line, color="cyan")
    rows: list[tuple[str, ...]] = [(f"[{row['n']}]", _place(row), row["trust_label"], row["updated"]) for row in cited]
    yield from table(("", "PAGE, LINE", "TRUST", "UPDATED"), rows)
    yield from more(
        f"The confidence is {told['confidence']}. No model wrote this: without one, an answer is made of the pages' "
        "own sentences."
    )
    owners = office.ask(OWNER, "ask_company_context", question=DENIED_TOPIC)
    expect(bool(owners["citations"]), f"nothing is known to the owner: {DENIED_TOPIC}")
    yield from says(OWNER, f'asks "{DENIED_TOPIC}"')
    yield from more(owners["answer"], color="cyan")
    denied, absent = (office.ask(SALES, "ask_company_context", question=each) for each in (DENIED_TOPIC, NO_TOPIC))
    expect(not absent["citations"], f"something is known: {NO_TOPIC}")
    expect(_impersonal(denied) == _impersonal(absent), "a topic that is denied is told from one that is unknown")
    yield from says(NAMES[SALES], f'asks the same, and then "{NO_TOPIC}" Both times:')
    yield from more(f"{absent['answer']} (confidence: {absent['confidence']})", color="yellow")
    yield from more("But for their ids the two answers are the same bytes.")


def find_precedents(office: Office) -> Act:
    """Follow a decision back to what it came from."""
    yield from title(5, "Why is it as it is? Decisions know what they followed from")
    best = office.ask(QUALITY, "find_precedents", situation=STOCK, chain_depth=3)["results"][0]
    edges = best["causal"]["ascendants"]
    expect(max((edge["depth"] for edge in edges), default=0) == 3, "the chain of precedents is not three deep")
    yield from says(NAMES[QUALITY], f'asks for precedents (find_precedents): "{STOCK}"')
    yield from more(
        f"{best['title']} ({best['date']}, decided by {best['decided_by']}, {best['status']})", color="cyan"
    )
    yield from more(f'"{prose(best["snippet"])}"')
    yield from _chain(edges, best["rel_path"], 1)


def remember(office: Office) -> Act:
    """Put one query at three dates."""
    yield from title(6, "What was known then is not what is known now, and both can be asked for")
    yield from says(NAMES[QUALITY], f'searches for "{INTERVAL}" on three days (as_of):')
    answers = []
    for day in DAYS:
        told = office.search(QUALITY, INTERVAL, k=1, **({"as_of": day} if day else {}))
        expect(told.get("as_of", "") == day, f"the answer is not as of {day or 'today'}")
        hit = told["results"][0]
        answers.append(prose(hit["text"]))
        yield from more(f"{day or 'today':<12}{hit['rel_path']}", color="cyan")
        yield from more(f'"{answers[-1]}"')
    expect(len(set(answers)) == len(DAYS), "different days have the same answer")


def find_experts(office: Office) -> Act:
    """Ask who knows about a topic."""
    yield from title(7, "Who decides, and who knows: two registers, never mixed")
    told = office.ask(OWNER, "who_knows", topic=TOPIC)
    yield from says(OWNER, f'asks who knows about "{TOPIC}" (who_knows):')
    expect(bool(told["decides"] and told["knows"]), "one of the two registers is empty")
    yield from table(("DECIDES", "BY THE ORG MAP"), [(row["name"], row["role_aor"]) for row in told["decides"]])
    yield from table(
        ("KNOWS", "BY WHAT THEY WROTE", "LATEST"),
        [(row["name"], counted(row["evidence"]["n_pages"], "page"), row["recent"]) for row in told["knows"]],
    )


def _found(pages: Mapping[str, Told], denied: set[str]) -> Act:
    rows: list[tuple[str, ...]] = []
    for number, (path, row) in enumerate(pages.items(), start=1):
        department = row["department"]
        rows.append((str(number), path, click.style(department, fg="red") if department in denied else department))
    yield from table(("", "PAGE", "DEPARTMENT"), rows)


def _place(row: Told) -> str:
    return f"{row['rel_path']}, {row['start_line']}" if "start_line" in row else str(row["rel_path"])


def _impersonal(told: Told) -> Told:
    """Return an answer without when it was given, and its id."""
    return {name: value for name, value in told.items() if name not in {"answer_id", "answered_at"}}


def _chain(edges: Sequence[Told], src: str, depth: int) -> Act:
    sign = "└ " if unicode_out() else "` "
    for edge in edges:
        if (edge["src"], edge["depth"]) == (src, depth):
            relation = edge["relation"].replace("_", " ")
            yield f"{'':{14 + 2 * depth}}{sign}{relation}: {edge['dst_title']}"
            yield from _chain(edges, edge["dst"], depth + 1)
