"""Answers as text for people: each function turns a JSON-ready value into lines."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import click

from surfaces import branches
from surfaces.branches import Row, Signs
from surfaces.terminal import unicode_out

MARKS: dict[str, tuple[str, str, str]] = {
    "alive": ("●", "+", "green"),
    "refuted": ("✗", "x", "red"),
    "superseded": ("◐", "s", "yellow"),
    "invalidated": ("○", "o", "bright_black"),
    "contested": ("◇", "?", "magenta"),
    "forgotten": ("·", ".", "bright_black"),
}
"""How each truth-state is shown: a sign, the sign in ASCII, and a colour."""

CHANGES: dict[str, str] = {
    "evidence_refuted": "refuted",
    "evidence_superseded": "superseded",
    "evidence_invalidated": "invalidated",
    "conclusion_invalidated": "invalidated",
    "node_contested": "contested",
    "node_reinstated": "alive",
    "hypothesis_superseded": "superseded",
    "node_forgotten": "forgotten",
}
"""The state that each kind of change leads to."""

_WORDS = {
    "evidence_refuted": "refuted",
    "evidence_superseded": "superseded",
    "evidence_invalidated": "invalidated",
    "conclusion_invalidated": "invalidated",
    "node_contested": "contested",
    "node_reinstated": "lives again",
    "hypothesis_superseded": "superseded",
    "node_forgotten": "forgotten",
}


def answer(told: dict[str, Any]) -> Iterator[str]:
    """Render what a command came to."""
    if told.get("dry_run"):
        yield click.style("Dry run: nothing was appended. This would follow:", fg="cyan")
    subject = told["subject"]
    if subject:
        yield f"{_mark(subject['state'])} {_named(subject)}"
    if not told["recorded"] and not told["changes"]:
        yield "  nothing new: it was recorded before"
        return
    if "document" in told:
        yield f"  {_read(told['document'])}"
    for verdict in told["verdicts"]:
        yield from _verdict_line(verdict)
    for change in told["changes"]:
        because = f", because of {_short(change['because'])}" if change["because"] else ""
        yield f"  {_mark(CHANGES[change['change']])} {_short(change)} {_WORDS[change['change']]}{because}"
    for moved in told["frontier"]:
        yield _frontier_line(moved)
    yield click.style(_tally(told), dim=True)


def taken(told: dict[str, Any]) -> Iterator[str]:
    """Render what became of several files: a line for each that said something new, and what followed from it."""
    if told["dry_run"]:
        yield click.style("Dry run: nothing was appended. This would follow:", fg="cyan")
    for file in told["files"]:
        if file["recorded"] or file["changes"]:
            yield _read(file["document"]) if "document" in file else f"{file['path']}: recorded"
        for change in file["changes"]:
            because = f", because of {_short(change['because'])}" if change["because"] else ""
            yield f"  {_mark(CHANGES[change['change']])} {_short(change)} {_WORDS[change['change']]}{because}"
        yield from map(_frontier_line, file["frontier"])
    for failed in told["failed"]:
        yield click.style("not recorded: ", fg="red") + failed["error"]["message"]
        if failed["error"]["hint"]:
            yield f"  {failed['error']['hint']}"
    totals = told["totals"]
    parts = [f"{totals['files']} files", f"{totals['unchanged']} unchanged", f"{totals['claims']} new claims"]
    parts += [f"{totals['failed']} not recorded"] * bool(totals["failed"])
    parts += [f"{totals['passed_over']} of other kinds"] * bool(totals["passed_over"])
    yield click.style(", ".join(parts), dim=True)


def _read(document: dict[str, Any]) -> str:
    """Return a line about a document that was read."""
    claims = _counted(document["claims"], "claim")
    changes = [
        f"{document[name]} {word}"
        for name, word in (("new", "new"), ("withdrawn", "gone"), ("restored", "back"))
        if document[name]
    ]
    by = {"rows": "", "sentences": ", taken as sentences"}.get(
        document["extractor"].split()[0], f" by {document['extractor']}"
    )
    left_out = f"; left out {document['left_out']} (no claims)" if document["left_out"] else ""
    return f"{document['path']}: {claims}{by}{', ' + ', '.join(changes) if changes else ''}{left_out}"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _tally(told: dict[str, Any]) -> str:
    records = told["recorded"] + len(told["changes"]) + len(told["frontier"])
    epoch = f"epoch {told['epoch']}" if told["revised"] else f"still epoch {told['epoch']}: nothing was revised"
    return f"  {records} records, {epoch}"


def _verdict_line(verdict: dict[str, Any]) -> Iterator[str]:
    claim = _short(verdict["claim"])
    if verdict["relation"] is None:
        yield f"  ? unadjudicated: {claim} ({verdict['reason']}); nothing was refuted, try `falsify adjudicate`"
        return
    sure = f"{verdict['relation']} {verdict['confidence']:.2f}"
    if verdict["acts"]:
        yield f"  {click.style(sure, bold=True)} {claim}: {verdict['rationale']}{_found(verdict)}"
    else:
        yield click.style(f"  {sure} {claim}{_found(verdict)}", dim=True)


def _found(verdict: dict[str, Any]) -> str:
    if verdict["distance"] is None:
        return ""
    by = _GATES.get(verdict["gate"]) or f"at distance {verdict['distance']:.2f}"
    return f" [{by}; {verdict['judge']}]"


_GATES = {"source": "by the source it names", "slot": "in the same slot"}


def _frontier_line(moved: dict[str, Any]) -> str:
    best = moved["hypothesis"]
    if best is None:
        return f"  {_mark('contested')} no hypothesis of {_short(moved['question'])} is alive any more"
    return click.style(f"  {_top()} frontier: {_named(best)} (standing {moved['standing']:g})", fg="green", bold=True)


def recalled(told: dict[str, Any]) -> Iterator[str]:
    """Render a recall."""
    if answered := told.get("answer"):
        yield click.style(answered["text"], fg="green", bold=True)
        if answered["also"]:
            yield f"  also {', '.join(answered['also'])}"
        yield "  read from " + "; ".join(_named(node) for node in told["path"])
    for best in told["frontier"]:
        yield click.style(f"{_top()} {_named(best)}", fg="green", bold=True)
        yield f"  best living answer to: {best['question']}"
    if not told["hits"]:
        yield "nothing that is alive comes near"
    for hit in told["hits"]:
        yield f"{_mark(hit['state'])} {_named(hit)}  {click.style(format(hit['distance'], '.2f'), dim=True)}"
        yield from _citation(hit)
    if told["conflicts"]:
        yield click.style("Open conflicts, not to be cited as true:", fg="magenta")
        for conflict in told["conflicts"]:
            yield f"{_mark('contested')} {_named(conflict)}"


def _citation(hit: dict[str, Any]) -> Iterator[str]:
    for source in hit.get("sources", ()):
        dated = f", {source['asserted_at']}" if source["asserted_at"] else ""
        quote = f': "{source["quote"]}"' if source["quote"] else ""
        yield click.style(f"    {source['title']}{dated}{quote}{_place(source)}", dim=True)
    if hit["rests_on"]:
        yield click.style(f"    rests on {', '.join(_short(other) for other in hit['rests_on'])}", dim=True)


def _place(source: dict[str, Any]) -> str:
    return f" ({source['location']})" if source.get("location") else ""


def shown(node: dict[str, Any]) -> Iterator[str]:
    """Render one node."""
    yield f"{_mark(node['state'])} {_named(node)}"
    yield f"  {node['kind']} {node['id']}, {node['state']} since epoch {node['truth_epoch']}"
    for field in ("prior", "standing", "confidence"):
        if field in node:
            yield f"  {field} {node[field]:g}"
    yield from _citation(node)
    for edge in node["edges"]:
        outgoing = edge["from"]["id"] == node["id"]
        other = edge["to"] if outgoing else edge["from"]
        arrow = ("→" if outgoing else "←") if unicode_out() else ("->" if outgoing else "<-")
        yield f"  {arrow} {_edge(edge)} {_named(other)}"


def _edge(edge: dict[str, Any]) -> str:
    if edge["relation"] == "depends_on":
        kind = "critical" if edge["critical"] else "not critical"
        return f"depends on ({kind}{', group ' + edge['group'] if edge['group'] else ''})"
    if edge["relation"] == "supersedes":
        return f"{edge['verdict']} ({edge['confidence']:.2f})"
    return f"{edge['relation']} ({edge['weight']:g})"


def graph_table(state: dict[str, Any]) -> Iterator[str]:
    """Render a snapshot as a table, a question after the other."""
    ranks = {"question": 0, "hypothesis": 1, "conclusion": 2, "evidence": 3}
    nodes = sorted(state["nodes"], key=lambda n: (n["question_id"] or n["id"], ranks[n["kind"]], n["handle"], n["id"]))
    if not nodes:
        yield "the graph is empty"
        return
    best = {n["frontier"] for n in nodes if n["kind"] == "question"}
    rows: list[tuple[str, ...]] = [
        (
            n["handle"] or n["id"][:8],
            n["kind"],
            f"{_mark(n['state'])} {n['state']}",
            _weight(n) + (f" {_top()}" if n["id"] in best else ""),
            n["text"],
        )
        for n in nodes
    ]
    yield from table(("NODE", "KIND", "STATE", "WEIGHT", "TEXT"), rows)
    yield click.style(f"epoch {state['epoch']}, {len(nodes)} nodes, {len(state['edges'])} edges", dim=True)


def _weight(node: dict[str, Any]) -> str:
    if node["kind"] == "hypothesis":
        return f"{node['standing']:+g}"
    return f"{node['confidence']:g}" if node["kind"] == "conclusion" else ""


def obituary(told: dict[str, Any]) -> Iterator[str]:
    """Render a `why` as a tree."""
    signs = Signs("│", "├─ ", "└─ ") if unicode_out() else Signs("|", "|- ", "`- ")
    tree = list(branches.rows(told, signs))
    for row in tree:
        yield from _part_head(row) if row.head else _branch(row, signs)
    if remedies := told.get("remedies"):
        yield ""
        yield click.style(_remedy_title(told), bold=True)
        yield from (f"  {_bullet()} {line}" for line in remedies)
    considered = [line for row in tree if not row.head for line in _considered(row.told)]
    if considered:
        yield ""
        yield click.style("Also considered when the facts above arrived:", bold=True)
        yield from considered


def _remedy_title(told: dict[str, Any]) -> str:
    return "What would kill it:" if told["state"] == "alive" else "What would bring it back:"


def _part_head(row: Row) -> Iterator[str]:
    yield ""
    down = click.style(f"  {row.depth:,} steps down", dim=True)
    yield f"{click.style(f'[{row.part}]', bold=True)} {_mark(row.told['state'])} {_named(row.told)}{down}"


def _branch(row: Row, signs: Signs) -> Iterator[str]:
    told = row.told
    link = f"{click.style(told['link'], bold=True)} " if told.get("link") else ""
    fate = click.style(f"  {'; '.join((_fate(told), *_whereabouts(row)))}", dim=True)
    yield f"{row.first}{link}{_mark(told['state'])} {_named(told)}{fate}"
    below = told["reasons"] and row.goes_on is None
    for line in _particulars(told):
        yield click.style(f"{row.rest}{signs.bar if below else ' '}  {line}", dim=True)


def _whereabouts(row: Row) -> Iterator[str]:
    """Yield where the reasons of an entry are, if they do not stand beneath it."""
    if row.goes_on is not None:
        yield f"continued at [{row.goes_on}]"
    elif row.told_in is not None:
        yield "told above" if row.told_in in {0, row.part} else f"told at [{row.told_in}]"
    elif "left_out" in row.told:
        yield f"the rest by `falsify why {row.told['id']}`"


def _fate(told: Mapping[str, Any]) -> str:
    changes = told.get("changes", [])
    if not changes:
        return str(told["state"])
    steps = [f"{c['state']} at epoch {c['epoch']}" for c in changes[-3:]]
    return ", then ".join([_more(), *steps] if len(changes) > len(steps) else steps)


def _particulars(told: Mapping[str, Any]) -> Iterator[str]:
    verdict = told.get("verdict")
    if verdict:
        version = f" {verdict['judge_version']}" if verdict["judge_version"] else ""
        if verdict["distance"] is None:
            found = ""
        elif verdict["gate"] in _GATES:
            found = f", found {_GATES[verdict['gate']]} (distance {verdict['distance']:.2f})"
        else:
            found = f", found at distance {verdict['distance']:.2f}"
        judge = f"{verdict['judge']}{version}"
        yield f"verdict: {verdict['relation']}, confidence {verdict['confidence']:.2f}, by {judge}{found}"
        yield f"because: {verdict['rationale']}"
        yield f"it won: {verdict['won_by']}"
    for source in told.get("sources", ()):
        dated = f" on {source['asserted_at']}" if source["asserted_at"] else ""
        quote = f': "{source["quote"]}"' if source["quote"] else ""
        gone = " (withdrawn)" if source["retracted"] else ""
        said = f"said by {source['title'] or source['id']} (trust {source['trust']:g})"
        yield f"{said}{dated}{gone}{quote}{_place(source)}"
    at = told["recorded"]
    yield f"recorded by {at['actor']} at {at['recorded_at']}, epoch {at['epoch']}, position {at['position']}"


def _considered(told: Mapping[str, Any]) -> Iterator[str]:
    for other in told.get("considered", ()):
        sure = f" {other['confidence']:.2f}" if "confidence" in other else ""
        yield f"  {_bullet()} {_named(other)}: {other['relation']}{sure} ({other['rationale']})"


def scores(board: dict[str, Any]) -> Iterator[str]:
    """Render the scoreboard."""
    yield click.style(f"Q: {board['query']}", bold=True)
    yield click.style("FALSIFY", fg="green", bold=True)
    for best in board["falsify"]["frontier"]:
        yield click.style(f"  {_top()} {_named(best)}", fg="green")
    for hit in board["falsify"]["citations"]:
        yield f"  {_mark(hit['state'])} {_named(hit)}"
    for conflict in board["falsify"]["conflicts"]:
        yield f"  {_mark('contested')} {_named(conflict)} (open conflict)"
    yield click.style("PLAIN RAG", fg="red", bold=True)
    for hit in board["plain_rag"]["citations"]:
        stale = click.style(f"  STALE: {hit['state']}", fg="red") if hit["stale"] else ""
        yield f"  {_bullet()} {_named(hit)}{stale}"
    if "cognee" in board:
        yield click.style("COGNEE'S OWN RECALL, with truth-states", fg="green", bold=True)
        yield from (f"  {line}" for answer in board["cognee"]["recall"] for line in answer["text"].splitlines())
        yield click.style("COGNEE'S PLAIN RAG", fg="red", bold=True)
        yield from (f"  {line}" for answer in board["cognee"]["plain_rag"] for line in answer["text"].splitlines())


def records(told: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Render records of the log, a line each."""
    for record in told:
        body = record["event"]
        named = [record["names"].get(v, {}) for k, v in body.items() if k.endswith("_id") or k in {"by", "because"}]
        nodes = " ".join(n["handle"] or n["id"][:8] for n in named if n)
        text = next(
            (str(body[k]) for k in ("claim", "statement", "text", "title", "rationale", "reason") if body.get(k)), ""
        )
        if "sentence" in record:
            nodes, text = "", record["sentence"]
        kind = record["kind"].removeprefix("belief.").removeprefix("workbench.")
        yield (
            f"{record['position']:>6}  e{record['epoch']:<3} {record['recorded_at']}  {record['actor']:<10} "
            f"{kind:<24} {'  '.join(part for part in (nodes, _clip(text, 70)) if part)}"
        )


