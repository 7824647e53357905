"""Where a run took place: what must be the same for its numbers to come out the same to the last digit."""

import ctypes
import importlib
import os
import platform
from typing import Any

import numpy as np

from falsify.executors.trainer import ONE_THREAD

_KERNEL_SYMBOLS = tuple(
    f"{prefix}openblas_get_corename{suffix}" for prefix in ("scipy_", "") for suffix in ("64_", "")
)  # numpy's own wheels carry the first, numpy 1 the third


def environment(seed: int) -> dict[str, Any]:
    """Return the environment as JSON. Two machines that agree on it but for the platform give the same numbers."""
    built: Any = np.show_config(mode="dicts")
    blas = built["Build Dependencies"]["blas"]
    return {
        "seed": seed,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "blas": f"{blas.get('name', '')} {blas.get('version', '')}".strip(),
        "blas_kernel": _kernel(),
        "simd": built.get("SIMD Extensions", {}).get("found", []),
        "platform": platform.platform(),
        "machine": platform.machine(),
        "threads": {name: os.environ.get(name, "") for name in (*ONE_THREAD, "OPENBLAS_CORETYPE")},
    }


def _kernel() -> str:
    """Return which of its kernels OpenBLAS chose for this processor; empty if numpy is built on something else."""
    core = "_core" if np.__version__ >= "2" else "core"
    extension = importlib.import_module(f"numpy.{core}._multiarray_umath")  # which is linked with the BLAS
    library = ctypes.CDLL(extension.__file__)
    for symbol in _KERNEL_SYMBOLS:
        if hasattr(library, symbol):
            asked = getattr(library, symbol)
            asked.restype = ctypes.c_char_p
            return (asked() or b"").decode()
    return ""
