"""Research by the command line: a project's life without running anything, what it prints, and what it refuses."""

import errno
import json
import shutil

import pytest

import cli
from falsify import errors
from falsify.artifacts import ArtifactStore
from falsify.join import Finish, succeed_run
from falsify.workbench import runs
from falsify.workbench.events import Exhibit
from surfaces.commands.project import TERMS as TERMS_OF_HELP
from surfaces.commands.session import whole_file
from surfaces.research.contract_file import DEFAULTS, TRAINER_METRIC
from surfaces.workbench import Workbench
from surfaces.workspace import Workspace

OBJECTIVE = "Which settings classify the spirals best?"
TERMS = (
    *("--objective", OBJECTIVE, "--min-effect", "0.01", "--noise-floor", "0.02"),
    *("--mutable", "hidden_width=int:[1,64]", "--mutable", "activation", "--set", "dataset=spirals"),
    *("--set", "hidden_width=8", "--budget-runs", "6", "--budget-seconds", "600", "--run-seconds", "60"),
)
IDEA = (
    *("--title", "A wider layer", "--hypothesis", "A wider hidden layer helps."),
    *("--instruction", "Set hidden_width to 32."),
)
AGAIN = (
    *("--title", "Once more", "--hypothesis", "What N-2 measured holds.", "--type", "reproduction"),
    *("--instruction", "Measure N-2 again."),
)
AGENT = "agent:alice"


@pytest.fixture
def root(tmp_path, monkeypatch):
    folder = tmp_path / "lab"
    monkeypatch.setenv("FALSIFY_PROJECT", "p1")
    assert cli.run(["init", str(folder)]) == 0
    return folder


@pytest.fixture
def falsify(root, capfd, monkeypatch):
    """Run a command in the workspace; return its exit code, stdout and stderr."""

    def run(*words, actor=None):
        if actor:
            monkeypatch.setenv("FALSIFY_ACTOR", actor)
        capfd.readouterr()
        code = cli.run(["-w", str(root), *words])
        out, err = capfd.readouterr()
        monkeypatch.delenv("FALSIFY_ACTOR", raising=False)
        return code, out, err

    return run


@pytest.fixture(scope="module")
def stages(tmp_path_factory):
    """The life of a project: a workspace for each stage, to be copied."""
    root = tmp_path_factory.mktemp("stages") / "lab"
    made = {}

    def falsify(*words):
        code = cli.run(["-w", str(root), "--project", "p1", *words])
        return code, "", ""

    def keep(name):
        made[name] = root.parent / name
        shutil.copytree(root, made[name])

    assert cli.run(["init", str(root)]) == 0
    assert falsify("project", "create", "p1", *TERMS, "--mode", "MANUAL")[0] == 0
    keep("project")
    assert falsify("project", "baseline")[0] == 0
    freeze(root, "R-1", 0.8)
    keep("measured")
    branch(falsify)
    queue(root, "N-2")
    freeze(root, "R-2", 0.9)
    keep("branched")
    assert falsify(*commit("N-2"))[0] == 0
    keep("promoted")
    branch(falsify, *AGAIN, ticket="T-2", changes=())
    queue(root, "N-3")
    freeze(root, "R-3", 0.8)
    keep("undermined")
    return made


def at(stage, what):
    """Return a fixture: the workspace at a stage of the project's life."""

    def copied(root, stages):
        shutil.rmtree(root)
        shutil.copytree(stages[stage], root)

    copied.__doc__ = what
    return pytest.fixture(copied, name=stage)


project = at("project", "A project of which only the contract is there.")
measured = at("measured", "A project whose baseline N-1 measured 0.8.")
branched = at("branched", "A project with a node N-2 of ticket T-1, which measured 0.9.")
promoted = at("promoted", "A project whose incumbent is N-2.")
undermined = at("undermined", "A project whose incumbent N-2 could not be reproduced by N-3.")


def branch(falsify, *words, ticket="T-1", changes=("--set", "hidden_width=32")):
    """Create a ticket, claim it and make it a node."""
    for command in (
        ["create", *(words or IDEA)],
        ["eligible", ticket],
        ["claim", ticket, "--reason", "it is first"],
        ["materialize", ticket, *changes],
    ):
        assert falsify("ticket", *command)[0] == 0


def commit(node, verdict="IMPROVED", action="PROMOTE"):
    rationale = ("--rationale", "It is better by far.")
    return ("decision", "commit", node, "--verdict", verdict, "--action", action, *rationale)


def queue(root, node_id):
    with Workspace.open(root, project="p1") as workspace:
        workbench = Workbench(workspace, "p1")
        workbench.append(lambda s: [*runs.queue_run(s.project, node_id, reason="x")], tool="t", actor="owner")


def freeze(root, run_id, value):
    """Let a queued run measure the value, leaving a metric and a log that says `ESC[31m`."""
    with Workspace.open(root, project="p1") as workspace:
        workbench = Workbench(workspace, "p1")
        workbench.append(lambda s: [*runs.start_run(s.project, run_id, worker="w")], tool="worker", actor="worker")

        def finish(sight):
            number = len(sight.project.evidence)
            left = (("metric", b'{"val_acc": %f}' % value), ("run_log", b"epoch 1\n\x1b[31mred\x1b[0m\n"))
            exhibits = tuple(
                exhibit(workspace.artifacts, f"EV-{number + place}", kind, content)
                for place, (kind, content) in enumerate(left, 1)
            )
            done = Finish(
                run_id=run_id,
                seconds=2.0,
                metrics={"val_acc": value, "val_loss": 1 - value},
                exhibits=exhibits,
                ended_at="2026-01-01T00:00:00Z",
            )
            return succeed_run(sight.project, sight.graph, done)

        workbench.append(finish, tool="worker", actor="worker")


def exhibit(artifacts, evidence_id, kind, content):
    stored = artifacts.put(content)
    media_type = {"metric": "application/json", "run_log": "text/plain"}[kind]
    return Exhibit(
        evidence_id=evidence_id,
        kind=kind,
        name=kind,
        media_type=media_type,
        sha256=stored.sha256,
        size=stored.size,
    )


def told(result):
    code, out, _ = result
    assert code == 0, result
    return json.loads(out)


def lines(result):
    """Return what was printed, where all fits into 100 columns and nothing controls the terminal."""
    code, out, _ = result
    assert code == 0, result
    assert [line for line in out.splitlines() if len(line) > 100] == []
    assert out.replace("\n", "").isprintable()
    return out.splitlines()


def revision(root):
    with Workspace.open(root, project="p1") as workspace:
        return workspace.log.head().position


# --- projects -------------------------------------------------------------------------------------------------

