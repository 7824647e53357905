"""The story of the workbench: an agent finds an improvement, a person lets it go on, and a repetition undoes it.

Every number that is told is read from what was measured and recorded while the story plays. What each act needs to
have come true is checked, and where it has not (on a machine that rounds otherwise) the story ends with an error.

The seed is chosen. Of 160 seeds and two data sets (moons and circles) this one was picked for a first measurement that
misleads and a second that says so. Over the seeds 0 to 159 of this very project, l2 0.01 changes the validation
accuracy by +0.0017 on average, with a standard error of 0.0027: it does nothing that could be seen. So what the
repetition refutes deserves it, and the first measurement was luck.
"""

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import click

from falsify.errors import CheckFailedError
from falsify.workbench.contract import contract_of
from falsify.workbench.project import Node
from surfaces.lines.plots import curve, terminal
from surfaces.research.contract_file import Terms
from surfaces.running.worker import Worker
from surfaces.stories.curves import Line, picture
from surfaces.stories.laboratory import AGENT, OWNER, Laboratory, Told, Watch, unwatched
from surfaces.stories.narration import drawing, more, says, shell, table, title
from surfaces.terminal import unicode_out
from surfaces.text import obituary
from surfaces.workspace import Workspace

PROJECT: Final = "rings"
METRIC: Final = "val_acc"
CURVES: Final = "curves.svg"
BOUNDARY: Final = "boundary.png"

COLORS: Final = {"IMPROVED": "green", "NEUTRAL": "yellow", "REGRESSED": "red"}

TERMS: Final = Terms(
    objective="Which setting helps a small network to tell two noisy rings apart?",
    mode="COPILOT",
    metric=METRIC,
    direction="maximize",
    # Of 200 points 40 validate: one is worth 0.025. Two of them are an effect, more than two a disagreement.
    min_effect=0.03,
    noise_floor=0.03,
    tolerance=0.05,
    mutable=["l2", "activation", "learning_rate"],
    set={"dataset": "circles", "points": 200, "noise": 0.2, "validation_fraction": 0.2, "epochs": 60},
    seed=7,
    budget_runs=6,
    budget_seconds=360.0,
    run_seconds=60.0,
    required_evidence=["curve"],
)

LUCK: Final = (
    "Seed 7 was picked for this story, out of 160 seeds and two data sets, because it misleads. Over 160 "
    "seeds l2 0.01 changes val_acc by +0.0017, give or take 0.0027. So the refutation is right, and the first "
    "measurement was luck."
)


@dataclass(frozen=True, slots=True)
class Trial:
    """An idea of the agent's: what it writes on the ticket, what it changes, and the verdict that the story needs."""

    title: str
    hypothesis: str
    mutation: Mapping[str, Any]
    verdict: str

    @property
    def change(self) -> str:
        """What it changes, in words."""
        return ", ".join(f"{name} {value}" for name, value in self.mutation.items())

    def ticket(self) -> Told:
        """Return the ticket to create."""
        return {
            "title": self.title,
            "type": "experiment",
            "hypothesis": self.hypothesis,
            "instruction": f"Set {self.change}, and leave everything else as the incumbent has it.",
            "parent_policy": "incumbent",
        }


TRIALS: Final = (
    Trial("Weight decay", "A little weight decay keeps the network from fitting noise.", {"l2": 0.01}, "IMPROVED"),
    Trial("A smoother activation", "GELU draws a rounder boundary than tanh.", {"activation": "gelu"}, "NEUTRAL"),
    Trial("Smaller steps", "A smaller learning rate lands closer.", {"learning_rate": 0.001}, "REGRESSED"),
)

Act = Generator[str, None, None]


def play(workspace: Workspace, *, pictures: Path | None = None, watch: Watch = unwatched) -> Act:
    """Play the story in a fresh workspace, yielding what there is to say; leaving it ends what goes on.

    Draws its pictures into a folder, if one is given. Raises CheckFailedError where the numbers tell another story.
    """
    with Worker(workspace) as worker:
        lab = Laboratory(workspace, PROJECT, worker, watch=watch)
        yield from _promise(lab)
        trials = yield from _propose(lab)
        nodes = yield from _try_out(lab, trials)
        champion, promotion = yield from _decide(lab, nodes)
        before = lab.epoch
        again = yield from _repeat(lab, champion)
        yield from _fall(lab, promotion, again)
        yield from _return(lab, again)
        yield from _remember(lab, promotion, before)
        yield ""
        yield from says("To be honest", LUCK)
        if pictures is not None:
            yield from _draw(lab, champion, pictures)


