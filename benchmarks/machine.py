"""How fast the machine is just now: the same piece of work takes twice as long while others use it too."""

import time

_STEPS = 20_000


def paced(times: int) -> list[float]:
    """Seconds that a fixed piece of computing took each time. It touches hardly any memory, and waits for nothing."""
    took = []
    for _ in range(times):
        began, total = time.perf_counter(), 0
        for step in range(_STEPS):
            total += step * step
        took.append(time.perf_counter() - began)
    return took