CONTRACT = """\
  metric   val_acc, maximize
  counts   from an effect of 0.01, above a noise floor of 0.02; a reproduction may differ by 0.02
  budget   6 runs, 600 s in all, 60 s each at most
  runs by  executor builtin, seed 0
  key                  may be                     baseline
  hidden_width         int in [1, 64]             8
  activation           tanh, relu, gelu, sigmoid  tanh
  optimizer            fixed                      adam
  learning_rate        fixed                      0.01
  l2                   fixed                      0
  batch_size           fixed                      32
  schedule             fixed                      constant
  warmup_fraction      fixed                      0
  dataset              fixed                      spirals
  points               fixed                      600
  noise                fixed                      0.2
  validation_fraction  fixed                      0.3
  epochs               fixed                      60
  hidden_layers        fixed                      2""".splitlines()


def test_a_project_is_created_with_its_whole_contract_and_told_how_to_go_on(falsify):
    assert lines(falsify("project", "create", "p1", *TERMS)) == [
        "project p1 is created, in mode COPILOT",
        "Contract  can be amended until the first run",
        *CONTRACT,
        "  next: `falsify --project p1 project baseline --wait`",
        '  FALSIFY_PROJECT=p1, or project = "p1" in falsify.toml, saves the option',
    ]


def test_a_project_is_created_from_a_file_and_options_overrule_it(falsify, tmp_path):
    file = tmp_path / "p.toml"
    file.write_text(f'id = "p1"\nobjective = "{OBJECTIVE}"\nseed = 3\nbudget_runs = 9\n[set]\nnoise = 0.5\n')
    falsify("project", "create", "--from", str(file), "--seed", "4", "--set", "points=100")
    contract = told(falsify("project", "show", "--json"))["result"]["contract"]
    assert (contract["seed"], contract["budget"]["runs"]) == (4, 9)
    assert (contract["base_config"]["noise"], contract["base_config"]["points"]) == (0.5, 100)


def test_a_project_takes_over_the_terms_of_its_parent(falsify, project):
    falsify("project", "create", "p2", "--parent", "p1", "--budget-runs", "50")
    first, second = (told(falsify("project", "show", name, "--json"))["result"] for name in ("p1", "p2"))
    assert second["objective"] == OBJECTIVE
    assert (second["mode"], second["parent_project_id"]) == ("MANUAL", "p1")
    assert second["contract"] == {**first["contract"], "budget": {**first["contract"]["budget"], "runs": 50}}


def test_where_a_project_stands_is_told_to_a_stranger(falsify, promoted):
    shown = lines(falsify("project", "show"))
    digest = shown[3].split()[-1]
    assert shown[:3] == [
        f"p1  {OBJECTIVE}",
        "mode MANUAL: agents ask before everything but decisions that promote nothing",
        "",
    ]
    assert shown[3:-5] == [
        f"Contract  frozen, {digest}",
        *CONTRACT,
        "",
        "Baseline   N-1  val_acc ● 0.8 (alive)",
        "Incumbent  N-2  val_acc ● 0.9 (alive), D-1 ● alive",
        "",
        "Budget",
        "  runs     ████████░░░░░░░░░░░░░░░░  2 of 6 used",
        "  seconds  █░░░░░░░░░░░░░░░░░░░░░░░  4 of 600 used",
        "Queue  1 COMPLETED",
        "",
        "Lately",
    ]
    assert [line[24:] for line in shown[-5:]] == [
        "owner  T-1 is completed: D-1: PROMOTE",
        "owner  D-1: PROMOTE N-2, IMPROVED; the incumbent is N-2",
        "worker  N-2 is frozen: val_acc 0.9",
        "worker  R-2 of N-2 succeeds after 2 s",
        "worker  2 pieces of evidence are attached to N-2: metric, run_log",
    ]


def test_an_incumbent_that_rests_on_refuted_evidence_is_warned_of_with_what_to_do(falsify, undermined):
    shown = lines(falsify("project", "show"))
    start = next(index for index, line in enumerate(shown) if line.startswith("Incumbent"))
    assert shown[start : start + 8] == [
        "Incumbent  N-2  val_acc ✗ 0.9 (refuted), D-1 · forgotten",
        "! the incumbent N-2 rests on evidence that is refuted",
        "  · D-1 is forgotten: it rests on R-2",
        "  ✗ R-2 is refuted: R-3 contradicts it: 0.8 against 0.9: a difference of 0.1, and the tolerance is",
        "    0.02",
        "  • see why: `falsify why D-1`",
        "  • go back to N-1, an earlier incumbent that stands: `falsify decision rollback`",
        "",
    ]


def test_projects_are_listed_in_a_line_each(falsify, promoted):
    falsify("project", "create", "p2", "--objective", "What else?", "--mode", "MANUAL")
    assert lines(falsify("project", "list")) == [
        "id  mode    incumbent  tickets  nodes  runs  objective",
        "p1  MANUAL  N-2 ● 0.9  1        2      2/6   Which settings classify the spirals…",
        "p2  MANUAL  none       0        0      0/20  What else?",
    ]
    assert [row["id"] for row in told(falsify("project", "list", "--json"))] == ["p1", "p2"]


def test_a_project_that_holds_beliefs_alone_is_named_beside_the_list(falsify, promoted):
    falsify("--project", "p3", "question", "Which way?")
    code, out, err = falsify("project", "list")
    assert (code, "p3" in out) == (0, False)
    assert err == "p3 holds beliefs, and no research: see `falsify --project p3 graph`\n"


def test_two_projects_do_not_differ_in_case_alone_because_their_folders_might_be_one(falsify, root, project):
    before = revision(root)
    code, _, err = falsify("project", "create", "P1", "--objective", "What else?")
    assert (code, revision(root)) == (errors.ConflictError.exit_code, before)
    assert err.splitlines() == [
        "Error: there is a project p1, and P1 differs from it in case alone",
        "  choose another id: on some systems their folders would be one",
    ]


def test_without_a_project_it_says_how_to_make_one(falsify):
    assert lines(falsify("project", "list")) == [
        "there is no project yet: `falsify project create ID --objective TEXT`"
    ]


def test_the_option_project_overrules_the_setting_wherever_it_stands(falsify, project):
    falsify("project", "create", "p2", "--objective", "What else?")
    assert told(falsify("--project", "p2", "project", "show", "--json"))["result"]["project_id"] == "p2"
    assert told(falsify("ticket", "list", "--project", "p2", "--json"))["status"] == "ok"
    assert told(falsify("project", "show", "--json"))["result"]["project_id"] == "p1"
    assert told(falsify("--project", "p2", "status", "--json"))["stream"] == "project:p2"