# --- the acts -------------------------------------------------------------------------------------------------


def _promise(lab: Laboratory) -> Act:
    yield from title(1, "A person asks a question, and says beforehand what will count as an answer")
    lab.found(TERMS)
    project = lab.bench.project
    terms = contract_of(project)
    held_out = round(float(terms.base["points"]) * float(terms.base["validation_fraction"]))
    yield from says(OWNER, f'creates the project "{project.id}": {project.objective}')
    yield from more(
        f"Mode {project.mode}: an agent may propose, and has to ask before it runs anything. The contract: "
        f"{terms.metric} counts, on {held_out} points held out (one is worth {1 / held_out:g}); an effect is "
        f"{terms.minimum_effect:g} or more; two measurements of the same may differ by {terms.tolerance:g}; "
        f"{terms.budget_runs} runs at most. It freezes with the first run."
    )
    lab.measure_baseline()
    yield from says(OWNER, f"registers {lab.bench.project.baseline}, the baseline, and has it measured")
    yield from _measured(lab)


def _propose(lab: Laboratory) -> Generator[str, None, dict[str, Trial]]:
    """Return the trials by the ids of their tickets."""
    yield from title(2, "An agent reads the state, and proposes three experiments at once")
    state = lab.read("falsify.project.get_state", include=["contract", "incumbent", "budget"])["result"]
    best, left = state["incumbent"], state["budget"]["runs"]["left"]
    yield from says(
        AGENT,
        f"reads the state (falsify.project.get_state): the incumbent is {best['node_id']} with "
        f"{best['value']:.3f}; {left} runs are left",
    )
    created = lab.act("falsify.ticket.create", tickets=[trial.ticket() for trial in TRIALS])["result"]["tickets"]
    trials = {ticket["id"]: trial for ticket, trial in zip(created, TRIALS, strict=True)}
    yield from says(
        AGENT, f"creates {', '.join(trials)} (falsify.ticket.create), and lists the queue (falsify.ticket.list):"
    )
    queue = lab.read("falsify.ticket.list", status=["ELIGIBLE"])["result"]["tickets"]
    yield from table(
        ("TICKET", "RANK", "CHANGE", "HYPOTHESIS"),
        [(t["id"], f"{t['rank_score']:g}", trials[t["id"]].change, trials[t["id"]].hypothesis) for t in queue],
    )
    return trials


def _try_out(lab: Laboratory, trials: Mapping[str, Trial]) -> Generator[str, None, dict[str, Trial]]:
    """Return the trials by the ids of their nodes, all of them measured."""
    nodes: dict[str, Trial] = {}
    yield from title(3, "A run costs something, so the agent has to ask, and a person answers")
    yield from _take(lab, trials, nodes)
    node_id = next(reversed(nodes))
    asked = _start(lab, node_id)
    approval = asked["approval"]
    _expect(asked["status"] == "approval_required", f"run.start answered {asked['status']} in COPILOT mode")
    yield from says(AGENT, f"asks to run {node_id} (falsify.run.start): {asked['status']}, and nothing has happened")
    yield from says("", f"{approval['id']} waits in the Approval Center. It would do: {'; '.join(approval['effects'])}")
    done = lab.approve(approval["id"], note="go ahead")
    yield from says(OWNER, f"approves {approval['id']}, which carries it out, once: {done['result']['run']['id']}")
    yield from _measured(lab)
    reason = "The first run went as announced, and the budget bounds the rest."
    lab.change_mode("AUTORESEARCH", reason=reason)
    mode = lab.bench.project.mode
    yield from title(4, f"The person lets go ({mode}): the rest runs without asking")
    yield from says(OWNER, f'changes the mode to {mode}: "{reason}"')
    while len(nodes) < len(trials):
        yield from _take(lab, trials, nodes)
        node_id = next(reversed(nodes))
        yield from says(AGENT, f"starts the run of {node_id}: {_start(lab, node_id)['status']}")
        yield from _measured(lab)
    return nodes


