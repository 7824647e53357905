"""docs/workbench.md says what the code does: its tables are the code's, its commands exist, its examples run."""

import ast
import json
import re
import shlex
import shutil
import time
import tomllib
from dataclasses import fields
from pathlib import Path
from typing import get_args

import click
import pytest

import cli
from falsify import errors
from falsify.config_keys import parse_key
from falsify.errors import FalsifyError, RefusedError
from falsify.executors import trainer
from falsify.executors.command import PLACEHOLDERS, Limits
from falsify.ports import RunOrder
from falsify.workbench import approvals, ranking, states
from falsify.workbench.approvals import RELIES_ON
from falsify.workbench.autonomy import GATES, MODES
from falsify.workbench.events import Action, Contract, EvidenceKind, ParentPolicy, VerdictName
from falsify.workbench.project import Dated, Project, Ticket
from falsify.workbench.verdicts import VERDICTS, Comparison, check_verdict
from projections import comparisons, exhibits
from surfaces.adapters import make_executor
from surfaces.envelope import STATUSES
from surfaces.research.contract_file import DEFAULTS, EXAMPLE, Terms, draw_up, read_terms
from surfaces.settings import ExecutorTable, load
from surfaces.tools import evidence_reads, workbench_acts
from surfaces.tools.belief_inputs import BELIEF_INPUTS
from surfaces.tools.workbench_inputs import WORKBENCH_INPUTS

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "workbench.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")
EXAMPLES = ROOT / "docs" / "examples"
RESEARCH = ("project", "ticket", "node", "run", "worker", "evidence", "decision", "approvals", "tools", "call")
GUARDED = ("PYTHONPATH", "FALSIFY_TEST_NETWORK")  # what keeps the tests' own children off the network


# --- reading the page -----------------------------------------------------------------------------------------


def section(heading):
    """Return what stands below a heading, up to the next one of its level or above."""
    level = len(heading) - len(heading.lstrip("#"))
    after = re.split(rf"^{re.escape(heading)}$", PAGE, flags=re.MULTILINE)
    assert len(after) == 2, f"the page has {len(after) - 1} headings {heading!r}"
    return re.split(rf"^#{{1,{level}}} ", after[1], flags=re.MULTILINE)[0]


def table(heading, first):
    """Return the rows of the table below a heading whose first column is called so."""
    lines = section(heading).splitlines()
    begin = next(n for n, line in enumerate(lines) if line.startswith(f"| {first} |"))
    rows = []
    for line in lines[begin + 2 :]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows


def coded(cell):
    """Return the words of a cell that are set as code."""
    return tuple(re.findall(r"`([^`]+)`", cell))


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


# --- tables ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("heading", "transitions"),
    [("### Tickets", states.TICKET), ("### Nodes", states.NODE), ("### Runs", states.RUN)],
)
def test_the_transitions_are_those_of_the_code(heading, transitions):
    assert {coded(row[0])[0]: coded(row[1]) for row in table(heading, "state")} == transitions


def test_the_points_of_the_rank_are_those_of_the_code():
    points = {row[0]: round(float(row[1]) * ranking.POINT) for row in table("## Rank", "part")}
    assert {
        name.partition(",")[0].partition(":")[0]: number for name, number in points.items() if name[:4] != "age,"
    } == {
        "pinned": ranking.PINNED,
        "priority": ranking.PRIORITY,
        **{f"source `{source}`": number for source, number in ranking.SOURCE.items()},
        "untried": ranking.UNTRIED,
    }
    assert [number for name, number in points.items() if name[:4] == "age,"] == [ranking.AGE, ranking.OLDEST]


def test_the_examples_of_the_rank_come_to_what_the_page_says():
    project = Project(id="p", contract=contract("hidden_width", "learning_rate", "l2"), revision=40)
    project.tries = {"hidden_width": (12,), "l2": (13, 14)}
    first = ticket("raise hidden width and learning-rate", created=10, priority=1)
    assert ranking.rank_score(project, first) == 153_000
    assert "= 153 points" in PAGE
    project.tries = {"learning_rate": (12,), "l2": (13, 14)}
    second = ticket("hidden_width, learning_rate and l2", created=40, priority=0)
    assert ranking.rank_score(project, second) - ranking.SOURCE["agent"] == 24_444
    assert "/ 3 = 24.444" in " ".join(PAGE.split())