def test_a_contract_is_amended_until_the_first_run_and_not_after_it(falsify, root, project):
    amended = told(falsify("project", "amend", "--budget-runs", "9", "--json"))["result"]
    assert (amended["done"], amended["contract"]["budget"]["runs"]) == (["the contract is changed"], 9)
    assert lines(falsify("project", "amend", "--budget-runs", "9"))[0] == "nothing changed: it was so already"
    falsify("project", "baseline")
    code, _, err = falsify("project", "amend", "--budget-runs", "10")
    assert code == errors.RefusedError.exit_code
    assert "falsify project create NEW --parent p1" in err


def test_a_file_cannot_amend_what_is_no_part_of_the_contract(falsify, project, tmp_path):
    file = tmp_path / "p.toml"
    file.write_text('id = "p1"\nmode = "COPILOT"\nseed = 3\n')
    code, _, err = falsify("project", "amend", "--from", str(file))
    assert code == errors.InvalidInputError.exit_code
    assert "falsify project mode" in err
    file.write_text('id = "p1"\nmode = "MANUAL"\nseed = 3\n')
    assert told(falsify("project", "amend", "--from", str(file), "--json"))["result"]["contract"]["seed"] == 3


def test_the_mode_is_changed_with_what_that_opens(falsify, measured):
    assert lines(falsify("project", "mode", "COPILOT", "--reason", "trust")) == ["the mode is COPILOT; it was MANUAL"]
    assert lines(falsify("project", "mode", "COPILOT")) == ["nothing changed: it was so already"]


def test_the_baseline_is_registered_and_its_run_is_queued(falsify, project):
    code, out, err = falsify("project", "baseline")
    assert code == 0
    assert [line.partition(" (")[0] for line in out.splitlines()] == [
        "N-1 is created: the baseline",
        "the contract is frozen",
        "R-1 of N-1 is queued, for at most 60 s",
    ]
    assert "`falsify worker` executes it" in err
    code, _, err = falsify("project", "baseline")
    assert (code, "run it with `falsify run start N-1`" in err) == (errors.RefusedError.exit_code, True)


def test_the_baseline_can_be_registered_without_a_run_and_run_later(falsify, project):
    assert lines(falsify("project", "baseline", "--no-run")) == ["N-1 is created: the baseline"]
    answer = told(falsify("project", "baseline", "--json"))["result"]
    assert (answer["run_id"], answer["node"]["id"]) == ("R-1", "N-1")


SCRIPT = """\
import json, os
with open(os.environ["FALSIFY_METRICS"], "a") as metrics:
    metrics.write(json.dumps({"score": json.load(open(os.environ["FALSIFY_CONFIG"]))["rate"]}) + "\\n")
"""


@pytest.mark.parametrize("queued", [False, True], ids=["at once", "queued before"])
def test_the_baseline_is_waited_for_and_is_the_first_incumbent(falsify, root, queued):
    (root / "score.py").write_text(SCRIPT, encoding="utf-8")
    table = '[executor.mine]\nargv = ["{python}", "score.py"]\n[executor.mine.keys]\nrate = "float:(0,10]"\n'
    (root / "falsify.toml").write_text(table, encoding="utf-8")
    own = ("--executor", "mine", "--metric", "score", "--set", "rate=2.5", "--mode", "MANUAL")
    assert falsify("project", "create", "p1", "--objective", OBJECTIVE, *own)[0] == 0
    if queued:
        falsify("project", "baseline")
    run = told(falsify("project", "baseline", "--wait", "--json"))["result"]
    assert (run["id"], run["status"], run["metrics"]) == ("R-1", "SUCCEEDED", {"score": 2.5})
    assert told(falsify("project", "show", "--json"))["result"]["incumbent"]["value"] == 2.5


# --- tickets --------------------------------------------------------------------------------------------------


def test_a_ticket_goes_from_an_idea_to_a_node(falsify, measured):
    assert lines(falsify("ticket", "create", *IDEA)) == [
        "T-1  QUEUED  experiment: A wider layer",
        "! T-1 cannot be claimed yet: it waits until a person makes it eligible: `falsify ticket eligible",
        "  T-1`",
    ]
    assert lines(falsify("ticket", "eligible", "T-1")) == ["T-1 is eligible: owner said so"]
    assert lines(falsify("ticket", "claim", "T-1", "--reason", "it is first")) == [
        "T-1  CLAIMED by owner: A wider layer",
        "  next: `falsify ticket materialize T-1 --set KEY=VALUE`",
    ]
    assert lines(falsify("ticket", "materialize", "T-1", "--set", "hidden_width=32")) == [
        "N-2  READY  from N-1: hidden_width 32",
        "  next: `falsify run start N-2 --reason WHY --wait`",
    ]


@pytest.mark.parametrize(
    ("kind", "then"),
    [
        ("literature", "falsify ticket complete T-1 --reason TEXT"),
        ("analysis", "falsify ticket complete T-1 --reason TEXT"),
        ("reproduction", "falsify ticket materialize T-1"),
        ("ablation", "falsify ticket materialize T-1 --set KEY=VALUE"),
    ],
)
def test_who_claims_a_ticket_is_told_the_command_that_goes_on_with_it(falsify, measured, kind, then):
    falsify("ticket", "create", *IDEA, "--type", kind)
    falsify("ticket", "eligible", "T-1")
    assert f"  next: `{then}`" in lines(falsify("ticket", "claim", "T-1", "--reason", "it is first"))


def test_a_reproduction_is_shown_with_the_node_that_it_is_of(falsify, branched):
    falsify("ticket", "create", *AGAIN, "--title", "Reproduce N-2")
    shown = lines(falsify("ticket", "show", "T-2"))
    assert "  from         incumbent: N-2" in shown
    assert "  reproduces   N-2" in shown
    assert "  waits until  a person makes it eligible: `falsify ticket eligible T-2`" in shown


def test_all_of_a_ticket_is_shown(falsify, branched):
    history = [r["revision"] for r in told(falsify("ticket", "show", "T-1", "--json"))["history"]]
    assert lines(falsify("ticket", "show", "T-1")) == [
        "T-1  MATERIALIZED  A wider layer",
        "  type         experiment",
        "  hypothesis   A wider hidden layer helps.",
        "  instruction  Set hidden_width to 32.",
        "  by           owner (human), in round-1",
        "  from         incumbent: N-1",
        f"  rank         {rank(falsify, 'T-1'):g} points (priority 0)",
        "  claimed      owner: it is first",
        "  node         N-2",
        "  waits until  a decision about N-2 settles it",
        "  was          QUEUED at {}, ELIGIBLE at {}, CLAIMED at {}, MATERIALIZED at {}".format(*history),
    ]


