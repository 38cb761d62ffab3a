# The module that cffi writes: what it holds is declared by the C headers.
from typing import Any

ffi: Any
lib: Any
