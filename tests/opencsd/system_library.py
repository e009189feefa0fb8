#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the path of the system's libopencsd_c_api."""
import ctypes
import ctypes.util
import pathlib

name = ctypes.util.find_library("opencsd_c_api")
ctypes.CDLL(name)
stem = name.split(".so")[0]
print(next(line.split()[-1] for line in pathlib.Path("/proc/self/maps").read_text().splitlines()
           if pathlib.Path(line.split()[-1]).name.startswith(stem)))
