"""Starts processes that shall die with this one.

Linux ties a child's "parent has died" signal to the thread that started it, not to the process: a run that a worker
thread starts would be killed when that thread ends. So all are started by one thread that ends only with the process.
"""

import os
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


class Spawner:
    """A thread that carries out what starts a process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls: queue.SimpleQueue[Callable[[], None]] | None = None

    def call(self, start: Callable[[], T]) -> T:
        """Return what `start` returns there, or raise what it raises."""
        future: Future[T] = Future()

        def carry_out() -> None:
            try:
                future.set_result(start())
            except BaseException as error:  # noqa: BLE001 - whatever it is, the caller is told
                future.set_exception(error)

        with self._lock:
            if self._calls is None:
                self._calls = queue.SimpleQueue()
                threading.Thread(target=_serve, args=(self._calls,), name="falsify-spawner", daemon=True).start()
            self._calls.put(carry_out)
        return future.result()

    def forget(self) -> None:
        """Begin anew: a forked process has no thread but the one that forked."""
        self._lock = threading.Lock()
        self._calls = None


def _serve(calls: "queue.SimpleQueue[Callable[[], None]]") -> None:
    while True:
        calls.get()()


SPAWNER = Spawner()
os.register_at_fork(after_in_child=SPAWNER.forget)
