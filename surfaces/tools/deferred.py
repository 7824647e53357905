"""A module that the first call of one of its functions imports: whoever only lists tools does not wait for it."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any


@dataclass(frozen=True, slots=True)
class Deferred:
    """Stands for the module of that name, of which it has the functions only.

    Type checkers and the import linter are told of the module itself, so that a function that it does not have is
    found without a call.
    """

    module: str

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def function(*arguments: Any, **named: Any) -> Any:
            return getattr(import_module(self.module), name)(*arguments, **named)

        return function