def _take(lab: Laboratory, trials: Mapping[str, Trial], nodes: dict[str, Trial]) -> Act:
    """Claim the ticket that is ranked highest, and make it a node."""
    best = lab.read("falsify.project.get_state", include=["queue_counts"])["result"]["queue_counts"]["top"][0]
    reason = f"It is ranked highest, with {best['rank_score']:g} points."
    lab.act("falsify.ticket.claim", ticket_id=best["id"], reason=reason)
    trial = trials[best["id"]]
    made = lab.act("falsify.experiment.materialize", ticket_id=best["id"], config_mutation=dict(trial.mutation))
    node = made["result"]["node"]
    nodes[node["id"]] = trial
    yield from says(
        AGENT, f"claims {best['id']}, which is ranked highest, and makes it the node {node['id']}: {trial.change}"
    )


def _start(lab: Laboratory, node_id: str) -> Told:
    return lab.act("falsify.run.start", node_id=node_id, reason=f"Measure {node_id}.")


def _decide(lab: Laboratory, nodes: Mapping[str, Trial]) -> Generator[str, None, tuple[str, str]]:
    """Return the node that is promoted, and the decision that does it."""
    yield from title(5, "What do the numbers say? The contract decides, not the agent")
    yield from says(AGENT, "compares each with the incumbent (falsify.node.compare):")
    compared = [lab.read("falsify.node.compare", node_id=node_id)["result"] for node_id in nodes]
    compared.sort(key=lambda row: float(row["effect"]))
    yield from table(
        ("NODE", "CHANGE", METRIC, "DELTA", "VERDICT", "BECAUSE"),
        [
            (
                row["node_id"],
                nodes[row["node_id"]].change,
                f"{row['value']:.3f}",
                f"{row['delta']:+.3f}",
                _verdict(row["verdict"]),
                row["because"].removeprefix("the "),
            )
            for row in compared
        ],
    )
    for row in compared:
        wanted = nodes[row["node_id"]].verdict
        _expect(row["verdict"] == wanted, f"{row['node_id']} with {row['value']:g} is {row['verdict']}, not {wanted}")
    for row in compared:
        told = _judge(lab, row["node_id"], f"The contract's thresholds say so: {row['because']}.")
        decision = told["decision"]
        yield from says(AGENT, f"decides {decision['id']}: {decision['action']} {decision['node_id']}")
    moved = told["incumbent"]
    _expect(moved["after"] != moved["before"], f"the incumbent is still {moved['before']}")
    yield from more(f"The incumbent moves from {moved['before']} to {moved['after']}: new tickets branch from there.")
    yield from _curve(lab, moved["after"])
    return moved["after"], decision["id"]


def _judge(lab: Laboratory, node_id: str, rationale: str) -> Told:
    """Let the agent compare a node, and decide as the numbers call for, in its own words."""
    compared = lab.read("falsify.node.compare", node_id=node_id)
    return dict(lab.follow(compared, "falsify.decision.commit", {"rationale": rationale})["result"])


def _repeat(lab: Laboratory, champion: str) -> Generator[str, None, str]:
    """Return the node that measures the champion again."""
    yield from title(6, "Is it true? The agent measures its best result again, with another seed")
    ticket = {
        "title": f"Reproduce {champion}",
        "type": "reproduction",
        "hypothesis": f"What {champion} measured holds with another seed.",
        "instruction": "Change nothing: the run gets a seed that this configuration was not measured with.",
        "parent_policy": "incumbent",
    }
    ticket_id = lab.act("falsify.ticket.create", tickets=[ticket])["result"]["tickets"][0]["id"]
    lab.act("falsify.ticket.claim", ticket_id=ticket_id, reason="A promotion that nobody repeated is a hope.")
    node = lab.act("falsify.experiment.materialize", ticket_id=ticket_id)["result"]["node"]
    yield from says(AGENT, f"creates and claims {ticket_id}, makes it {node['id']} (seed {node['seed']}), and runs it")
    _start(lab, node["id"])
    yield from _measured(lab)
    return str(node["id"])


def _fall(lab: Laboratory, promotion: str, again: str) -> Act:
    yield from title(7, "It is not. The promotion dies, and the agent is told at its next look")
    reason = lab.why(promotion).as_json()
    _expect(reason["state"] != "alive", f"{again} agrees with what it repeats, so {promotion} stands")
    yield from shell(f"falsify why {promotion}", obituary(reason))
    state = lab.read("falsify.project.get_state")
    _expect(bool(state.get("warnings")), "get_state warns of nothing")
    yield ""
    yield from says(AGENT, "reads the state again, and finds a warning:")
    yield from more(click.unstyle(state["warnings"][0]), color="yellow")
    yield from more("and what to do next, as calls that can be made as they are:")
    for step in state["nextActions"]:
        yield from more(f"{step['tool']}: {step['why']}", item=True)


