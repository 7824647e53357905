"""The sample organisation as a brain on disk, recorded version by version as an import of its history records it."""

from pathlib import Path

from falsify.brain.events import OrgAccepted, PageRecorded, PageRemoved
from falsify.brain.org_file import BEGINS, PATH, WHAT, OrgFile, org_in
from falsify.clock import SteppingClock
from falsify.located_yaml import parse
from surfaces.pages.git_history import moment
from surfaces.stories.sample_org import commits
from tests.search_world import World

LAST_DAY = 1_796_040_000_000_000  # 2026-11-30T12:00:00Z


def sample(root: Path, *, only=None, **options) -> World:
    """Return the sample organisation, whole or with `only` some pages; the grants are those of its last org map."""
    world = World(root, org=None, **options)
    world.workspace.clock = SteppingClock(LAST_DAY, 0)
    events = []
    for commit in commits():
        told = {
            "known_at": moment(commit.date.timestamp()),
            "author": f"{commit.author} <{commit.email}>",
            "commit": f"{len(events):040x}",
        }
        for path in sorted(commit.changed - {PATH}):
            if only is not None and path not in only:
                continue
            text = commit.files.get(path)
            if text is None:
                events.append(PageRemoved(rel_path=path, **told))
            else:
                events.append(PageRecorded(rel_path=path, text=text, message=commit.message, **told))
        last = commit
    org = org_in(parse(PATH, last.files[PATH], OrgFile, what=WHAT, begins=BEGINS).value)
    world.append(OrgAccepted(org=org.as_json(), source=PATH), *events)
    return world
