"""Work that survives being killed: what was found out is written down as it is found, and looked up when asked again.

A search is deterministic: from the same answers it takes the same steps. So it is enough to keep the answers. A `Kept`
judge or statistics writes each answer to a file in the checkpoint's folder; a run that is resumed goes through the same
steps from the beginning, and what it asks is answered from the file, in no time, until it reaches where the other one
was killed. The result is the same, and so is its cost, for both are functions of the answers.

The file is a sequence of records, each with its length and its checksum, appended and synced about once a second. A
record that was being written when the power failed is recognised by its checksum and cut off.
"""

from mnlearn.checkpoints.coding import fingerprint
from mnlearn.checkpoints.journal import Checkpoint, opened
from mnlearn.checkpoints.kept import Kept

__all__ = ["Checkpoint", "Kept", "fingerprint", "opened"]