def _return(lab: Laboratory, again: str) -> Act:
    yield from title(8, "Back to firm ground")
    state = lab.read("falsify.project.get_state")
    told = lab.follow(state, "falsify.decision.commit")["result"]
    decision = told["decision"]
    yield from says(AGENT, f"does what is suggested: {decision['id']}, {decision['action']} {decision['node_id']}")
    yield from more(f'"{decision["rationale"]}"')
    told = _judge(lab, again, "The repetition improves on nothing.")
    yield from says(AGENT, f"decides {told['decision']['id']}: {told['decision']['action']} {again}")
    state = lab.read("falsify.project.get_state", include=["incumbent"])
    alive = state["result"]["incumbent"]["decision"]["state"]
    _expect(alive == "alive" and not state.get("warnings"), f"the incumbent is {alive}")
    node_id = state["result"]["incumbent"]["node_id"]
    yield from more(
        f"The incumbent is {node_id}, alive. Nobody has repeated that one yet: it would be the next ticket."
    )


def _remember(lab: Laboratory, promotion: str, before: int) -> Act:
    yield from title(9, "And what was believed before the repetition?")
    then, now = lab.why(promotion, epoch=before).as_json(), lab.why(promotion).as_json()
    _expect(then["state"] == "alive", f"{promotion} was {then['state']} at epoch {before}")
    yield from shell(f"falsify why {promotion} --epoch {before}", obituary(then))
    yield ""
    yield from more(
        f"At epoch {before} the promotion {promotion} was {then['state']}; at epoch {lab.epoch} it is {now['state']}. "
        "Nothing was overwritten: both can be asked for, at any time."
    )


# --- pictures -------------------------------------------------------------------------------------------------


def _draw(lab: Laboratory, champion: str, folder: Path) -> Act:
    """Write all curves as one picture, and the champion's decision boundary as another."""
    project = lab.bench.project
    lines = [
        Line(_caption(node), curve(lab.lines(node.frozen_by), METRIC), dashed=bool(node.reproduces))
        for node in project.nodes.values()
    ]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / CURVES).write_text(
        picture(lines, title=f"{METRIC} by epoch: {project.objective}", metric=METRIC), encoding="utf-8"
    )
    (folder / BOUNDARY).write_bytes(lab.artifact(champion, BOUNDARY))
    yield ""
    yield f"  {folder / CURVES}: what every run measured, epoch by epoch"
    yield f"  {folder / BOUNDARY}: where {champion} draws the line between the rings"


def _caption(node: Node) -> str:
    changed = ", ".join(f"{name} {value}" for name, value in node.mutation.items())
    again = f"{node.reproduces} again, seed {node.seed}" if node.reproduces else "the baseline"
    return f"{node.id} {changed or again}"


# --- what is measured, and what has to be true ----------------------------------------------------------------


def _measured(lab: Laboratory) -> Act:
    """Let the worker do what is queued, and tell what came of it."""
    for run in lab.work():
        lab.read("falsify.run.get", run_id=run.id)  # the agent polls, and knows the new revision by that
        yield from says("worker", f"{run.id} measures {run.node_id}: {METRIC} {run.metrics[METRIC]:.3f}")
        if run.node_id == lab.bench.project.baseline:
            yield from _curve(lab, run.node_id)


def _curve(lab: Laboratory, node_id: str) -> Act:
    drawn = curve(lab.lines(lab.bench.project.nodes[node_id].frozen_by), METRIC)
    yield from drawing(terminal(drawn, width=60, height=5, unicode=unicode_out()))


def _verdict(verdict: str) -> str:
    return click.style(verdict, fg=COLORS[verdict])


def _expect(holds: bool, otherwise: str) -> None:  # noqa: FBT001 - a sentence: expect this
    """Raise CheckFailedError where the story did not come true."""
    if not holds:
        raise CheckFailedError(
            f"the numbers tell another story on this machine: {otherwise}",
            hint="its arithmetic rounds otherwise than where the story was found; the workbench itself works as ever",
        )
