#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a fleet's captures cost on this machine, as docs/fleet.md states it: a capture, a byte, a merge; how
long a job takes on 1, 2 and 8 ranks, how much of it is adding up, and the memory of a rank for parts of the
captures. Writes the figures as JSON, which simulate.py takes, and prints a table.

usage: measure.py CORETAP CORETAP_MPI FOLDER OUTPUT [--command COMMAND] [--ranks N]... [--turns N]

FOLDER is what make_captures.py made. Nothing else should run meanwhile."""
import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import tempfile
import time

ONE_BY_ONE = 60  # captures that are decoded by themselves
PARTS = (250, 500, 1000)  # captures of which the memory of a rank is looked at
LOOK_S = 0.005


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("coretap", "coretap_mpi", "folder", "output"):
        parser.add_argument(name, type=lambda word: pathlib.Path(word).resolve())
    parser.add_argument("--command", default="cover")
    parser.add_argument("--ranks", type=int, action="append")
    parser.add_argument("--turns", type=int, default=3, help="of each job; the quickest counts")
    how = parser.parse_args()
    how.ranks = how.ranks or [1, 2, 8]
    return how


def run(*words, cwd=None):
    """Seconds that a command took, and what it said. Exit code 1: captures are damaged."""
    begin = time.monotonic()
    done = subprocess.run([str(word) for word in words], capture_output=True, check=False, cwd=cwd)
    took = time.monotonic() - begin
    if done.returncode > 1:
        raise SystemExit(f"{words}: {done.stderr.decode(errors='replace')}")
    return took, done


# ---- jobs ----

def job(how, ranks, manifest, folder):
    """The command line of a job, whose pieces nobody made before."""
    environment = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    os.environ.update(environment)
    return ["mpirun", "--oversubscribe", "-n", str(ranks), str(how.coretap_mpi), how.command, "--manifest",
            str(manifest), "-o", str(folder / "result")]


def measure_job(how, ranks, manifest):
    """Seconds of a job, part of it that adding up took, and its result."""
    best, adding, result = None, None, None
    for _ in range(how.turns):
        with tempfile.TemporaryDirectory(dir=how.folder) as folder:
            took, done = run(*job(how, ranks, manifest, pathlib.Path(folder)))
            said = done.stderr.decode(errors="replace")
            seconds, percent = map(float, re.search(r"in ([\d.]+) s on .*took ([\d.]+) %", said).groups())
            one = pathlib.Path(folder, "result").read_bytes()
        if result not in (None, one):
            raise SystemExit(f"{ranks} ranks gave another result")
        if best is None or took < best:
            best, adding = took, percent / 100 * seconds / took
        result = one
    return best, adding, result


def high_water(pid):
    """KB of memory that a process had at most; 0 when it is over."""
    try:
        status = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii")
        return int(re.search(r"VmHWM:\s+(\d+)", status)[1])
    except (OSError, TypeError):
        return 0


def processes():
    """PID and name of the program of all processes."""
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            yield int(name), os.readlink(f"/proc/{name}/exe")
        except OSError:
            continue


def measure_memory(how, manifest, ranks):
    """MB of memory that a rank had at most, and a process that decodes a capture."""
    most = collections.Counter()
    programs = {str(how.coretap_mpi): "rank", str(how.coretap): "capture"}
    with tempfile.TemporaryDirectory(dir=how.folder) as folder:
        words = job(how, ranks, manifest, pathlib.Path(folder))
        with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
            while child.poll() is None:
                for pid, program in processes():
                    if program in programs:
                        most[programs[program]] = max(most[programs[program]], high_water(pid))
                time.sleep(LOOK_S)
    return {name: kilobytes / 1024 for name, kilobytes in most.items()}


# ---- what one capture costs ----

def line_through(points):
    """Least squares: (a, b) of y = a + b x."""
    count, mean_x = len(points), sum(x for x, _ in points) / len(points)
    mean_y = sum(y for _, y in points) / count
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / sum((x - mean_x) ** 2 for x, _ in points)
    return mean_y - slope * mean_x, slope


def measure_captures(how, captures, folder):
    """Decodes some captures by themselves. Returns their pieces, seconds of one, and seconds of a MB."""
    step = max(1, len(captures) // ONE_BY_ONE)
    points, pieces = [], []
    for capture in captures[::step]:
        piece = folder / f"{len(points)}.piece"
        words = (how.coretap, how.command, "-q", "--format", "data", "-o", piece, capture["path"])
        took = min(subprocess_seconds(words) for _ in range(how.turns))
        if piece.exists():
            points.append((capture["size"] / 1e6, took))
            pieces.append(piece)
    return pieces, *line_through(points)


def subprocess_seconds(words):
    begin = time.monotonic()
    subprocess.run([str(word) for word in words], capture_output=True, check=False)
    return time.monotonic() - begin


def measure_merge(how, pieces, folder):
    """Seconds of a MB of pieces that are added up, and the MB of a piece and of the sum."""
    total = sum(piece.stat().st_size for piece in pieces) / 1e6
    result = folder / "sum"
    both = min(run(how.coretap, "merge", "-q", *pieces, "-o", result)[0] for _ in range(how.turns))
    one = min(run(how.coretap, "merge", "-q", pieces[0], "-o", folder / "one")[0] for _ in range(how.turns))
    return (both - one) / total, total / len(pieces), result.stat().st_size / 1e6


def measure_keep(pieces, folder):
    """Seconds until a piece is on the disk."""
    begin = time.monotonic()
    for piece in pieces:
        with (folder / f"{piece.name}.kept").open("wb") as kept:
            kept.write(piece.read_bytes())
            kept.flush()
            os.fsync(kept.fileno())
    return (time.monotonic() - begin) / len(pieces)


def measure_digest(how, manifest):
    """Seconds of a MB that is compared with the manifest."""
    size = sum(capture["size"] for capture in manifest) / 1e6
    return run(how.coretap, "manifest", "-q", how.folder / "captures")[0] / size


# ---- all ----

def part_of(captures, count, folder):
    path = folder / f"part{count}.jsonl"
    path.write_text("".join(json.dumps(capture) + "\n" for capture in captures[:count]), encoding="utf-8")
    return path


def measure_starts(how, captures, folder):
    """Seconds of a job that has next to nothing to do, and of each rank that it has."""
    least = part_of([min(captures, key=lambda capture: capture["size"])], 1, folder)
    return line_through([(ranks, measure_job(how, ranks, least)[0]) for ranks in how.ranks])


def measure_jobs(how, captures, folder):
    whole, seconds, adding, results = part_of(captures, len(captures), folder), {}, {}, set()
    for ranks in how.ranks:
        seconds[ranks], adding[ranks], result = measure_job(how, ranks, whole)
        results.add(result)
        print(f"{ranks} ranks\t{seconds[ranks]:.2f} s\tadding up {adding[ranks]:.1%}", flush=True)
    if len(results) != 1:
        raise SystemExit("other numbers of ranks gave other results")
    return seconds, adding


def measure_parts(how, captures, folder):
    memory = {}
    for count in PARTS:
        if count <= len(captures):
            memory[count] = measure_memory(how, part_of(captures, count, folder), 2)
            print(f"{count} captures\t" + "\t".join(f"{name} {mb:.1f} MB" for name, mb in
                                                     sorted(memory[count].items())), flush=True)
    return memory


def main():
    how = arguments()
    lines = (how.folder / "week.jsonl").read_text(encoding="utf-8").splitlines()
    captures = [json.loads(line) for line in lines]
    with tempfile.TemporaryDirectory(dir=how.folder) as name:
        folder = pathlib.Path(name)
        pieces, start, per_mb = measure_captures(how, captures, folder)
        merging, piece, result = measure_merge(how, pieces, folder)
        figures = {
            "command": how.command, "cores": len(os.sched_getaffinity(0)), "captures": len(captures),
            "sizes_mb": [capture["size"] / 1e6 for capture in captures],
            "start_s": start, "decode_s_per_mb": per_mb, "digest_s_per_mb": measure_digest(how, captures),
            "merge_s_per_mb": merging, "keep_s": measure_keep(pieces, folder), "piece_mb": piece,
            "sum_mb": result,
        }
        figures["job_s"], figures["job_s_per_rank"] = measure_starts(how, captures, folder)
        print("\n".join(f"{key}\t{value:.4g}" for key, value in figures.items() if isinstance(value, float)),
              flush=True)
        figures["seconds"], figures["adding_up"] = measure_jobs(how, captures, folder)
        figures["memory_mb"] = measure_parts(how, captures, folder)
    how.output.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