def rank(falsify, ticket):
    return told(falsify("ticket", "show", ticket, "--json"))["rank_score"]


def test_the_queue_is_a_table_and_what_is_pinned_is_on_top(falsify, measured):
    falsify("ticket", "create", *IDEA)
    falsify("ticket", "create", *AGAIN)
    falsify("ticket", "priority", "T-1", "-9")
    falsify("ticket", "pin", "T-1")
    assert lines(falsify("ticket", "list")) == [
        "id   rank     status  type          source  held by/from  title",
        f"T-1  ^{rank(falsify, 'T-1'):g}  QUEUED  experiment    human   N-1           A wider layer",
        f"T-2  {rank(falsify, 'T-2'):g}     QUEUED  reproduction  human   N-1           Once more",
    ]
    assert lines(falsify("ticket", "unpin", "T-1")) == ["T-1 is not pinned any more"]
    assert lines(falsify("ticket", "list", "--limit", "1"))[1].startswith("T-2")


def test_a_listing_is_filtered_and_gone_on_with(falsify, measured):
    for _ in range(3):
        falsify("ticket", "create", *IDEA)
    falsify("ticket", "cancel", "T-2")
    page = told(falsify("ticket", "list", "--status", "QUEUED", "--sort", "created_at", "--limit", "1", "--json"))
    assert [row["id"] for row in page["result"]["tickets"]] == ["T-3"]
    cursor = page["result"]["nextCursor"]
    more = ["--status", "QUEUED", "--sort", "created_at", "--limit", "1", "--cursor", cursor]
    assert [row["id"] for row in told(falsify("ticket", "list", *more, "--json"))["result"]["tickets"]] == ["T-1"]
    assert lines(falsify("ticket", "list", "--status", "BLOCKED")) == ["there is no such ticket"]
    assert lines(falsify("ticket", "list", "--limit", "1"))[-1].startswith("more with --cursor ")


def test_a_person_moves_a_ticket_through_the_queue(falsify, measured):
    falsify("ticket", "create", *IDEA, "--draft")
    steps = [
        (["queue", "T-1"], "T-1 is queued"),
        (["block", "T-1", "--reason", "the data are wrong"], "T-1 is blocked: the data are wrong"),
        (["queue", "T-1"], "T-1 is queued"),
        (["priority", "T-1", "9"], "T-1 has the priority 9"),
        (["eligible", "T-1"], "T-1 is eligible: owner said so"),
        (["claim", "T-1", "--reason", "why not"], "T-1  CLAIMED by owner: A wider layer"),
        (["release", "T-1"], "T-1 is released: no reason was given"),
        (["complete", "T-1", "--reason", "read"], "T-1 is completed: read"),
    ]
    assert [lines(falsify("ticket", *words))[0] for words, _ in steps] == [says for _, says in steps]


def test_a_draft_is_not_in_the_queue(falsify, project):
    assert lines(falsify("ticket", "create", *IDEA, "--draft")) == ["T-1  DRAFT  experiment: A wider layer"]


def test_a_round_comes_from_a_file_all_or_none(falsify, root, measured, tmp_path):
    file = tmp_path / "round.toml"
    good = '[[ticket]]\ntitle = "Wide"\nhypothesis = "Wider is better."\ninstruction = "Set the width to 32."\n'
    file.write_text(good + good.replace("Wide", "Narrow") + 'type = "ablation"\nrequired_evidence = ["curve"]\n')
    answer = told(falsify("ticket", "create", "--from", str(file), "--json"))["result"]
    assert [(t["id"], t["type"], t["required_evidence"]) for t in answer["tickets"]] == [
        ("T-1", "experiment", []),
        ("T-2", "ablation", ["curve"]),
    ]
    before = revision(root)
    for bad, says in (
        (good + good.replace("Wider is better.", "Short"), "tickets[1].hypothesis must be a string of 10"),
        (good.replace("title", "titel"), "tickets[0].title is missing"),
        (good * 9, "tickets must be an array of 1 to 8 items"),
        ("", "round.toml: there is no [[ticket]] table"),
        ("titel = 1\n" + good, "round.toml: there is no key 'titel'"),
        ("[[ticket", "round.toml is no TOML"),
    ):
        file.write_text(bad)
        code, _, err = falsify("ticket", "create", "--from", str(file))
        assert (code, says in err) == (errors.InvalidInputError.exit_code, True), err
    assert revision(root) == before


def test_a_reproduction_needs_no_change_and_tells_what_it_measures_again(falsify, root, promoted):
    falsify("ticket", "create", *AGAIN)
    falsify("ticket", "eligible", "T-2")
    falsify("ticket", "claim", "T-2", "--reason", "to be sure")
    assert lines(falsify("ticket", "materialize", "T-2", "--draft")) == [
        "N-3  DRAFT  from N-2: reproduces N-2 with seed 1"
    ]


def test_a_person_materializes_keys_that_only_their_executor_knows(falsify, root):
    table = '[executor.mine]\nargv = ["true"]\n[executor.mine.keys]\nrate = "float:(0,10]"\n'
    (root / "falsify.toml").write_text(table, encoding="utf-8")
    own = ("--executor", "mine", "--metric", "val_acc", "--set", "rate=1")
    assert falsify("project", "create", "p1", "--objective", OBJECTIVE, *own, "--mode", "MANUAL")[0] == 0
    falsify("project", "baseline")
    freeze(root, "R-1", 0.5)
    branch(falsify, changes=("--set", "rate=2.5", "--strategy", "manual", "--summary", "a new loss"))
    assert told(falsify("node", "show", "N-2", "--json"))["config"] == {"rate": 2.5}
    assert lines(falsify("node", "implement", "N-2", "--reason", "the loss")) == [
        "the code of N-2 is being changed: the loss"
    ]
    assert lines(falsify("node", "ready", "N-2")) == ["N-2 is ready: no reason was given"]


# --- nodes ----------------------------------------------------------------------------------------------------


def test_nodes_are_a_table_from_the_baseline_on(falsify, undermined):
    assert lines(falsify("node", "list")) == [
        "id   from  status  measured  decision  verdict   what",
        "N-1        FROZEN  ● 0.8                         the baseline",
        "N-2  N-1   FROZEN  ✗ 0.9     promote   IMPROVED  hidden_width 32",
        "N-3  N-2   FROZEN  ● 0.8                         reproduces N-2, seed 1",
    ]
    assert [line[:3] for line in lines(falsify("node", "list", "--root", "N-2", "--depth", "1"))[1:]] == ["N-2", "N-3"]
    assert lines(falsify("node", "list", "--status", "RUNNING")) == ["there is no such node"]