def epochs(lines: list[dict[str, Any]]) -> Iterator[str]:
    """Render a timeline."""
    if not lines:
        yield "nothing has been recorded"
    for line in lines:
        subject = f": {_named(line['subject'])}" if line["subject"] else ""
        epoch = click.style(f"epoch {line['epoch']}", bold=True)
        yield f"{epoch}  {line['recorded_at']}  {line['actor']}  {line['trigger']}{subject}"
        for change in line["changes"]:
            yield f"    {_mark(CHANGES[change['change']])} {_short(change)} {_WORDS[change['change']]}"
        for moved in line["frontier"]:
            best = _named(moved["hypothesis"]) if moved["hypothesis"] else "none"
            yield click.style(f"    {_top()} {best}", fg="green")
        yield click.style(
            f"    {line['recorded']} recorded, positions {line['positions'][0]} to {line['positions'][1]}", dim=True
        )


def replayed(told: dict[str, Any]) -> Iterator[str]:
    """Render a replayed state."""
    valid = f", of what was true on {told['valid_at']}" if told["valid_at"] else ""
    yield f"position {told['position']} of {told['stream']}{valid}"
    yield from graph_table(told["state"])
    yield click.style(f"digest {told['digest']}", dim=True)


def differences(told: dict[str, Any]) -> Iterator[str]:
    """Render what changed between two points."""
    yield f"{told['before']} (epoch {told['epochs'][0]}) to {told['after']} (epoch {told['epochs'][1]})"
    unchanged = True
    for node in told["added"]:
        unchanged = False
        yield click.style(f"+ {node['kind']} {_named(node)}", fg="green")
    for node in told["removed"]:
        unchanged = False
        yield click.style(f"- {node['kind']} {_named(node)}", fg="red")
    for node in told["changed"]:
        unchanged = False
        fields = ", ".join(f"{field} {_value(old)} to {_value(new)}" for field, (old, new) in node["fields"].items())
        yield f"~ {_named(node)}: {fields}"
    for sign, edges in (("+", told["edges_added"]), ("-", told["edges_removed"])):
        for edge in edges:
            unchanged = False
            yield click.style(f"{sign} edge {edge['from']} {_edge(edge)} {edge['to']}", dim=True)
    for old, new in told["sources"]:
        unchanged = False
        yield f"~ source {(new or old)['id']}: {_value(old)} to {_value(new)}"
    if unchanged:
        yield "nothing changed"


