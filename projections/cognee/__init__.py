"""Cognee as a mirror of what is believed: Falsify's log decides, Cognee shows it.

Nothing here imports Cognee (4 to 12 seconds) before it is needed.
"""

from projections.cognee.asking import Recalled
from projections.cognee.changes import touched
from projections.cognee.mirror import Mirror
from projections.cognee.state import MirrorNode, MirrorRow, MirrorState, cognee_id, differences, row_id, snapshot

__all__ = [
    "Mirror",
    "MirrorNode",
    "MirrorRow",
    "MirrorState",
    "Recalled",
    "cognee_id",
    "differences",
    "row_id",
    "snapshot",
    "touched",
]
