"""The belief graph as a picture: Graphviz and Mermaid, from a snapshot."""

from typing import Any

STYLES: dict[str, tuple[str, str, str]] = {
    "alive": ("#d7f5dd", "#1a7f37", "solid"),
    "refuted": ("#ffd7d5", "#cf222e", "solid"),
    "superseded": ("#fff1c2", "#9a6700", "solid"),
    "invalidated": ("#e7e7e7", "#57606a", "dashed"),
    "contested": ("#f3e0ff", "#8250df", "solid"),
    "forgotten": ("#f6f8fa", "#8c959f", "dotted"),
}
"""Fill, stroke and line of each truth-state."""

_SHAPES = {"question": "doubleoctagon", "hypothesis": "ellipse", "evidence": "box", "conclusion": "hexagon"}
_BRACKETS = {"question": ("{{", "}}"), "hypothesis": ("([", "])"), "evidence": ("[", "]"), "conclusion": ("[/", "/]")}


def dot(state: dict[str, Any]) -> str:
    """Return a snapshot as a Graphviz digraph."""
    lines = ["digraph beliefs {", "  rankdir=LR;", '  node [fontname="Helvetica", style=filled];']
    for node in state["nodes"]:
        fill, stroke, line = STYLES[node["state"]]
        lines.append(
            f"  {_quoted(node['id'])} [label={_quoted(_label(node))}, shape={_SHAPES[node['kind']]}, "
            f'fillcolor="{fill}", color="{stroke}", style="filled,{line}"];'
        )
    for edge in state["edges"]:
        dashed = ", style=dashed" if edge.get("critical") is False else ""
        lines.append(f"  {_quoted(edge['from'])} -> {_quoted(edge['to'])} [label={_quoted(edge_label(edge))}{dashed}];")
    lines += [
        f"  {_quoted(node['question_id'])} -> {_quoted(node['id'])} [style=dotted, arrowhead=none];"
        for node in state["nodes"]
        if node["kind"] == "hypothesis"
    ]
    return "\n".join([*lines, "}"])


def mermaid(state: dict[str, Any]) -> str:
    """Return a snapshot as a Mermaid flowchart."""
    names = {node["id"]: f"n{index}" for index, node in enumerate(state["nodes"])}
    lines = ["flowchart LR"]
    for node in state["nodes"]:
        opening, closing = _BRACKETS[node["kind"]]
        lines.append(f'    {names[node["id"]]}{opening}"{mermaid_text(_label(node))}"{closing}:::{node["state"]}')
    for edge in state["edges"]:
        arrow = "-.->" if edge.get("critical") is False else "-->"
        lines.append(f"    {names[edge['from']]} {arrow}|{edge_label(edge)}| {names[edge['to']]}")
    lines += [
        f"    {names[node['question_id']]} -.- {names[node['id']]}"
        for node in state["nodes"]
        if node["kind"] == "hypothesis" and node["question_id"] in names
    ]
    return "\n".join([*lines, *mermaid_classes()])


def mermaid_text(text: str) -> str:
    """Return a text as it may stand between quotes in Mermaid."""
    return (
        text.replace("&", "#amp;").replace('"', "#quot;").replace("<", "#lt;").replace(">", "#gt;").replace("\n", " ")
    )


def mermaid_classes() -> list[str]:
    """Return the lines that give each truth-state its colours."""
    dashes = {"solid": "", "dashed": ",stroke-dasharray:5", "dotted": ",stroke-dasharray:2"}
    return [
        f"    classDef {state} fill:{fill},stroke:{stroke},color:#1f2328{dashes[line]}"
        for state, (fill, stroke, line) in STYLES.items()
    ]


def edge_label(edge: dict[str, Any]) -> str:
    """Return an edge's relation with what it carries."""
    if edge["relation"] == "depends_on":
        return f"depends on ({edge['group']})" if edge["group"] else "depends on"
    if edge["relation"] == "supersedes":
        return f"{edge['verdict']} {edge['confidence']:.2f}"
    return f"{edge['relation']} {edge['weight']:g}"


def _label(node: dict[str, Any]) -> str:
    return f"{node['handle']}: {node['text']}" if node["handle"] else str(node["text"])


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