def _value(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, list):  # who asserts a claim, and whether they withdrew it
        return ", ".join(f"{said['source_id']}{' (withdrawn)' if said['retracted'] else ''}" for said in value)
    return "none" if value is None or value == "" else str(value)


def unadjudicated(pairs: list[dict[str, Any]]) -> Iterator[str]:
    """Render the pairs that have no verdict."""
    if not pairs:
        yield "every pair that came before a judge has a verdict"
    for pair in pairs:
        yield f"? {_named(pair['fact'])}"
        yield f"    against {_named(pair['claim'])}: {pair['reason']} [{pair['judge']}]"


def initialised(told: dict[str, Any]) -> Iterator[str]:
    """Render what `init` did."""
    if told["existed"]:
        yield f"{told['workspace']} is a workspace already; nothing changed"
    else:
        yield f"{told['workspace']} is now a workspace; its log is {told['log']}"
        yield click.style("  next: `falsify ingest FILE`, or `falsify question TEXT`", dim=True)


def standing(told: dict[str, Any]) -> Iterator[str]:
    """Render a status."""
    log = told["log"]
    yield f"workspace  {told['workspace']} ({told['stream']}, as {told['actor']})"
    yield f"log        position {log['position']}, revision {log['revision']}, epoch {log['epoch']}" + (
        f", last written {log['recorded_at']}" if log["recorded_at"] else ""
    )
    yield f"anchor     {log['anchor']}"
    states = ", ".join(f"{count} {state}" for state, count in told["nodes"].items() if state != "total")
    yield f"nodes      {told['nodes']['total']}{' (' + states + ')' if states else ''}"
    for name, again in (
        ("index", "the next fact or recall brings it up to date"),
        ("mirror", "`falsify mirror sync` brings it up to date"),
    ):
        part = told[name]
        where = "not built yet" if part["position"] is None else f"position {part['position']}"
        yield f"{name:<10} {where}" + (f", {part['behind']} behind: {again}" if part["behind"] else ", up to date")
    yield f"judge      {told['judge']}"


