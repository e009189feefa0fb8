#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints how often each function of a program ran, with cffi. The declarations are those of the installed
headers, which the C preprocessor joins, so that none is written a second time. Output comes to a function in
Python; an exception in it ends the call of the library, and is raised again after it.

usage: functions.py CAPTURE PROGRAM"""
import contextlib
import json
import re
import subprocess
import sys

try:
    import cffi
except ImportError:
    cffi = None

HEADERS = ("cover.h", "format.h", "programs.h", "session.h")
OWN_ERROR = -1000  # base.h: errors of the library are above it


def declarations(headers):
    """Returns what headers of coretap declare, for cffi, which takes neither attributes nor functions with a
    body."""
    flags = subprocess.run(["pkg-config", "--cflags", "coretap"], capture_output=True, text=True, check=True)
    rows = subprocess.run(["cc", *flags.stdout.split(), "-D__attribute__(x)=", "-E", "-"], text=True,
                          input="".join(f"#include <coretap/{name}>\n" for name in headers),
                          capture_output=True, check=True).stdout.splitlines()
    kept, ours = [], False
    for row in rows:
        if row.startswith("# "):  # the file that the next rows are from
            ours = "/coretap/" in row
        elif ours:
            kept.append(row)
    return re.sub(r"static inline [^;{]*\{.*?\n\}", "", "\n".join(kept), flags=re.DOTALL)


class Library:
    """The library, a context, and the objects made with it. They are freed in reverse order, the context
    last."""

    def __init__(self):
        self.ffi = cffi.FFI()
        self.ffi.cdef(declarations(HEADERS))
        self.lib = self.ffi.dlopen("libcoretap.so.0")
        self.frees = contextlib.ExitStack()
        self.ctx = self.lib.ct_ctx_new()
        self.frees.callback(self.lib.ct_ctx_free, self.ctx)
        self.raised = None

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        self.frees.close()

    def check(self, result):
        """Raises what a function in Python raised, or else the error of a call."""
        if self.raised:
            raise self.raised
        if result < 0:
            raise RuntimeError(self.ffi.string(self.lib.ct_ctx_error(self.ctx)).decode())

    def make(self, kind, free, call):
        """Makes an object with a call that returns it through a pointer."""
        out = self.ffi.new(f"struct {kind} **")
        self.check(call(out))
        self.frees.callback(free, out[0])
        return out[0]

    def keep(self, _error, value, _traceback):
        """Keeps an exception of a function that the library calls."""
        self.raised = self.raised or value

    def options(self, kind, **members):
        """Makes a struct of options, with its size."""
        size = self.ffi.sizeof(f"struct {kind}")
        return self.ffi.new(f"struct {kind} *", {"size": size, **members})


def coverage(own, path, program):
    """Returns the coverage of a program as text in JSON."""
    text, ctx, ffi, lib = bytearray(), own.ctx, own.ffi, own.lib
    capture = own.make("ct_capture", lib.ct_capture_free,
                       lambda out: lib.ct_capture_open(ctx, path.encode(), out))
    programs = own.make("ct_programs", lib.ct_programs_free,
                        lambda out: lib.ct_programs_new(ctx, ffi.NULL, out))
    own.check(lib.ct_programs_add(programs, program.encode(), ffi.NULL, capture, ffi.NULL))
    own.check(lib.ct_programs_add_capture(programs, capture))
    cover = own.make("ct_cover", lib.ct_cover_free, lambda out: lib.ct_cover_new(ctx, out))
    wishes = own.options("ct_session_options", programs=programs)
    session = own.make("ct_session", lib.ct_session_free, lambda out: lib.ct_session_new(ctx, wishes, out))
    own.check(lib.ct_session_add(session, lib.ct_cover_analysis(cover)))
    own.check(lib.ct_session_run(session, capture, capture.buffers, capture.buffer_count))
    views = own.make("ct_cover_views", lib.ct_cover_views_free,
                     lambda out: lib.ct_cover_views_new(cover, programs, ffi.NULL, out))

    # cffi returns `error` to the library when an exception is raised here
    @ffi.callback("ct_write_fn", error=OWN_ERROR, onerror=own.keep)
    def write(_user, data, size):
        text.extend(ffi.buffer(data, size))
        return 0

    how = own.options("ct_cover_write_options", format=lib.CT_COVER_FORMAT_JSON)
    own.check(lib.ct_cover_views_write(views, how, write, ffi.NULL))
    return text


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    if not cffi:
        sys.exit("cffi is not installed")
    try:
        with Library() as own:
            found = json.loads(coverage(own, sys.argv[1], sys.argv[2]))
    except RuntimeError as error:
        sys.exit(f"refused: {error}")
    for program in found["programs"]:
        for function in program["functions"]:
            print(function["name"], function["count"])


if __name__ == "__main__":
    main()