def contract(*names):
    return Contract(
        metric="val_acc",
        direction="maximize",
        minimum_effect=0.01,
        noise_floor=0.01,
        tolerance=0.01,
        keys=tuple(parse_key(f"{name}=float:[0,1]") for name in names),
        base=dict.fromkeys(names, 0.0),
        seed=0,
        executor="builtin",
        budget_runs=1,
        budget_seconds=1.0,
        run_seconds=1.0,
        required_evidence=(),
    )


def ticket(title, *, created, priority):
    return Ticket(
        id="T-1",
        created_at=created,
        round_id="round-1",
        title=title,
        type="experiment",
        hypothesis="It helps.",
        hypothesis_id="h",
        instruction="Try it.",
        parent_policy="incumbent",
        required_evidence=(),
        source="agent",
        author="agent:a",
        statuses=Dated(((created, "ELIGIBLE"),)),
        pins=Dated(((created, False),)),
        priorities=Dated(((created, priority),)),
    )


def test_the_parent_policies_are_those_of_the_code():
    assert [coded(row[0])[0] for row in table("## From a ticket to a node", "policy")] == [*get_args(ParentPolicy)]


def test_the_lines_of_the_verdicts_are_those_of_the_code_in_their_order():
    told = [(coded(row[0])[0], row[1]) for row in table("## Comparison, verdict, decision", "verdict")]
    assert told == [(verdict, because) for verdict, because, _ in VERDICTS]


def test_the_decisions_that_are_taken_are_those_that_the_code_takes():
    verdicts = get_args(VerdictName)
    rows = table("## Comparison, verdict, decision", "stated, where the numbers say")
    assert [coded(row[0])[0] for row in rows] == ["IMPROVED", "NEUTRAL", "REGRESSED", "INCONCLUSIVE"]
    assert {*verdicts} == {coded(row[0])[0] for row in rows}
    measured = ["IMPROVED", "NEUTRAL", "REGRESSED", "INCONCLUSIVE"]
    for row in rows:
        assert row[1:] == [taken(coded(row[0])[0], numbers) for numbers in measured]


def taken(stated, measured):
    """Return in the page's words which actions are taken with a verdict where the numbers say another."""
    accepted = {action for action in get_args(Action) if accepts(compared(measured), stated, action)}
    every = {*get_args(Action)}
    return {frozenset(every): "any action", frozenset(every - {"PROMOTE"}): "any but PROMOTE"}.get(
        frozenset(accepted), "refused" if not accepted else f"only {accepted}"
    )


def accepts(comparison, verdict, action):
    try:
        check_verdict(comparison, verdict, action)
    except RefusedError:
        return False
    return True


def compared(measured):
    return Comparison(
        node_id="N-2",
        against_id="N-1",
        metric="val_acc",
        value=0.9,
        reference=0.8,
        delta=0.1,
        effect=0.1,
        clears_minimum_effect=True,
        clears_noise_floor=True,
        differing={},
        missing_evidence=(),
        verdict=measured,
        because="",
    )


def test_the_autonomy_table_is_that_of_the_code():
    rows = table("## Who may do what", "tool")
    assert {coded(row[0])[0]: tuple(row[1:]) for row in rows} == GATES
    assert f"| tool | {' | '.join(MODES)} |" in section("## Who may do what")


def test_what_an_approval_relies_on_is_told_for_every_tool():
    assert [coded(row[0])[0] for row in table("### Approvals", "tool")] == [*RELIES_ON]


def test_the_statuses_are_those_of_the_code():
    told = {coded(status)[0]: (int(code), meaning) for status, code, meaning in table("## Answers", "status")}
    assert told == {status: (outcome.exit_code, outcome.meaning) for status, outcome in STATUSES.items()}


