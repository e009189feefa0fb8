#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts what ran in a capture, with libcoretap alone, and prints it in the format that 'coretap merge'
reads. Structs declare only their first members, up to the last one that is used: the library hands out
pointers to the whole.

usage: save_counts.py CAPTURE"""
import ctypes
import sys
from ctypes import CFUNCTYPE, POINTER, Structure, byref, c_char_p, c_int, c_size_t, c_void_p

WRITE = CFUNCTYPE(c_int, c_void_p, c_void_p, c_size_t)  # ct_write_fn of base.h


class Capture(Structure):
    """The first members of struct ct_capture in input.h."""
    _fields_ = [("path", c_char_p), ("kind", c_char_p), ("buffer_count", c_size_t), ("buffers", c_void_p)]


def library():
    """Loads the library and declares arguments and results of each function: without that, ctypes would cut
    pointers to an int."""
    lib = ctypes.CDLL("libcoretap.so.0")
    pointer, number = c_void_p, c_int
    for name, gives, *takes in [
            ("ct_ctx_new", pointer), ("ct_ctx_free", None, pointer), ("ct_ctx_error", c_char_p, pointer),
            ("ct_capture_open", number, pointer, c_char_p, POINTER(POINTER(Capture))),
            ("ct_capture_free", None, POINTER(Capture)),
            ("ct_total_counts_new", number, pointer, POINTER(pointer)), ("ct_counts_free", None, pointer),
            ("ct_counts_analysis", pointer, pointer),
            ("ct_session_new", number, pointer, pointer, POINTER(pointer)),
            ("ct_session_free", None, pointer),
            ("ct_session_add", number, pointer, pointer),
            ("ct_session_run", number, pointer, POINTER(Capture), pointer, c_size_t),
            ("ct_analysis_save", number, pointer, WRITE, pointer)]:
        function = getattr(lib, name)
        function.restype, function.argtypes = gives, takes
    return lib


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    lib, pieces = library(), []

    def keep(_user, data, size):
        pieces.append(ctypes.string_at(data, size))
        return 0

    ctx, capture, counts, session = lib.ct_ctx_new(), POINTER(Capture)(), c_void_p(), c_void_p()
    write = WRITE(keep)  # must live as long as the library may call it

    def check(result):
        if result < 0:
            sys.exit(lib.ct_ctx_error(ctx).decode())

    check(lib.ct_capture_open(ctx, sys.argv[1].encode(), byref(capture)))
    check(lib.ct_total_counts_new(ctx, byref(counts)))
    check(lib.ct_session_new(ctx, None, byref(session)))
    analysis = lib.ct_counts_analysis(counts)
    check(lib.ct_session_add(session, analysis))
    check(lib.ct_session_run(session, capture, capture.contents.buffers, capture.contents.buffer_count))
    check(lib.ct_analysis_save(analysis, write, None))
    lib.ct_session_free(session)
    lib.ct_counts_free(counts)
    lib.ct_capture_free(capture)
    lib.ct_ctx_free(ctx)
    sys.stdout.buffer.write(b"".join(pieces))


if __name__ == "__main__":
    main()
