"""What one call sees of the brain: its scope, the pages that this leaves, and where links lead among those."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from falsify.brain.links import resolve
from falsify.brain.org import Org, Person
from falsify.brain.page import Page
from falsify.brain.scope import Scope
from projections.pages import PageView
from projections.search.view import Admission
from surfaces.brain import Brain


@dataclass(frozen=True)
class Sight:
    """What one call sees of the brain."""

    brain: Brain
    scope: Scope
    view: PageView

    @cached_property
    def seen(self) -> Mapping[str, Page]:
        """The pages that may be served, by path."""
        return {path: page for path, page in self.view.pages.items() if self.scope.sees(page)}

    @property
    def org(self) -> Org:
        return self.brain.library.org

    @property
    def admission(self) -> Admission:
        """What a search of this call is narrowed to."""
        return Admission(scope=self.scope, day=self.brain.today)

    def resolve(self, target: str, source: str) -> str | None:
        """Return the page that a link leads to; one that may not be served is not there."""
        return resolve(target, self.view.links, source=source, sees=self.seen.__contains__)

    def updated(self, page: Page) -> str:
        """Return when a page was last changed, as it says itself or else as it is recorded."""
        return page.updated or self.view.versions[page.rel_path].known_at[:10]

    def holds(self, page: Page) -> bool:
        """Return whether a page has not expired."""
        return not (page.expires and page.expires < self.brain.today)

    def people(self) -> list[Person]:
        """Return the people who may be seen, each with the departments that may be."""
        narrowed = (
            replace(p, departments=tuple(d for d in p.departments if self.scope.sees_department(d)))
            for p in self.org.people
        )
        return [person for person in narrowed if person.departments or self.scope.everything]


def sight(brain: Brain, caller: str, on_behalf_of: str) -> Sight:
    """Return what a call sees."""
    return Sight(brain, brain.scope(caller, on_behalf_of), brain.pages())