def examined(findings: list[dict[str, Any]]) -> Iterator[str]:
    """Render what the doctor found."""
    for finding in findings:
        yield f"{_verdict_mark(finding['ok'])} {finding['check']:<15} {finding['found']}"
        if finding["hint"]:
            yield f"  {finding['hint']}"


def verified(parts: list[dict[str, Any]]) -> Iterator[str]:
    """Render a verification."""
    for part in parts:
        yield f"{_verdict_mark(not part['faults'])} {part['check']}"
        yield from (f"    {fault}" for fault in part["faults"])


def checked(reports: list[dict[str, Any]]) -> Iterator[str]:
    """Render replay tests."""
    for report in reports:
        yield f"{_verdict_mark(report['ok'])} {report['golden']} ({report['checkpoints']} checkpoints)"
        yield from (f"    {failure}" for failure in report["failures"])


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> Iterator[str]:
    """Render rows under a head, columns aligned by what is seen and not by escape codes."""
    widths = [max(len(click.unstyle(row[i])) for row in [head, *rows]) for i in range(len(head))]

    def line(row: tuple[str, ...]) -> str:
        cells = [cell + " " * (width - len(click.unstyle(cell))) for cell, width in zip(row, widths, strict=True)]
        return "  ".join(cells).rstrip()

    yield click.style(line(head), bold=True)
    yield from (line(row) for row in rows)


