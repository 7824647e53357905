"""500 public argumentation frameworks, told as investigations: what lives is the grounded extension.

Arguments are evidence, and an attack is a person's `contradicts`.
"""

import random

import pytest

from tests import oracle
from tests.driver import InMemory
from tests.public_data import frameworks, needs_public_data

pytestmark = needs_public_data

SAMPLE = 80


@pytest.fixture(scope="module")
def all_frameworks():
    return list(frameworks())


def open_investigation(question):
    """Return something to drive; what a workspace offers can take its place here."""
    return InMemory(question)


def test_every_framework_ingested_at_once_is_labelled_with_its_grounded_extension(all_frameworks):
    assert len(all_frameworks) == 500
    for framework in all_frameworks:
        beliefs = open_investigation(f"What is accepted in {framework.name}?")
        beliefs.ingest(evidence=_entries(framework, framework.attacks))
        assert beliefs.states() == oracle.grounded(framework.arguments, framework.attacks), framework.name


def test_attacks_that_arrive_one_by_one_in_any_order_end_in_the_same_states(all_frameworks):
    order = random.Random(7)
    small = [f for f in all_frameworks if len(f.attacks) <= 250]
    for framework in order.sample(small, SAMPLE):
        beliefs = open_investigation(f"What is accepted in {framework.name}?")
        beliefs.ingest(evidence=_entries(framework, ()))
        for attacker, target in order.sample(framework.attacks, len(framework.attacks)):
            beliefs.rule(attacker, target)
        assert beliefs.states() == oracle.grounded(framework.arguments, framework.attacks), framework.name


def test_at_every_step_on_the_way_the_states_are_the_grounded_extension_so_far(all_frameworks):
    order = random.Random(11)
    small = [f for f in all_frameworks if 20 <= len(f.attacks) <= 80]
    for framework in order.sample(small, 5):
        beliefs = open_investigation(f"What is accepted in {framework.name}?")
        beliefs.ingest(evidence=_entries(framework, ()))
        arrived = []
        for attack in order.sample(framework.attacks, len(framework.attacks)):
            arrived.append(attack)
            beliefs.rule(*attack)
            assert beliefs.states() == oracle.grounded(framework.arguments, arrived), (framework.name, arrived)


def test_attacks_taken_back_one_by_one_leave_every_argument_alive(all_frameworks):
    order = random.Random(13)
    small = [f for f in all_frameworks if 20 <= len(f.attacks) <= 120]
    for framework in order.sample(small, 5):
        beliefs = open_investigation(f"What is accepted in {framework.name}?")
        beliefs.ingest(evidence=_entries(framework, framework.attacks))
        left = list(framework.attacks)
        order.shuffle(left)
        while left:
            beliefs.rule(*left.pop(), relation="unrelated")
            assert beliefs.states() == oracle.grounded(framework.arguments, left), (framework.name, left)
        assert set(beliefs.states().values()) == {"alive"}


def _entries(framework, attacks):
    targets = {argument: [] for argument in framework.arguments}
    for attacker, target in attacks:
        targets[attacker].append({"evidence": target})
    return [
        {"id": argument, "claim": f"{argument} of {framework.name} holds", "contradicts": contradicts}
        for argument, contradicts in targets.items()
    ]
