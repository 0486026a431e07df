"""Read, check and code data; discretise; describe; pack; write."""

from mnlearn.data.dataset import Dataset, MissingReport
from mnlearn.data.overviews import Missingness, Overview, missingness, overview
from mnlearn.data.pack_writer import pack
from mnlearn.data.readers import read
from mnlearn.data.rows import Weighting, effective_rows
from mnlearn.data.transforms import discretize, normal_scores
from mnlearn.data.writers import write_data

__all__ = [
    "Dataset",
    "MissingReport",
    "Missingness",
    "Overview",
    "Weighting",
    "discretize",
    "effective_rows",
    "missingness",
    "normal_scores",
    "overview",
    "pack",
    "read",
    "write_data",
]