def _mark(state: str) -> str:
    sign, plain, color = MARKS[state]
    return click.style(sign if unicode_out() else plain, fg=color)


def _verdict_mark(ok: bool) -> str:  # noqa: FBT001 - one word, read as a question
    return click.style("ok  ", fg="green") if ok else click.style("BAD ", fg="red", bold=True)


def _top() -> str:
    return "▲" if unicode_out() else "^"


def _more() -> str:
    return "…" if unicode_out() else "~"


def _bullet() -> str:
    return "•" if unicode_out() else "*"


def _named(node: Mapping[str, Any]) -> str:
    return f"{click.style(_short(node), bold=True)}  {node['text']}"


def _short(node: Mapping[str, Any]) -> str:
    return str(node["handle"] or node["id"][:8])


def _clip(text: str, width: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= width else line[: width - 1] + _more()


def gates(told: dict[str, Any]) -> Iterator[str]:
    """Render what `judge` shows: the answer, its reason, and whether it would come to act."""
    gate = told["gates"]
    if told["relation"] is None:
        yield f"? no verdict: {told['rationale']}"
    else:
        yield f"{click.style(told['relation'], bold=True)}, confidence {told['confidence']:.2f}: {told['rationale']}"
    yield f"  judge      {told['judge']} {told['judge_version']}; acts from {gate['acts_from']:g}"
    near = "within" if gate["distance"] < gate["threshold"] else "beyond"
    yield f"  distance   {gate['distance']:.2f}, {near} {gate['threshold']:g} ({gate['embedder']})"
    candidate = f"yes, by {gate['by']}" if gate["candidate"] else "no: it would not come before the judge"
    yield f"  candidate  {candidate}"
    yield f"  acts       {'yes' if told['acts'] else 'no'}"


def calibrated(told: dict[str, Any]) -> Iterator[str]:
    """Render what `calibrate` measured."""
    yield f"{told['pairs']} pairs, {told['conflicts']} of them conflicts"
    if "judge" in told:
        yield f"judge {told['judge']} {told['judge_version']}" + (
            f"; no verdict on {told['abstained']} pairs" if told["abstained"] else ""
        )
        yield f"  acting from {told['acts_from']:.2f}     {_quality(told)}"
        yield f"  best from {told['threshold']:.4f}     {_quality(told['at_threshold'])}"
        yield f"  relation right      {told['accuracy']:.3f}"
    else:
        yield f"embedder {told['embedder']} ({told['table']})"
        yield f"  within {told['present']:.2f} (now)    {_quality(told['at_present'])}"
        yield f"  within {told['threshold']:.2f}          {_quality(told)}"
        yield f"  for falsify.toml: embedder_threshold = {told['threshold']:.2f}"


def _quality(told: dict[str, Any]) -> str:
    return f"precision {told['precision']:.3f}  recall {told['recall']:.3f}  F1 {told['f1']:.3f}"
