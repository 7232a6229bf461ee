"""The two solvers, and a process of its own for them: neither can be stopped from outside while it runs.

Run as a file, this reads jobs from its input and writes their answers to its output, as numpy archives with their
length before them, until the input ends. It imports nothing of medveil, so that it starts at once.
"""

from __future__ import annotations

import io
import signal
import struct
import sys
from collections.abc import Callable
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

Arrays = dict[str, NDArray[Any]]


class Infeasible(Exception):  # noqa: N818 - it is an answer, not an error
    """There is no solution."""


def solve_flow(
    tail: NDArray[np.int32],
    head: NDArray[np.int32],
    capacity: NDArray[np.int64],
    cost: NDArray[np.int64],
    supply: NDArray[np.int64],
) -> Arrays:
    """The flow on each arc in a flow of least cost: OR-tools' cost-scaling algorithm."""
    from ortools.graph.python import min_cost_flow  # noqa: PLC0415 - an extra

    solver = min_cost_flow.SimpleMinCostFlow()
    arcs = solver.add_arcs_with_capacity_and_unit_cost(tail, head, capacity, cost)
    solver.set_nodes_supplies(np.arange(len(supply), dtype=np.int32), supply)
    if solver.solve() != solver.OPTIMAL:
        raise Infeasible
    return {"flow": np.asarray(solver.flows(arcs), dtype=np.int64)}


def solve_milp(
    distances: NDArray[np.float64],
    values: NDArray[np.int32],
    lower: NDArray[np.int64],
    upper: NDArray[np.int64],
    sizes: NDArray[np.int64],
) -> Arrays:
    """The cluster of each record by mixed-integer programming (HiGHS), as the paper writes it.

    min sum_ij B_ij d_ij
    sum_i B_ij = 1,   smallest <= sum_j B_ij <= largest,   lower_v <= sum_(j of v) B_ij <= upper_v
    """
    from scipy import sparse  # noqa: PLC0415 - an extra
    from scipy.optimize import Bounds, LinearConstraint, milp  # noqa: PLC0415

    records, clusters = distances.shape
    each_record = sparse.kron(sparse.eye(records), np.ones((1, clusters)))
    each_cluster = sparse.kron(np.ones((1, records)), sparse.eye(clusters))
    of_value = sparse.csr_matrix((np.ones(records), (values, np.arange(records))), shape=(len(upper), records))
    each_value = sparse.kron(of_value, sparse.eye(clusters))
    solution = milp(
        distances.ravel(),
        integrality=np.ones(records * clusters, dtype=np.int64),
        bounds=Bounds(0, 1),
        constraints=[
            LinearConstraint(each_record, 1, 1),
            LinearConstraint(each_cluster, sizes[0], sizes[1]),
            LinearConstraint(each_value, np.repeat(lower, clusters), np.repeat(upper, clusters)),
        ],
        options={"mip_rel_gap": 0.0},
    )
    if solution.x is None:
        raise Infeasible
    return {"cluster": solution.x.reshape(records, clusters).argmax(axis=1).astype(np.int32)}


SOLVERS: dict[str, Callable[..., Arrays]] = {"flow": solve_flow, "milp": solve_milp}


def send(stream: IO[bytes], arrays: Arrays) -> None:
    """Write arrays with their length before them."""
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    stream.write(struct.pack("<Q", buffer.getbuffer().nbytes))
    stream.write(buffer.getbuffer())
    stream.flush()


def receive(stream: IO[bytes]) -> Arrays | None:
    """The arrays that `send` wrote; None at the end of the stream."""
    length = stream.read(8)
    if len(length) < 8:
        return None
    content = stream.read(struct.unpack("<Q", length)[0])
    with np.load(io.BytesIO(content), allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files}


def serve() -> None:
    """Answer one job after the other. Who stops the run from a terminal stops this process too, but in good order."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while (job := receive(sys.stdin.buffer)) is not None:
        solver = SOLVERS[str(job.pop("solver"))]
        try:
            answer = solver(**job)
        except Infeasible:
            answer = {}
        send(sys.stdout.buffer, answer)


if __name__ == "__main__":
    serve()
