"""Pictures of memories: pure drawing, the same from the same. `draw` makes a text, `view` what it is made from."""

from commonplace.pictures.census import Bond, Census, Group
from commonplace.pictures.composition import KINDS
from commonplace.pictures.drawing import FORMATS, draw, view
from commonplace.pictures.snapshot import Dot, Snapshot, Tie

__all__ = ["FORMATS", "KINDS", "Bond", "Census", "Dot", "Group", "Snapshot", "Tie", "draw", "view"]
