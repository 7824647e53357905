"""How much agents may do by themselves: one table of mode and tool. People may always act."""

from collections.abc import Mapping
from typing import Final, Literal

from falsify.identity import is_agent
from falsify.workbench.events import Action, Mode

Gate = Literal["execute", "ask"]

ASK: Final = "ask"
EXECUTE: Final = "execute"

MODES: Final[tuple[Mode, ...]] = ("MANUAL", "COPILOT", "AUTORESEARCH")

#                                           MANUAL   COPILOT  AUTORESEARCH
GATES: Final[Mapping[str, tuple[Gate, Gate, Gate]]] = {
    "falsify.ticket.create":               (ASK,     EXECUTE, EXECUTE),
    "falsify.ticket.claim":                (ASK,     EXECUTE, EXECUTE),
    "falsify.experiment.materialize":      (ASK,     EXECUTE, EXECUTE),
    "falsify.run.start":                   (ASK,     ASK,     EXECUTE),
    "falsify.run.cancel":                  (ASK,     ASK,     ASK),
    "falsify.decision.commit":             (EXECUTE, EXECUTE, EXECUTE),
    "falsify.decision.commit:PROMOTE":     (ASK,     ASK,     EXECUTE),
    "falsify.belief.record":               (ASK,     EXECUTE, EXECUTE),
    "falsify.belief.revise":               (ASK,     ASK,     EXECUTE),
    "falsify.belief.retract":              (ASK,     ASK,     EXECUTE),
}  # fmt: skip


def gate(caller: str, mode: Mode, tool: str, action: Action | None = None) -> Gate:
    """Return whether the caller's command is carried out or asked for.

    What the table does not name is carried out: it is for people, and refuses agents itself.
    """
    gates = GATES.get(f"{tool}:{action}") or GATES.get(tool)
    return gates[MODES.index(mode)] if gates and is_agent(caller) else EXECUTE
