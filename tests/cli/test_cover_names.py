#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks C++ functions in coverage: classes, namespaces and parameters for people, and in lcov the names that
gcov and geninfo write. Prints TAP.

usage: test_cover_names.py CORETAP"""
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from command import output as run  # noqa: E402  pylint: disable=wrong-import-position
from parts import missing_parts  # noqa: E402  pylint: disable=wrong-import-position
from tap import check, finish, skip  # noqa: E402  pylint: disable=wrong-import-position

CORETAP = pathlib.Path(sys.argv[1]).resolve()
SOURCE = """
namespace shop {
struct Till {
    int sum;
    explicit Till(int start) : sum(start) {}
    void add(int price);
    void add(int price, int times);
    template <class T> T total(T rate) { return static_cast<T>(sum) * rate; }
};
void Till::add(int price) { sum += price; }
void Till::add(int price, int times)
{
    for (int i = 0; i < times; i++)
        add(price);
}
}
static int bar(int n) { return n + 1; }
namespace {
int hidden(int n) { return n - 1; }
}
extern "C" int plain(int n) { return n * 2; }
int never(long n) { return static_cast<int>(n); }
int main()
{
    shop::Till till(3);
    auto twice = [&](int n) { till.add(n, 2); };
    twice(bar(hidden(plain(2))));
    return till.total<int>(1) == 0;
}
"""
READABLE = {"shop::Till::Till(int)", "shop::Till::add(int)", "shop::Till::add(int, int)",
            "int shop::Till::total<int>(int)",
            "bar(int)", "(anonymous namespace)::hidden(int)", "plain", "never(long)", "main",
            "main::{lambda(int)#1}::operator()(int) const"}


def functions_of(text, mark="FN:"):
    """Returns name -> number before it in its record."""
    return {name: value for value, name in re.findall(rf"^{mark}(\d+),(.*)$", text, re.MULTILINE)}


def gcov_says(folder, source):
    """Runs the same source on this machine. Returns the tracefile that lcov makes of it."""
    native = folder / "native"
    native.mkdir()
    run("g++", "-O0", "--coverage", "-o", native / "till", source, cwd=native)
    run(native / "till", cwd=native)
    run("lcov", "-q", "-c", "-d", native, "-o", native / "info")
    return (native / "info").read_text()


def check_lcov(folder, source, text):
    if not shutil.which("lcov") or not shutil.which("g++"):
        skip("lcov has the names of geninfo", "lcov or g++ is missing")
        return
    wanted = gcov_says(folder, source)
    for mark in ("FN:", "FNDA:"):
        ours, theirs = functions_of(text, mark), functions_of(wanted, mark)
        check(f"lcov: {mark} as geninfo has it", ours == theirs and len(ours) == 10, f"{ours}\n{theirs}")
    file = folder / "cover.info"
    file.write_text(text)
    run("genhtml", "-q", "--demangle-cpp", "-o", folder / "html", file)
    page = "".join(path.read_text() for path in (folder / "html").rglob("*.func.html"))
    check("genhtml --demangle-cpp makes them readable", "shop::Till::add(int, int)" in page, page[:2000])


def main():
    missing = [tool for tool in ("aarch64-linux-gnu-g++", "qemu-aarch64") if not shutil.which(tool)]
    missing += ["demangle"] if "demangle" in missing_parts(CORETAP) else []
    if missing:
        print(f"1..0 # SKIP {', '.join(missing)} missing")
        return 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        source, program, capture = folder / "till.cc", folder / "till", folder / "capture"
        source.write_text(SOURCE)
        run("aarch64-linux-gnu-g++", "-O0", "-g", "-static", "-o", program, source)
        run(CORETAP, "record", "-q", "-o", capture, "--start", "main", "--", program, env=os.environ)
        data = json.loads(run(CORETAP, "cover", "-q", "--format", "json",
                              capture))["programs"][0]["functions"]
        check("JSON: readable names", {f["name"] for f in data} == READABLE, sorted(f["name"] for f in data))
        raw = {f.get("linkage_name", f["name"]) for f in data}
        text = run(CORETAP, "cover", "-q", "--functions", capture)
        check("text: readable names",
              all(re.search(rf"\s{re.escape(name)}$", text, re.MULTILINE) for name in READABLE), text)
        page = run(CORETAP, "cover", "-q", "--format", "html", capture)
        check("HTML: readable names",
              "shop::Till::add(int, int)" in page and "int shop::Till::total&lt;int&gt;(int)" in page)
        plain = run(CORETAP, "cover", "-q", "--functions", "--no-demangle", capture)
        check("--no-demangle", all(re.search(rf"\s{re.escape(name)}$", plain, re.MULTILINE)
                                       for name in ("_ZN4shop4Till3addEii", "_ZL3bari", "plain", "main")),
              plain)
        lcov = run(CORETAP, "cover", "-q", "--format", "lcov", capture)
        check("lcov: names of symbols", set(functions_of(lcov)) == raw and "_ZN4shop4Till3addEii" in raw,
              sorted(raw))
        check_lcov(folder, source, lcov)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