def test_all_of_a_node_is_shown(falsify, promoted):
    shown = lines(falsify("node", "show", "N-2"))
    evidence = told(falsify("node", "show", "N-2", "--json"))["evidence"]
    assert shown[:8] == [
        "N-2  FROZEN  incumbent",
        "  val_acc    ● 0.9 (alive)",
        "  beside it  val_loss 0.1",
        "  from       N-1",
        "  ticket     T-1",
        "  changes    hidden_width 32",
        "  config     hidden_width 32, activation tanh, optimizer adam, learning_rate 0.01, l2 0, batch_size",
        "             32, schedule constant, warmup_fraction 0, dataset spirals, points 600, noise 0.2,",
    ]
    assert shown[-6:] == [
        "  decision   D-1 PROMOTE, IMPROVED",
        shown[-5],
        "  R-2  SUCCEEDED  2 of at most 60 s",
        "  id    kind     name     type              size  from  sha256",
        f"  EV-3  metric   metric   application/json  21 B  R-2   {evidence[0]['sha256'][:12]}",
        f"  EV-4  run_log  run_log  text/plain        21 B  R-2   {evidence[1]['sha256'][:12]}",
    ]


def test_two_nodes_are_held_against_each_other(falsify, branched):
    assert lines(falsify("node", "compare", "N-2")) == [
        "N-2 against N-1",
        "                N-2  N-1  difference",
        "  val_acc       0.9  0.8  +0.1",
        "  hidden_width  32   8",
        "  measured  N-2 alive",
        "  against   N-1 alive",
        "  effect    clears the minimum effect of 0.01",
        "  noise     clears the noise floor of 0.02",
        "  the numbers say IMPROVED: the difference is in the wanted direction",
    ]
    assert lines(falsify("node", "compare", "N-1", "N-2"))[2] == "  val_acc       0.8  0.9  -0.1"
    assert lines(falsify("node", "compare", "N-2", "--against", "parent", "--metric", "val_loss"))[-1] == (
        "  no verdict: the contract's thresholds and direction are those of the primary metric"
    )


def test_a_node_is_blocked_and_let_run_again(falsify, measured):
    branch(falsify)
    assert lines(falsify("node", "block", "N-2", "--reason", "not yet")) == ["N-2 is blocked: not yet"]
    assert lines(falsify("node", "ready", "N-2", "--reason", "now")) == ["N-2 is ready: now"]


# --- decisions ------------------------------------------------------------------------------------------------


def test_a_promotion_moves_the_incumbent_and_is_listed(falsify, branched):
    assert lines(falsify(*commit("N-2"))) == [
        "● D-1  promote N-2, IMPROVED",
        "  ● the incumbent is N-2; it was N-1",
        "  T-1 is completed",
    ]
    assert lines(falsify("decision", "list")) == [
        "id     node  action   verdict   measured         by     rationale",
        "● D-1  N-2   promote  IMPROVED  0.9 against 0.8  owner  It is better by far.",
    ]


def test_all_of_a_decision_is_shown_with_what_killed_it(falsify, undermined):
    assert lines(falsify("decision", "show", "D-1")) == [
        "· D-1  promote N-2, IMPROVED",
        "  state      forgotten",
        "  val_acc    0.9 against 0.8 of N-1; the numbers say IMPROVED",
        "  rationale  It is better by far.",
        "  rests on   EV-3",
        "  by         owner",
        "  incumbent  it was N-1",
        "  · D-1 is forgotten: it rests on R-2",
        "  ✗ R-2 is refuted: R-3 contradicts it: 0.8 against 0.9: a difference of 0.1, and the tolerance is",
        "    0.02",
        "  the whole chain: `falsify why D-1`",
    ]
    assert "R-3" in falsify("why", "D-1")[1]


def test_rolling_back_promotes_the_last_incumbent_that_stands(falsify, undermined):
    assert lines(falsify("decision", "rollback", "--reason", "N-2 does not hold")) == [
        "D-2: PROMOTE N-1, INCONCLUSIVE; the incumbent is N-1"
    ]
    decision = told(falsify("decision", "show", "D-2", "--json"))
    assert (decision["rationale"], decision["state"], decision["previous_incumbent"]) == (
        "N-2 does not hold",
        "alive",
        "N-2",
    )
    assert told(falsify("project", "show", "--json"))["result"]["incumbent"]["losses"] == []


def test_there_is_nothing_to_roll_back_to_before_a_promotion(falsify, branched):
    code, _, err = falsify("decision", "rollback")
    assert code == errors.RefusedError.exit_code
    assert "p1 has no earlier incumbent whose measurement stands" in err


def test_a_decision_rests_on_what_it_cites(falsify, branched):
    falsify(*commit("N-2"), "--cite", "EV-3", "--cite", "EV-4")
    assert told(falsify("decision", "show", "D-1", "--json"))["evidence_refs"] == ["EV-3", "EV-4"]


# --- evidence -------------------------------------------------------------------------------------------------


def test_a_person_attaches_what_they_worked_out(falsify, root, branched, tmp_path):
    file = tmp_path / "notes.md"
    file.write_text("# The spirals\n\x1b[31mred\x1b[0m herring\n", encoding="utf-8")
    attach = ("evidence", "attach", "N-2", str(file), "--kind", "analysis")
    assert lines(falsify(*attach)) == ["a piece of evidence is attached to N-2: analysis"]
    assert lines(falsify(*attach)) == ["nothing changed: it was so already"]
    row = told(falsify("evidence", "list", "N-2", "--kind", "analysis", "--json"))["result"]["evidence"]
    assert [(e["id"], e["kind"], e["name"], e["run_id"], e["intact"]) for e in row] == [
        ("EV-5", "analysis", "notes.md", None, True)
    ]
    shown = lines(falsify("evidence", "show", "EV-5", "--out", str(tmp_path / "copy.md")))
    assert shown == []
    assert (tmp_path / "copy.md").read_bytes() == file.read_bytes()
    sha256 = row[0]["sha256"]
    path = ArtifactStore(root / ".falsify" / "artifacts").path(sha256)
    assert falsify("evidence", "show", "EV-5")[1].splitlines() == [
        "EV-5  analysis  notes.md",
        "  node    N-2",
        "  from    a person",
        "  type    text/markdown",
        f"  size    {file.stat().st_size} bytes",
        f"  sha256  {sha256}",
        f"  file    {path}",
        "",
        "# The spirals",
        "red herring",
    ]


def test_evidence_is_a_table_with_previews_that_control_no_terminal(falsify, branched):
    shown = lines(falsify("evidence", "list", "N-2", "--preview"))
    assert [line.split()[:2] for line in shown[:3]] == [["id", "kind"], ["EV-3", "metric"], ["EV-4", "run_log"]]
    assert "red" in shown
    assert not any("\x1b" in line for line in shown)