def test_the_kinds_of_evidence_are_those_of_the_code():
    assert {kind for row in table("## Evidence", "kind") for kind in coded(row[0])} == {*get_args(EvidenceKind)}


def test_the_keys_of_the_built_in_trainer_are_those_of_the_code():
    *rows, texts = table("## Executors", "key")
    keys = (*trainer.KEYS, *trainer.FIXED)
    assert [tuple(row) for row in rows] == [(f"`{k.name}`", k.bounds, str(trainer.DEFAULTS[k.name])) for k in keys]
    assert coded(texts[0]) == trainer.TEXTS


def test_what_a_command_is_given_is_that_of_the_code():
    rows = table("### Your own", "given")
    assert {word.strip("{}") for row in rows for word in coded(row[0])} == {*PLACEHOLDERS}
    settings = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    assert {word for row in rows for word in coded(row[1])} == {*re.findall(r"^\| `(FALSIFY_RUN\w+|FALSIFY_CONFIG|FALSIFY_METRICS)`", settings, re.MULTILINE)}  # fmt: skip  # noqa: E501


def test_the_limits_of_a_run_are_those_of_the_code():
    rows = table("### Limits of a run", "limit")
    assert {coded(row[0])[0]: float(row[1]) for row in rows} == {f.name: float(f.default) for f in fields(Limits)}
    assert {word for row in rows for word in coded(row[2])} <= {*ExecutorTable.model_fields}


def test_the_keys_of_a_contract_are_those_of_the_file_with_their_defaults():
    rows = {coded(row[0])[0]: row[2] for row in table("## The contract", "key")}
    assert {*rows} == {*Terms.model_fields}
    told = {name: rows[name].strip("`") for name in DEFAULTS}
    assert told == {name: str(value) if value != () else "none" for name, value in written(DEFAULTS).items()}


def written(defaults):
    return {name: f"{value:g}" if isinstance(value, float) else value for name, value in defaults.items()}


# --- refusals -------------------------------------------------------------------------------------------------


def test_every_word_for_a_refusal_is_documented_with_the_status_that_it_has():
    told = {word: {*coded(row[1])} for row in table("## Refusals", "reason") for word in coded(row[0])}
    assert told == reasons()


def reasons():
    """Return each reason that the code refuses by, with the statuses that it comes with."""
    found = {}
    for path in modules():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for keyword in getattr(node, "keywords", []) if isinstance(node, ast.Call) else []:
                status = status_of(ast.unparse(node.func))
                if keyword.arg == "reason" and status:
                    told = words(keyword.value)
                    assert told, f"{path}: which reasons can {ast.unparse(keyword.value)} be?"
                    for word in told:
                        found.setdefault(word, set()).add(status)
    return found


OTHERS = {"access", "belief", "brain", "governance", "packs", "pages", "stories", "token"}
"""Where other contexts lie, which refuse in words of their own, told on pages of their own."""


def modules():
    """Return every file that a tool of research can reach: all but those of another context."""
    every = (path for top in ("falsify", "projections", "replay", "surfaces") for path in (ROOT / top).rglob("*.py"))
    return sorted(
        path
        for path in every
        if not OTHERS & {*path.relative_to(ROOT).with_suffix("").parts} and not re.search("brain|belief", path.name)
    )


def test_no_file_is_passed_over_from_which_a_tool_of_research_is_made():
    made = {Path(module.__file__) for module in (approvals, comparisons, exhibits, evidence_reads, workbench_acts)}
    assert made - {*modules()} == set()


def status_of(called):
    if called == "super().__init__":  # StaleRevisionError names its own reason
        return errors.StaleRevisionError.status
    kind = getattr(errors, called, None)
    return kind.status if isinstance(kind, type) and issubclass(kind, FalsifyError) else ""


