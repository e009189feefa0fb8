#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the conditions of decisions with what the program itself says of them: decisions.c, built with
TELL, prints how each condition of each decision was evaluated. At -O0 each condition has a branch with the
same counts, and coretap tells which conditions join. Where conditions went both ways and none joins, the
printed evaluations have MC/DC. Prints TAP.

usage: test_cover_decisions.py CORETAP decisions.c"""
import collections
import copy
import itertools
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from command import output as run  # noqa: E402  pylint: disable=wrong-import-position
from tap import check, finish, skip, some  # noqa: E402  pylint: disable=wrong-import-position

TARGETS = {  # compiler, QEMU, whether decisions that are not those of an if are values first
    "A64": (["aarch64-linux-gnu-gcc"], "qemu-aarch64", False),
    "A32": (["arm-linux-gnueabihf-gcc", "-marm"], "qemu-arm", False),
    "T32": (["arm-linux-gnueabihf-gcc", "-mthumb"], "qemu-arm", False),
    "A64, clang": (["clang", "--target=aarch64-linux-gnu"], "qemu-aarch64", True),
}
SEEDS = ["1", "2", "3", "4", "5", "6"]
# Functions whose decision clang computes as a value, so that the last condition has no branch. In a loop,
# the value has one, which for do … while is on another line.
VALUES = {"argument", "returned", "assigned", "negated", "do_loop"}
LOOPS = {"while_loop", "for_loop"}
CHOICE = "chooses"  # of gcc: (a ? b : c) is a branch for a, and one for the value
FUNCTION = re.compile(r"^static \w+ (\w+)\(struct input \*i\)")


class Decision:
    """A decision of the source: its function, its line, the number of its conditions, and how many of them
    join: evaluation comes to them in more than one way."""

    def __init__(self, function, line, text):
        self.function, self.line = function, line
        self.lines = [line]  # in the program, which may be spread over more lines than this file
        formula, self.count = self.formula(text)
        self.joined = self.find_joined(formula) if function != CHOICE else 0

    @staticmethod
    def formula(text):
        """Returns D(…) as an expression of Python, with calls of c in place of the conditions."""
        at = text.index("D(") + 1
        out, depth, count = "", 0, 0
        while True:
            if text.startswith("C(", at):
                out += f"c({count})"
                count += 1
                depth, at = depth + 1, at + 2
                inside = depth
                while depth >= inside:
                    depth += {"(": 1, ")": -1}.get(text[at], 0)
                    at += 1
                continue
            depth += {"(": 1, ")": -1}.get(text[at], 0)
            out += text[at]
            at += 1
            if not depth:
                break
        return out.replace("&&", " and ").replace("||", " or ").replace("!", " not "), count

    def find_joined(self, formula):
        before = collections.defaultdict(set)
        for values in itertools.product((False, True), repeat=self.count):
            path = []

            def evaluate(number, values=values, path=path):
                before[number].add(path[-1] if path else None)
                path.append((number, values[number]))
                return values[number]
            eval(formula, {"c": evaluate})  # pylint: disable=eval-used
        return sum(len(ways) > 1 for ways in before.values())


def read_decisions(source):
    function, found = "", []
    for number, text in enumerate(source.read_text().splitlines(), 1):
        function = FUNCTION.match(text).group(1) if FUNCTION.match(text) else function
        if "D(" in text and not text.startswith("#"):
            found.append(Decision(function, number, text))
    return found


def spread(source, decisions):
    """Returns the source without macros and with each condition of a decision on a line of its own, and the
    decisions with their lines there. The operators end a line or begin the next one in turn."""
    rows, moved, after = [], {decision.line: decision for decision in decisions}, True
    for number, text in enumerate(source.read_text().splitlines(), 1):
        if number not in moved:
            rows.append(text)
            continue
        begin, depth, conditions = text.index("D("), 0, []
        out, at = text[:begin], begin + 1
        while True:
            if text.startswith("C(", at):
                conditions.append(depth)
                at = text.index(",", at)
                out, depth = out + "(", depth + 1
            elif text[at:at + 2] in ("&&", "||") and not conditions:
                out += f"{text[at:at + 2]}\n" if after else f"\n{text[at:at + 2]}"
                at += 1
            else:
                depth += {"(": 1, ")": -1}.get(text[at], 0)
                out += text[at]
                if conditions and depth == conditions[-1]:
                    conditions.pop()
            at += 1
            if not depth:
                break
        moved[number] = copy.copy(moved[number])
        more = (out + text[at:]).split("\n")
        moved[number].lines = range(len(rows) + 1, len(rows) + 1 + len(more))
        rows += more
        after = not after
    return "\n".join(rows) + "\n", list(moved.values())


def told(qemu, program, seed):
    """Returns line -> [(how each condition was evaluated, the outcome)], as the program prints it."""
    evaluations = collections.defaultdict(list)
    for row in run(qemu, program, seed).splitlines():
        line, outcomes, outcome = row.split()
        evaluations[int(line)].append((outcomes, outcome))
    return evaluations


def traced_lines(coretap, folder, program, seed):
    """Returns line -> what coretap says of it."""
    shutil.rmtree(folder / "capture", ignore_errors=True)
    run(coretap, "record", "--quiet", "-o", folder / "capture", "--", program, seed)
    report = json.loads(run(coretap, "cover", "-f", "json", "--elf", program, folder / "capture"))
    return {line["line"]: line for file in report["programs"][0]["files"]
            if file["path"].endswith("decisions.c") for line in file["lines"]}


def both(outcomes):
    """Returns how often something was true and how often it was false; the compiler chooses which of the two
    is the taken branch."""
    return tuple(sorted((outcomes.count("1"), outcomes.count("0"))))


def expected(decision, evaluations, stores_values):
    """Returns the pair of counts of each branch that the decision should have."""
    pairs = [both([outcomes[k] for outcomes, _ in evaluations]) for k in range(decision.count)]
    value = both([outcome for _, outcome in evaluations])
    if decision.function in VALUES and stores_values:
        return pairs[:-1]
    if decision.function in LOOPS and stores_values:
        return [*pairs[:-1], value]
    if decision.function == CHOICE and not stores_values:
        return [pairs[0], value]
    return pairs


def is_known(decision, stores_values):
    """Returns whether each branch of the decision is one of a condition."""
    return decision.function not in (VALUES | LOOPS if stores_values else {CHOICE})


def has_mcdc(decision, evaluations):
    """Returns whether, for each condition, two evaluations with different outcomes differ in it alone, among
    the conditions that both evaluated."""
    shown = set()
    for (one, outcome), (other, changed) in itertools.combinations(set(evaluations), 2):
        differ = [k for k in range(decision.count) if {one[k], other[k]} == {"0", "1"}]
        if outcome != changed and len(differ) == 1:
            shown.add(differ[0])
    return len(shown) == decision.count


def compare(coretap, folder, decisions, original, target, what):
    """Compares the decisions of decisions.c in the folder with what the original prints."""
    compiler, qemu, stores_values = TARGETS[target]
    teller, program, source = folder / "teller", folder / "program", folder / "decisions.c"
    run(*compiler, "-DTELL", "-static", "-w", "-o", teller, original)
    run(*compiler, "-O0", "-g", "-static", "-w", "-o", program, source)
    wrong, wrong_joins, unproven = [], [], []
    proven = joined_without = 0
    for seed in SEEDS:
        truth = told(qemu, teller, seed)
        lines = traced_lines(coretap, folder, program, seed)
        for decision in decisions:
            evaluations = truth.get(decision.line, [])
            # a decision belongs to the first of its lines that has code
            line = next(lines[n] for n in decision.lines if n in lines)
            got = [tuple(sorted((b["taken"], b["not_taken"])))
                   for n in decision.lines for b in lines.get(n, {}).get("branches", [])]
            wrong += [f"{decision.function}: line {n} has branches of its own" for n in decision.lines
                      if n > line["line"] and "branches" in lines.get(n, {})]
            want = expected(decision, evaluations, stores_values)
            where = f"{decision.function}:{decision.line}, inputs {seed}"
            if got != want:
                wrong.append(f"{where}: evaluated {want}, branches {got}")
            if not is_known(decision, stores_values):
                continue
            joined = line.get("joined_conditions", 0)
            if joined != decision.joined:
                wrong_joins.append(f"{where}: {decision.joined} conditions join, not {joined}")
            if not all(map(min, got)):
                continue
            if joined:
                joined_without += not has_mcdc(decision, evaluations)
            elif has_mcdc(decision, evaluations):
                proven += 1
            else:
                unproven.append(f"{where}: {sorted(set(evaluations))}")
    check(f"{target}{what}: conditions of {len(decisions)} decisions have the counts of their evaluations",
          not wrong, wrong)
    check(f"{target}{what}: joined conditions are told", not wrong_joins, wrong_joins)
    check(f"{target}{what}: MC/DC where all went both ways and none joins ({proven})",
          proven > 40 and not unproven, unproven)
    check(f"{target}{what}: joined conditions that went both ways without MC/DC ({joined_without})",
          joined_without)


def check_optimised(coretap, folder, decisions, source):
    """Checks what docs/analysis.md says of optimised code: the compiler makes one branch of several
    conditions, so branches go both ways although a condition did not; and some lines tell that no branch
    shows conditions."""
    compiler, qemu, _ = TARGETS["A64"]
    teller, program = folder / "teller", folder / "program"
    run(*compiler, "-DTELL", "-static", "-w", "-o", teller, source)
    run(*compiler, "-O2", "-g", "-static", "-w", "-o", program, source)
    fewer = one_way = hidden = 0
    for seed in SEEDS:
        truth = told(qemu, teller, seed)
        lines = traced_lines(coretap, folder, program, seed)
        for decision in decisions:
            line = lines.get(decision.line, {})
            branches = line.get("branches", [])
            fewer += len(branches) < decision.count
            hidden += line.get("unobservable_conditions", {}).get("executed", 0) > 0
            all_both = branches and all(b["taken"] and b["not_taken"] for b in branches)
            evaluations = truth.get(decision.line, [])
            conditions = [both([row[k] for row, _ in evaluations]) for k in range(decision.count)]
            one_way += bool(all_both) and not all(map(min, conditions))
    check(f"-O2: of {len(SEEDS) * len(decisions)} decisions, {fewer} have fewer branches than conditions, "
          f"{hidden} tell conditions without one, and {one_way} look complete",
          fewer and hidden and one_way)


def main():
    coretap, source = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
    decisions = read_decisions(source)
    for number, (target, (compiler, qemu, _)) in enumerate(TARGETS.items()):
        missing = next((tool for tool in (compiler[0], qemu) if not shutil.which(tool)), None)
        if missing:
            skip(target, f"needs {missing}")
            continue
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            for is_spread in some((False, True), number % 2):
                text, placed = spread(source, decisions) if is_spread else (source.read_text(), decisions)
                (folder / "decisions.c").write_text(text)
                compare(coretap, folder, placed, source, target, ", over several lines" if is_spread else "")
                if target == "A64" and not is_spread:
                    check_optimised(coretap, folder, decisions, source)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