def test_a_file_that_was_changed_is_reported_and_never_shown(falsify, root, branched, tmp_path):
    stored = told(falsify("node", "show", "N-2", "--json"))["evidence"][1]
    path = ArtifactStore(root / ".falsify" / "artifacts").path(stored["sha256"])
    path.chmod(0o600)
    path.write_bytes(b"x" * stored["size"])
    code, out, _ = falsify("evidence", "show", "EV-4")
    assert code == errors.DamagedError.exit_code
    assert "is not what was stored" in out
    assert "xxx" not in out
    assert falsify("evidence", "show", "EV-4", "--out", str(tmp_path / "out"))[0] == errors.DamagedError.exit_code
    assert not (tmp_path / "out").exists()
    shutil.rmtree(path.parent)
    assert "is missing" in json.loads(falsify("evidence", "show", "EV-4", "--json")[1])["fault"]


# --- how commands are sent ------------------------------------------------------------------------------------

WRITES = [
    ["project", "create", "p2", *TERMS],
    ["project", "amend", "--budget-runs", "9"],
    ["project", "mode", "COPILOT"],
    ["project", "baseline"],
    ["project", "baseline", "--no-run"],
    ["ticket", "create", *IDEA],
    ["ticket", "create", *IDEA, "--draft"],
    ["ticket", "cancel", "T-1"],
    ["ticket", "pin", "T-1"],
    ["ticket", "block", "T-1"],
]


@pytest.mark.parametrize("words", WRITES, ids=lambda words: " ".join(words[:2]))
def test_a_dry_run_says_what_would_follow_and_writes_nothing(falsify, root, project, words):
    falsify("ticket", "create", *IDEA)
    before = revision(root)
    assert lines(falsify(*words, "--dry-run"))[0] == "Dry run: nothing was appended. This would follow:"
    assert revision(root) == before
    envelope = told(falsify(*words, "--dry-run", "--json"))
    assert (envelope["status"], revision(root)) == ("ok", before)


def test_a_dry_run_of_attaching_stores_no_file(falsify, root, branched, tmp_path):
    (tmp_path / "a.txt").write_text("a")
    before = sorted((root / ".falsify" / "artifacts").rglob("*"))
    falsify("evidence", "attach", "N-2", str(tmp_path / "a.txt"), "--kind", "literature", "--dry-run")
    assert sorted((root / ".falsify" / "artifacts").rglob("*")) == before


@pytest.mark.parametrize("words", WRITES, ids=lambda words: " ".join(words[:2]))
def test_the_same_key_and_words_are_answered_with_the_same_bytes(falsify, root, project, words):
    falsify("ticket", "create", *IDEA)
    first = falsify(*words, "--key", "k", "--json")
    assert first[0] == 0
    position = revision(root)
    again = falsify(*words, "--key", "k", "--json")
    assert (again[:2], revision(root)) == (first[:2], position)


def test_the_same_key_with_other_words_is_a_conflict(falsify, project):
    falsify("ticket", "create", *IDEA, "--key", "k")
    code, out, _ = falsify("ticket", "create", *AGAIN, "--key", "k", "--json")
    assert (code, json.loads(out)["status"]) == (errors.ConflictError.exit_code, "conflict")


# --- agents ---------------------------------------------------------------------------------------------------


def test_an_agents_claim_waits_for_a_person_who_approves_it(falsify, measured):
    falsify("ticket", "create", *IDEA)
    falsify("ticket", "eligible", "T-1")
    code, out, _ = falsify("ticket", "claim", "T-1", "--reason", "it is first", "--json", actor=AGENT)
    envelope = json.loads(out)
    assert (code, envelope["status"]) == (5, "approval_required")
    approval = envelope["approval"]["id"]
    code, out, _ = falsify("ticket", "claim", "T-1", "--reason", "it is first", actor=AGENT)
    assert (code, out.splitlines()) == (
        5,
        [
            f"{approval}  falsify.ticket.claim waits for a person; nothing was done yet",
            f"  • T-1 is claimed by {AGENT}: it is first",
            f"  a person decides: `falsify approvals approve {approval}`, or reject",
        ],
    )
    assert falsify("approvals", "approve", approval)[0] == 0
    assert told(falsify("ticket", "show", "T-1", "--json"))["claimed_by"] == AGENT


def test_an_agent_works_by_itself_as_far_as_the_mode_lets_it(falsify, root, measured):
    falsify("project", "mode", "COPILOT")
    created = told(falsify("ticket", "create", *IDEA, "--json", actor=AGENT))["result"]["tickets"]
    assert [(t["source"], t["status"]) for t in created] == [("agent", "ELIGIBLE")]
    assert falsify("ticket", "claim", "T-1", "--reason", "mine", actor=AGENT)[0] == 0
    made = told(falsify("ticket", "materialize", "T-1", "--set", "hidden_width=32", "--json", actor=AGENT))["result"]
    assert (made["node"]["id"], made["node"]["config_mutation"]) == ("N-2", {"hidden_width": 32})
    queue(root, "N-2")
    freeze(root, "R-2", 0.9)
    assert falsify(*commit("N-2"), actor=AGENT)[0] == 5


FOR_PEOPLE = [
    ["project", "create", "p2", *TERMS],
    ["project", "amend", "--budget-runs", "9"],
    ["project", "mode", "AUTORESEARCH"],
    ["project", "baseline"],
    ["ticket", "create", *IDEA, "--draft"],
    ["ticket", "queue", "T-1"],
    ["ticket", "eligible", "T-1"],
    ["ticket", "pin", "T-1"],
    ["ticket", "unpin", "T-1"],
    ["ticket", "priority", "T-1", "1"],
    ["ticket", "block", "T-1"],
    ["ticket", "cancel", "T-1"],
    ["ticket", "complete", "T-1"],
    ["ticket", "materialize", "T-1", "--draft"],
    ["node", "ready", "N-1"],
    ["node", "block", "N-1"],
    ["node", "implement", "N-1"],
    ["decision", "rollback"],
    ["evidence", "attach", "N-1", __file__, "--kind", "analysis"],
]


@pytest.mark.parametrize("words", FOR_PEOPLE, ids=lambda words: " ".join(words[:2]))
def test_what_is_for_people_is_refused_to_an_agent(falsify, root, project, words):
    falsify("ticket", "create", *IDEA)
    before = revision(root)
    code, out, _ = falsify(*words, "--json", actor=AGENT)
    envelope = json.loads(out)
    assert (code, envelope["status"], envelope["result"]["error"]["reason"]) == (
        errors.ForbiddenError.exit_code,
        "forbidden",
        "people_only",
    )
    assert revision(root) == before