def words(value):
    """Return the reasons that an expression can be: `f"ticket_{...}"` is `ticket_<state>`."""
    if isinstance(value, ast.Constant):
        kind, _, state = value.value.partition("_")
        known = {"ticket": states.TICKET, "node": states.NODE, "run": states.RUN}.get(kind, {})
        return [f"{kind}_<state>" if state.upper() in known else value.value]
    if not isinstance(value, ast.JoinedStr):
        return []
    text = "".join(
        part.value if isinstance(part, ast.Constant) else "{" + ast.unparse(part.value) + "}" for part in value.values
    )
    kinds = ("ticket", "node", "run") if text.startswith("{what}") else ("",)
    return [re.sub(r"\{[^}]+\.lower\(\)\}", "<state>", text.replace("{what}", kind)) for kind in kinds]


# --- commands -------------------------------------------------------------------------------------------------


def commands(text):
    """Return the words of each `falsify ...` command of a text: those of its sh blocks, and those set as code."""
    fenced = re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    lines = [line for block in fenced for line in block.replace("\\\n", " ").splitlines()]
    split = [shlex.split(line, comments=True) for line in lines]
    inline = [shlex.split(code) for code in re.findall(r"`(falsify [^`]+)`", prose)]
    return [found for line in [*split, *inline] for found in each_command(line)]


def each_command(line):
    """Yield the falsify commands of a line of a shell: after `&&`, and without what stands before the name."""
    for start in (n for n, word in enumerate(line) if word == "falsify"):
        rest = line[start + 1 :]
        end = next((n for n, word in enumerate(rest) if word in {"&&", "|", ">", "&", ";"}), len(rest))
        yield rest[:end]


@pytest.mark.parametrize("text", [PAGE, README], ids=["workbench.md", "README.md"])
def test_every_command_of_the_page_exists_with_the_options_that_it_is_given(text):
    found = commands(text)
    assert len(found) > 10
    assert [problem for words in found if (problem := unknown(words))] == []


def unknown(words):
    """Return what of a command does not exist, or nothing."""
    command, context = cli.cli, click.Context(cli.cli, info_name="falsify")
    rest = list(words)
    while rest and isinstance(command, click.Group):
        if rest[0].startswith("-"):  # an option of the group, with its value
            rest = rest[2:]
            continue
        below = command.get_command(context, rest[0])
        if below is None:
            return f"falsify {' '.join(words)}: there is no command {rest[0]}"
        context = click.Context(below, info_name=rest.pop(0), parent=context)
        command = below
    options = {name for each in command.params for name in (*each.opts, *each.secondary_opts)}
    missing = [word for word in rest if re.fullmatch(r"--?[a-z][\w-]*", word) and word not in options]
    return f"falsify {' '.join(words)}: there is no {', '.join(missing)}" if missing else ""


def test_every_command_of_research_is_in_the_list():
    rows = [coded(row[0]) for row in table("### The commands", "command")]
    told = {name.removeprefix("falsify "): set(below) for name, *below in rows}
    assert told == {name: set(commands_below(name)) for name in RESEARCH}


def commands_below(name):
    context = click.Context(cli.cli)
    command = cli.cli.get_command(context, name)
    return command.list_commands(context) if isinstance(command, click.Group) else []


def test_every_tool_that_the_page_names_exists():
    named = {*re.findall(r"`(falsify\.\w+\.\w+)", PAGE)}
    assert named - {*WORKBENCH_INPUTS, *BELIEF_INPUTS} == set()
    assert len(named) > 5


# --- examples -------------------------------------------------------------------------------------------------


def test_the_page_shows_the_files_that_are_beside_it():
    files = {path.name: path.read_text(encoding="utf-8") for path in EXAMPLES.iterdir() if path.is_file()}
    assert sorted(files) == ["falsify.toml", "reproduce.json", "ring.toml", "train.py"]
    shown = [*blocks("toml"), *blocks("python"), *blocks("json")]
    assert [name for name, text in files.items() if text not in shown] == []


def test_every_toml_of_the_page_is_a_contract_or_settings_that_can_be_read(tmp_path):
    kinds = []
    for text in blocks("toml"):
        if "executor" in tomllib.loads(text) and isinstance(tomllib.loads(text)["executor"], dict):
            (tmp_path / "falsify.toml").write_text(text)
            kinds += [*load(tmp_path, {}).executor]
        else:
            (tmp_path / "project.toml").write_text(text)
            kinds.append(read_terms(tmp_path / "project.toml").executor)
    assert kinds == ["ring", "ring", "walled"]


