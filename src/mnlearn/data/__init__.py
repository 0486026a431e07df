"""Read, check and code data; discretise; describe; pack; write."""

from mnlearn.data.dataset import Dataset, MissingReport
from mnlearn.data.missingness import Missingness, missingness
from mnlearn.data.normal_scores import normal_scores
from mnlearn.data.overviews import Overview, overview
from mnlearn.data.packing import pack
from mnlearn.data.readers import read
from mnlearn.data.transforms import discretize
from mnlearn.data.weights import Weighting, effective_rows
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