def test_an_agent_may_release_only_its_own_claim(falsify, measured):
    falsify("ticket", "create", *IDEA)
    falsify("ticket", "eligible", "T-1")
    falsify("ticket", "claim", "T-1", "--reason", "mine")
    assert falsify("ticket", "release", "T-1", actor=AGENT)[0] == errors.ForbiddenError.exit_code


# --- refusals -------------------------------------------------------------------------------------------------

MISSING = "/nowhere/at/all.toml"
BAD = [
    (["project", "create"], errors.InvalidInputError, "the project needs an ID"),
    (["project", "create", "p9"], errors.InvalidInputError, "--objective TEXT"),
    (["project", "create", "a b", *TERMS], errors.InvalidInputError, "cannot be the id of a project"),
    (["project", "create", "p1", *TERMS], errors.ConflictError, "there is a project p1 already"),
    (["project", "create", "p9", *TERMS, "--parent", "p8"], errors.NotFoundError, "there is no project p8"),
    (["project", "create", "p9", *TERMS, "--executor", "x"], errors.NotFoundError, "there is no executor 'x'"),
    (["project", "create", "p9", *TERMS, "--set", "x"], errors.InvalidInputError, "--set x: it sets nothing"),
    (["project", "create", "p9", "--from", MISSING], errors.NotFoundError, "cannot be read"),
    (["project", "create", "p9", *TERMS, "--mode", "FAST"], errors.InvalidInputError, "is not one of"),
    (["project", "show", "p9"], errors.NotFoundError, "falsify project list"),
    (["--project", "p9", "project", "show"], errors.NotFoundError, "there is no project p9"),
    (["--project", "a b", "project", "show"], errors.InvalidInputError, "cannot be the id of a project"),
    (["project", "amend", "--set", "noise=0.9"], errors.RefusedError, "the contract of p1 froze"),
    (["project", "baseline"], errors.RefusedError, "p1 has the baseline N-1"),
    (["project", "baseline", "--wait", "--no-run"], errors.InvalidInputError, "exclude each other"),
    (["project", "mode", "MANUAL", "--reason", "a\x07b"], errors.InvalidInputError, "U+0007"),
    (["ticket", "create", "--title", "Wide"], errors.InvalidInputError, "hypothesis is missing"),
    (["ticket", "create", *IDEA, "--from", MISSING], errors.InvalidInputError, "--from takes everything"),
    (["ticket", "create", *IDEA, "--require", "photo"], errors.InvalidInputError, "'photo' is no kind of evidence"),
    (["ticket", "list", "--cursor", "x"], errors.InvalidInputError, "cursor"),
    (["ticket", "show", "T-9"], errors.NotFoundError, "there is no ticket 'T-9'"),
    (["ticket", "queue", "T-1"], errors.RefusedError, "cannot become QUEUED"),
    (["ticket", "eligible", "T-9"], errors.NotFoundError, "there is no ticket"),
    (["ticket", "priority", "T-1", "10"], errors.InvalidInputError, "between -9 and 9"),
    (["ticket", "claim", "T-1", "--reason", "x"], errors.RefusedError, "T-1 is MATERIALIZED"),
    (["ticket", "claim", "T-1"], errors.InvalidInputError, "Missing option '--reason'"),
    (["ticket", "release", "T-1"], errors.RefusedError, "only a CLAIMED ticket"),
    (["ticket", "materialize", "T-1", "--set", "hidden_width=9"], errors.RefusedError, "only a CLAIMED ticket"),
    (["ticket", "materialize", "T-1", "--set", "hidden_width"], errors.InvalidInputError, "it sets nothing"),
    (["ticket", "cancel", "T-1", "--reason", ""], errors.InvalidInputError, "the reason is empty"),
    (["node", "show", "N-9"], errors.NotFoundError, "there is no node 'N-9'"),
    (["node", "list", "--root", "N-9"], errors.NotFoundError, "there is no node"),
    (["node", "compare", "N-2", "N-1", "--against", "parent"], errors.InvalidInputError, "give one of them"),
    (["node", "compare", "N-2", "--metric", "f1"], errors.InvalidInputError, "it reported val_acc"),
    (["node", "ready", "N-2"], errors.RefusedError, "FROZEN is final"),
    (["node", "implement", "N-1"], errors.RefusedError, "FROZEN is final"),
    (["decision", "show", "D-9"], errors.NotFoundError, "there is no decision"),
    (list(commit("N-2", "NEUTRAL", "DISCARD")), errors.RefusedError, "the numbers say IMPROVED, not NEUTRAL"),
    ([*commit("N-2"), "--cite", "EV-1"], errors.RefusedError, "EV-1 is evidence of N-1"),
    ([*commit("N-2"), "--cite", "EV-9"], errors.NotFoundError, "there is no evidence"),
    (["decision", "commit", "N-2", "--verdict", "IMPROVED"], errors.InvalidInputError, "Missing option"),
    (["decision", "rollback"], errors.RefusedError, "no earlier incumbent"),
    (["evidence", "list", "N-9"], errors.NotFoundError, "there is no node"),
    (["evidence", "list", "N-2", "--run", "R-1"], errors.InvalidInputError, "R-1 is a run of N-1"),
    (["evidence", "show", "EV-9"], errors.NotFoundError, "there is no evidence 'EV-9'"),
    (["evidence", "show", "EV-1", "--out", __file__], errors.InvalidInputError, "cannot be written"),
    (["evidence", "attach", "N-2", __file__, "--kind", "metric"], errors.RefusedError, "comes from runs"),
    (["evidence", "attach", "N-9", __file__, "--kind", "analysis"], errors.NotFoundError, "there is no node"),
    (["evidence", "attach", "N-2", MISSING, "--kind", "analysis"], errors.NotFoundError, "cannot be read"),
    (["evidence", "attach", "N-2", __file__, "--kind", "analysis", "--name", "a\nb"], errors.InvalidInputError, "name"),
    (["evidence", "attach", "N-2", "/dev/null", "--kind", "analysis"], errors.InvalidInputError, "has 0 bytes"),
]  # fmt: skip


@pytest.mark.parametrize(("words", "error", "says"), BAD, ids=lambda value: str(value)[:60])
def test_what_cannot_be_gets_one_clear_message_and_writes_nothing(falsify, root, branched, words, error, says):
    before = revision(root)
    code, out, err = falsify(*words)
    assert (code, out) == (error.exit_code, ""), err
    assert says in err
    assert "Traceback" not in err
    code, out, _ = falsify(*words, "--json")
    answer = json.loads(out)
    told_error = answer["result"]["error"] if "result" in answer else answer["error"]
    assert (code, answer["ok"], answer["status"]) == (error.exit_code, False, error.status)
    assert says in told_error["message"] + told_error["hint"]
    assert revision(root) == before


