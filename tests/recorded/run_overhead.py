#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Repeats the whole study of the FRACTAL paper's Fig. 2: four workloads, three image sizes, four
configurations.

usage: run_overhead.py COMMAND PLUGIN EXAMPLES

In each row a coherent port must cost something and less than ten per cent, as in the paper, and tracing,
whose log may be in memory, at most half a per cent more. CT_SIZES names the sizes; the default is all
three."""
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tap  # noqa: E402  pylint: disable=wrong-import-position


def main():
    command, plugin, examples = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    os.environ["CORETAP_ACCESS_PLUGIN"] = plugin
    loaded = importlib.util.spec_from_file_location("overhead", examples / "overhead.py")
    study = importlib.util.module_from_spec(loaded)
    loaded.loader.exec_module(study)
    sizes = os.environ.get("CT_SIZES", "cif vga fullhd").split()
    missing = tap.lacks("aarch64-linux-gnu-gcc", "qemu-aarch64")
    rows = [(name, size) for name in study.WORKLOADS for size in sizes]
    with tempfile.TemporaryDirectory() as folder:
        for name, size in rows:
            if missing:
                tap.skip(f"{name} {size}", missing)
                continue
            program = pathlib.Path(folder) / name
            subprocess.run(["aarch64-linux-gnu-gcc", "-O2", "-static", "-o", program, examples / f"{name}.c",
                            "-lm"],
                           check=True)
            none, coherent, tracing, logged = study.measure(command, program, size)
            fine = none < coherent < 1.1 * none and \
                coherent <= tracing <= logged < coherent + 0.005 * none
            tap.check(f"{name} {size}", fine)
            print(f"# {none} cycles, coherent port {coherent / none - 1:+.3%}, tracing "
                  f"{tracing / none - 1:+.3%}, log in memory {logged / none - 1:+.3%}", flush=True)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