def test_the_example_of_the_code_is_a_contract_too():
    assert Terms.model_validate(tomllib.loads(EXAMPLE)).executor == "builtin"


@pytest.fixture
def ring(tmp_path):
    """Return the executor of the example, in a workspace like the one that the page makes."""
    for path in EXAMPLES.iterdir():
        shutil.copy(path, tmp_path)
    settings = load(tmp_path, {})
    table = settings.executor["ring"].model_copy(update={"env": GUARDED})
    return make_executor(settings.model_copy(update={"executor": {"ring": table}}), tmp_path, "ring")


def measure(executor, folder, **config):
    """Return how a run of the executor ended, and the lines that it reported."""
    process = executor.start(RunOrder("R-1", config, str(folder), 60.0))
    lines = []
    while (ended := process.poll()) is None:
        lines += process.metrics()
        time.sleep(0.01)
    return ended, [*lines, *process.metrics()]


def test_the_example_contract_is_one_that_its_executor_can_keep(ring, tmp_path):
    drawn = draw_up(read_terms(tmp_path / "ring.toml"), executor=ring, root=tmp_path)
    assert (drawn.metric, drawn.executor, dict(drawn.base)) == (
        "val_acc",
        "ring",
        {"hidden_width": 2, "learning_rate": 0.1, "epochs": 10},
    )
    assert [key.name for key in drawn.keys] == ["hidden_width", "learning_rate"]


def test_the_example_script_runs_as_the_command_of_a_user_and_learns(ring, tmp_path):
    settings = {"learning_rate": 0.1, "epochs": 3, "seed": 7}
    ended, narrow = measure(ring, tmp_path / "narrow", hidden_width=2, **settings)
    assert (ended.outcome, ended.code) == ("exited", 0), (tmp_path / "narrow" / "log.txt").read_text()
    _, wide = measure(ring, tmp_path / "wide", hidden_width=32, **settings)
    _, again = measure(ring, tmp_path / "again", hidden_width=32, **settings)
    assert [line["epoch"] for line in wide] == [1, 2, 3]
    assert wide[-1]["val_acc"] > narrow[-1]["val_acc"] + 0.1
    assert again == wide
    assert len(json.loads((tmp_path / "wide" / "out" / "weights.json").read_text())) == 33


def test_the_example_script_is_as_short_as_the_page_says():
    lines = (EXAMPLES / "train.py").read_text(encoding="utf-8").splitlines()
    body = [line for line in lines if line and not line.startswith(("import ", "from ", '"""'))]
    assert len(body) <= 20


# --- the first project ----------------------------------------------------------------------------------------


def tour():
    """Yield what is below "A first project", in order: lines for a shell, what is printed, and what is answered."""
    parts = re.findall(r"^```(\w+)\n(.*?)^```$", section("## A first project"), re.MULTILINE | re.DOTALL)
    for kind, text in parts:
        yield kind, text.replace("\\\n", " ") if kind == "sh" else text


def test_the_first_project_goes_as_the_page_says(tmp_path, monkeypatch, capfd):
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FALSIFY_PROJECT", "")  # so that it is as before afterwards
    monkeypatch.setenv("COLUMNS", "100")
    printed, codes = "", []
    for kind, text in tour():
        match kind:
            case "sh":
                for line in text.splitlines():
                    codes += play(shlex.split(line, comments=True), monkeypatch)
                printed = capfd.readouterr().out
            case "text":
                assert unseen(text, printed) == []
            case "json" if "ok" in json.loads(text):
                assert told(json.loads(text), within=json.loads(printed.splitlines()[-1]))
    assert codes == [0] * 16 + [5] + [0] * 8
    assert cli.run(["why", "D-1"]) == 0
    assert unseen(chains()[0], capfd.readouterr().out) == []