@pytest.mark.parametrize("key", [["dataset=moons"], ["hidden_width=65"], ["hidden_width=8"]], ids=str)
def test_a_mutation_outside_the_contract_is_refused_each_for_its_own_reason(falsify, measured, key):
    falsify("ticket", "create", *IDEA)
    falsify("ticket", "eligible", "T-1")
    falsify("ticket", "claim", "T-1", "--reason", "x")
    reasons = {
        "dataset=moons": "key_not_mutable",
        "hidden_width=65": "out_of_range",
        "hidden_width=8": "no_op_mutation",
    }
    code, out, _ = falsify("ticket", "materialize", "T-1", "--set", *key, "--json")
    assert (code, json.loads(out)["result"]["error"]["reason"]) == (errors.RefusedError.exit_code, reasons[key[0]])


def test_a_file_that_is_too_large_is_not_evidence(falsify, branched, tmp_path):
    file = tmp_path / "large.bin"
    with file.open("wb") as out:
        out.truncate(10 * 1024 * 1024 + 1)
    code, _, err = falsify("evidence", "attach", "N-2", str(file), "--kind", "analysis")
    assert code == errors.InvalidInputError.exit_code
    assert "at most 10,485,760" in err


def test_what_agents_write_controls_no_terminal(falsify, measured):
    falsify("project", "mode", "COPILOT")
    words = (
        "--title",
        "x" * 110,
        "--hypothesis",
        "A wider\u202e layer <<< helps.",
        "--instruction",
        "Set\tit\nso it is.",
    )
    assert falsify("ticket", "create", *words, actor=AGENT)[0] == 0
    for command in (["ticket", "list"], ["ticket", "show", "T-1"], ["project", "show"]):
        assert "\u202e" not in "".join(lines(falsify(*command)))


READS = [
    ["project", "list"], ["project", "show"], ["ticket", "list"], ["ticket", "show", "T-1"], ["node", "list"],
    ["node", "show", "N-2"], ["node", "compare", "N-2"], ["decision", "list"], ["decision", "show", "D-1"],
    ["evidence", "list", "N-2"], ["evidence", "show", "EV-3"],
]  # fmt: skip


@pytest.mark.parametrize("words", READS, ids=" ".join)
def test_every_reading_command_prints_one_json_document_and_writes_nothing(falsify, root, undermined, words):
    before = revision(root)
    told(falsify(*words, "--json"))
    assert falsify(*words)[1].strip()
    assert revision(root) == before


def test_the_help_of_a_contract_tells_the_defaults_that_hold():
    told_ = {name.removeprefix("--").replace("-", "_"): default for name, _, _, default in TERMS_OF_HELP}
    known = {"metric": TRAINER_METRIC, **DEFAULTS, "required_evidence": "none"}
    assert {name: told_[name] for name in known} == {
        name: f"{value:g}" if isinstance(value, float) else str(value) for name, value in known.items()
    }
    assert told_.keys() - known.keys() == {"noise_floor", "tolerance", "mutable", "set"}


def test_every_command_of_research_says_what_it_does(falsify):
    for group in ("project", "ticket", "node", "decision", "evidence"):
        code, out, _ = falsify(group, "--help")
        assert (code, "Commands:" in out) == (0, True)
    out = falsify("project", "create", "--help")[1]
    assert 'mutable = ["hidden_width=int:[4,64]", "learning_rate"]' in out


# --- taking it along, and checking it -------------------------------------------------------------------------


def test_an_import_says_how_many_files_of_evidence_stayed_behind_until_they_are_copied(
    falsify, root, promoted, tmp_path
):
    export, other = tmp_path / "log.jsonl", tmp_path / "other"
    falsify("export", str(export))
    files = len({each["sha256"] for n in ("N-1", "N-2") for each in evidence_of(falsify, n)})
    assert cli.run(["init", str(other)]) == 0
    assert told(falsify("-w", str(other), "import", str(export), "--json"))["missing_files"] == files
    code, out, _ = falsify("-w", str(other), "verify", "--json")
    assert (code, [part["check"] for part in json.loads(out) if part["faults"]]) == (1, ["artifacts"])
    shutil.copytree(root / ".falsify" / "artifacts", other / ".falsify" / "artifacts")
    assert falsify("-w", str(other), "verify")[0] == 0


def evidence_of(falsify, node_id):
    return told(falsify("evidence", "list", node_id, "--json"))["result"]["evidence"]


def full_disk(*_arguments, **_options):
    """Yield something, and then fail as a full disk does."""
    yield b"{}"
    raise OSError(errno.ENOSPC, "No space left on device")


def test_an_export_that_does_not_fit_leaves_no_half_of_it(falsify, project, tmp_path, monkeypatch):
    monkeypatch.setattr("falsify.transfer.export_log", full_disk)
    file = tmp_path / "log.jsonl"
    code, _, err = falsify("export", str(file))
    assert (code, err) == (
        errors.UnavailableError.exit_code,
        f"Error: {file} cannot be written: No space left on device\n  name another file\n",
    )
    assert not file.exists()


def test_a_file_that_cannot_be_opened_is_left_as_it_is(falsify, project, tmp_path):
    folder = tmp_path / "taken"
    folder.mkdir()
    code, _, err = falsify("export", str(folder))
    assert (code, folder.is_dir(), "cannot be written" in err) == (errors.UnavailableError.exit_code, True, True)


def test_what_is_written_in_part_is_gone_again(tmp_path):
    file = tmp_path / "evidence"
    with pytest.raises(OSError, match="No space left"), whole_file(file, "xb") as out:
        out.writelines(full_disk())
    assert not file.exists()


def test_checking_says_which_projects_it_did_not_look_at(falsify, measured):
    assert falsify("verify")[2] == ""
    falsify("--project", "p2", "question", "What else?")
    assert falsify("verify")[2] == "not looked at: the projects p2; `falsify --project ID verify` checks one\n"
    assert falsify("verify", "--json")[2] == ""


@pytest.mark.parametrize(
    ("name", "shown"), [("e\n", r"'e\n'"), ("p\x1b[2J", r"'p\x1b[2J'"), ("é" * 64, "é" * 64), ("../p1", "../p1")]
)
def test_what_is_no_project_is_named_in_full_and_controls_no_terminal(falsify, project, name, shown):
    code, out, _ = falsify("call", "falsify.project.get_state", json.dumps({"project_id": name}))
    assert code == errors.NotFoundError.exit_code
    assert json.loads(out)["result"]["error"]["message"] == f"there is no project {shown}"
