"""The functions of holdfast.h in libholdfast.so.

ctypes, not cffi: it is in the standard library, so the package needs no compiler and no dependency.
ctypes releases the interpreter lock during each call.
"""

from __future__ import annotations

import ctypes
import os
from typing import Any, Callable

from ._errors import CLASS_OF_CODE, Error

VERSION = "0.1.0"
_ABI = VERSION.rsplit(".", 1)[0]  # the soname of the library ends with it

MUTEX, SHARED, EXCLUSIVE, PERMIT = range(4)  # holdfast_mode
RENEW_DEFAULT, RENEW_AUTOMATIC, RENEW_MANUAL = range(3)  # holdfast_renewal
NEVER_MS = 2**63 - 1


class OpenOptions(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("password", ctypes.c_char_p),
        ("ttl_ms", ctypes.c_int64),
        ("grace_ms", ctypes.c_int64),
        ("log", ctypes.c_void_p),
        ("log_context", ctypes.c_void_p),
    ]


class AcquireOptions(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("mode", ctypes.c_int),
        ("renew", ctypes.c_int),
        ("permits", ctypes.c_uint32),
        ("total_permits", ctypes.c_uint32),
        ("ttl_ms", ctypes.c_int64),
        ("max_hold_ms", ctypes.c_int64),
        ("note", ctypes.c_char_p),
        ("stop", ctypes.c_void_p),
    ]


def _load() -> ctypes.CDLL:
    name = os.environ.get("HOLDFAST_LIBRARY") or f"libholdfast.so.{_ABI}"
    try:
        library = ctypes.CDLL(name)
    except OSError as error:
        raise ImportError(
            f"cannot load {name}: {error}; install libholdfast {_ABI}, or set HOLDFAST_LIBRARY to "
            "the path of libholdfast.so"
        ) from error
    library.holdfast_version.restype = ctypes.c_char_p
    version: str = library.holdfast_version().decode()
    if not version.startswith(_ABI + "."):
        raise ImportError(f"{name} is holdfast {version}, and this package needs {_ABI}")
    return library


_library = _load()
_handle = ctypes.c_void_p
_out = ctypes.POINTER(ctypes.c_void_p)
_text = ctypes.c_char_p
_whole = ctypes.c_int64


def _function(name: str, result: Any, *arguments: Any) -> Callable[..., Any]:
    function = getattr(_library, "holdfast_" + name)
    function.restype, function.argtypes = result, list(arguments)
    return function  # type: ignore[no-any-return]


_error_code = _function("error_code", ctypes.c_int, _handle)
_error_message = _function("error_message", _text, _handle)
_error_free = _function("error_free", None, _handle)
errc_name = _function("errc_name", _text, ctypes.c_int)
errc_group = _function("errc_group", ctypes.c_int, ctypes.c_int)

client_url = _function("client_url", _text, _handle)
client_close = _function("client_close", ctypes.c_int, _handle)
client_free = _function("client_free", None, _handle)
stop_new = _function("stop_new", _handle)
stop_request = _function("stop_request", None, _handle)
stop_free = _function("stop_free", None, _handle)
lease_held = _function("lease_held", ctypes.c_int, _handle)
lease_in_doubt = _function("lease_in_doubt", ctypes.c_int, _handle)
lease_token = _function("lease_token", _whole, _handle)
lease_owner = _function("lease_owner", _text, _handle)
lease_remaining_ms = _function("lease_remaining_ms", _whole, _handle)
lease_free = _function("lease_free", None, _handle)

_open = _function("client_open", ctypes.c_int, _text, ctypes.POINTER(OpenOptions), _out, _out)
_is_held = _function("is_held", ctypes.c_int, _handle, _text, ctypes.POINTER(ctypes.c_int), _out)
_terms = ctypes.POINTER(AcquireOptions)
_acquire = _function("acquire", ctypes.c_int, _handle, _text, _terms, _out, _out)
_try_for = _function("try_acquire_for", ctypes.c_int, _handle, _text, _whole, _terms, _out, _out)
_check = _function("lease_check", ctypes.c_int, _handle, _out)
_extend = _function("lease_extend", ctypes.c_int, _handle, _whole, _out)
_release = _function("lease_release", ctypes.c_int, _handle, _out)


def error_of(pointer: ctypes.c_void_p) -> Error:
    """Makes the exception of a holdfast_error, and frees the holdfast_error."""
    code = errc_name(_error_code(pointer)).decode()
    message = _error_message(pointer).decode(errors="replace")
    _error_free(pointer)
    return CLASS_OF_CODE.get(code, Error)(message)


def _call(function: Callable[..., Any], *arguments: Any) -> None:
    error = ctypes.c_void_p()
    if function(*arguments, ctypes.byref(error)):
        raise error_of(error)


def client_open(url: str | None, options: OpenOptions) -> int:
    client = ctypes.c_void_p()
    encoded = None if url is None else url.encode()
    _call(_open, encoded, ctypes.byref(options), ctypes.byref(client))
    return client.value or 0


def is_held(client: int | None, name: bytes) -> bool:
    held = ctypes.c_int()
    _call(_is_held, client, name, ctypes.byref(held))
    return bool(held.value)


def acquire(client: int | None, name: bytes, timeout_ms: int | None, terms: AcquireOptions) -> int:
    lease = ctypes.c_void_p()
    if timeout_ms is None:
        _call(_acquire, client, name, ctypes.byref(terms), ctypes.byref(lease))
    else:
        _call(_try_for, client, name, timeout_ms, ctypes.byref(terms), ctypes.byref(lease))
    return lease.value or 0


def lease_check(lease: int | None) -> None:
    _call(_check, lease)


def lease_extend(lease: int | None, ttl_ms: int) -> None:
    _call(_extend, lease, ttl_ms)


def lease_release(lease: int | None) -> None:
    _call(_release, lease)
