"""Work split into items: a plain loop, threads, processes or a Dask cluster, with the same results in the same order.

Everything in the library that does the same thing for many variables, resamples or experiments goes through `run`.
What an item's function may use of the machine is its share: `cores` knows about it, so that work inside work does not
ask for more threads than there are cores.
"""

from mnlearn.parallel._clusters import PATIENCE, cluster, no_workers
from mnlearn.parallel._running import Backend, Quietly, ahead, run
from mnlearn.parallel._share import MOST_JOBS, cores, job_count

__all__ = ["MOST_JOBS", "PATIENCE", "Backend", "Quietly", "ahead", "cluster", "cores", "job_count", "no_workers", "run"]