def chains():
    """Return what the page shows of deaths: the chain of a reproduction, and what a fact comes to."""
    return re.findall(r"^```text\n(.*?)^```$", section("## Research and beliefs"), re.MULTILINE | re.DOTALL)


def unseen(shown, printed):
    """Return the lines of the page that were not printed; lines may break elsewhere, and other days are no matter."""
    seen = plain(printed)
    return [line for line in shown.splitlines() if plain(line) not in seen and not line.startswith("$ ")]


def plain(text):
    without_tree = re.sub(r"[│└├─]", " ", text)
    return " ".join(re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "DATE", without_tree).split())


def test_a_charge_against_the_data_kills_the_promotion_as_the_page_says(tmp_path, monkeypatch, capfd):
    assert cli.run(["init", str(tmp_path / "lab")]) == 0
    monkeypatch.chdir(tmp_path / "lab")
    monkeypatch.setenv("FALSIFY_PROJECT", "spirals")
    small = ["--set", "dataset=spirals", "--set", "points=40", "--set", "epochs=1"]
    for words in (
        ["project", "create", "spirals", "--objective", "Which settings classify the spirals best?", *small],
        ["project", "baseline"],
        ["worker", "--once"],
        ["ticket", "create", "--title", "Wider", "--hypothesis", "Wider is better.", "--instruction", "Set it to 64."],
        ["ticket", "eligible", "T-1"],
        ["ticket", "claim", "T-1", "--reason", "the only one"],
        ["ticket", "materialize", "T-1", "--set", "hidden_width=64"],
        ["run", "start", "N-2", "--reason", "measure it", "--wait"],
        ["decision", "commit", "N-2", "--verdict=INCONCLUSIVE", "--action=PROMOTE", "--rationale", "To see it fall."],
    ):
        assert cli.run(words) == 0, capfd.readouterr().err
    capfd.readouterr()
    assert cli.run(commands(chains()[1].removeprefix("$ ").join(["```sh\n", "```\n"]))[0]) == 0
    assert unseen(chains()[1], capfd.readouterr().out) == []
    assert cli.run(["retract", "F"]) == 0
    assert "D-1 lives again" in capfd.readouterr().out


def told(part, *, within):
    """Return whether a document says all that its excerpt says."""
    if isinstance(part, dict):
        return all(name in within and told(value, within=within[name]) for name, value in part.items())
    return part == within


def play(line, monkeypatch):
    """Carry out a line of a shell, and return the exit codes of its commands."""
    codes = [cli.run(words) for words in each_command(line)]
    match line:
        case ["cp", source, "."]:
            for path in Path(source).parent.glob("*"):
                shutil.copy(path, ".")
        case ["export", assignment]:
            monkeypatch.setenv(*assignment.split("=", 1))
        case [*_, "cd", folder]:
            monkeypatch.chdir(folder)
        case ["falsify", *_] | []:
            pass
        case _:
            raise AssertionError(f"the test cannot play {line}")
    return codes


# --- the page itself ------------------------------------------------------------------------------------------


def test_every_place_on_the_page_that_is_linked_to_exists():
    anchors = {anchor(heading) for heading in re.findall(r"^#+ (.+)$", PAGE, re.MULTILINE)}
    assert {*re.findall(r"\]\(#([\w-]+)\)", PAGE)} - anchors == set()
    for page, place in re.findall(r"\]\((\w+\.md)#([\w-]+)\)", PAGE):
        there = (ROOT / "docs" / page).read_text(encoding="utf-8")
        assert place in {anchor(heading) for heading in re.findall(r"^#+ (.+)$", there, re.MULTILINE)}


def anchor(heading):
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def test_prose_is_no_wider_than_elsewhere():
    text = re.sub(r"^```.*?^```$", "", PAGE, flags=re.MULTILINE | re.DOTALL)
    assert [line for line in text.splitlines() if len(line) > 120 and not line.startswith("|")] == []


def test_nothing_on_the_page_waits_to_be_written():
    assert re.findall(r"^[A-Z]{4,}$|TODO|FIXME", PAGE, re.MULTILINE) == []
