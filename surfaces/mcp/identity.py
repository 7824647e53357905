"""Who calls: an identity, and the projects that it may know of."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls. `projects` are those that exist for them; None is every project."""

    identity: str
    projects: frozenset[str] | None = None

    def admits(self, project: object) -> bool:
        """Return whether the project may be known of, if there is one of that name."""
        return self.projects is None or (isinstance(project, str) and project in self.projects)
