"""Where tasks run: threads of this process, processes of this machine, or the workers of a Dask scheduler.

A task is a function and its arguments. Results come in the order in which they end, and no result depends on where the
tasks ran, on how many ran at once, or on their order. An `Executor` does all of a number of tasks; `share` is the short
form for work that has a list of them, and `shared` for results in the order of that list.

========= ======================= ============================================= =====================================
executor  a task runs in          an interrupt                                  a worker that is killed
========= ======================= ============================================= =====================================
Threads   a thread of this        sets ``stop``, which tasks look at            -
          process
Processes a process of joblib's   kills the processes                           its tasks are done again
          loky
Dask      a process beside a      gives back what waits; what is being computed  its tasks are done again by another
          thread of a worker      is killed by its worker
========= ======================= ============================================= =====================================
"""

from ratecheck.execution.choice import executor, scheduled
from ratecheck.execution.cores import cores
from ratecheck.execution.flow import Done, Executor
from ratecheck.execution.processes import Processes, share, shared
from ratecheck.execution.threads import Threads

__all__ = ["Done", "Executor", "Processes", "Threads", "cores", "executor", "scheduled", "share", "shared"]
