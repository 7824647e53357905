"""The sample organisation: two years of the pages of a maker of sensors, as commits, ready to be imported.

The pages as they were first written lie in `pages/`, what happened to them is told in `history.yaml`.
"""

from surfaces.stories.sample_org.history import Commit, commits
from surfaces.stories.sample_org.writing import build_folder, build_repository

__all__ = ["Commit", "build_folder", "build_repository", "commits"]
