#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares variables with gdb: the address and the size of each, in programs in C, C++ and Rust, from several
compilers and in two versions of DWARF. A variable that cannot be found has an error text. Prints TAP.

usage: test_variables.py DUMP_VARIABLES"""
import pathlib
import re
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from command import output as run  # noqa: E402  pylint: disable=wrong-import-position
import tap  # noqa: E402  pylint: disable=wrong-import-position

DUMP = sys.argv[1]
C = """#include <stdint.h>
#include <stdatomic.h>
enum state { OFF = -1, IDLE, RUNNING = 5 };
enum plain { A, B = 200 };
typedef struct { int16_t x, y; float z; } vec;
struct motor {
    volatile int32_t speed;
    enum state state;
    struct { uint8_t lo, hi; } pair;
    union { uint64_t whole; double real; uint8_t bytes[8]; };
    unsigned mode : 3;
    signed delta : 5;
    uint64_t wide : 40;
    vec trail[4];
    struct motor *next;
    _Bool on;
    int grid[2][3];
};
struct motor motors[3];
static volatile int16_t hidden = -3;
_Atomic uint32_t atomic_count;
enum plain plain;
float real; double wide_real; signed char small; unsigned char byte; int64_t i64; uint64_t u64; char letter;
_Thread_local int own;
static const int fixed = 5;
static int unused;
extern int elsewhere;
uint8_t matrix[2][3][4];
int *pointer;
struct { int n; int data[]; } open_ended;
__attribute__((noinline, used)) static int *get(void) { static int turns = 4; return &turns; }
int main(int argc, char **argv)
{
    volatile int local = argc;
    unused = argc;
    motors[1].speed = local + fixed;
    hidden = hidden + own++ + ++*get();
    return (int)motors[1].speed + hidden + (int)atomic_count;
}
"""
C_NAMES = {
    "motors": "block", "motors[1].speed": "signed", "motors[2].state": "signed OFF=-1 IDLE=0 RUNNING=5",
    "motors[0].pair.hi": "unsigned", "motors[0].whole": "unsigned", "motors[0].real": "real",
    "motors[0].bytes[3]": "unsigned", "motors[2].trail[3].z": "real", "motors[1].next": "unsigned",
    "motors[1].on": "unsigned", "motors[1].grid[1][2]": "signed", "motors[1].grid[1]": "block",
    "hidden": "signed", "seed.c:hidden": "signed", "atomic_count": "unsigned", "plain": "unsigned A=0 B=200",
    "real": "real", "wide_real": "real", "small": "signed", "byte": "unsigned", "i64": "signed",
    "u64": "unsigned", "letter": "unsigned", "matrix[1][2][3]": "unsigned", "matrix[1]": "block",
    "pointer": "unsigned", "open_ended.n": "signed", "get::turns": "signed", "turns": "signed",
}
GDB_NAMES = {"seed.c:hidden": "hidden", "get::turns": "get::turns", "turns": "get::turns"}
C_ERRORS = {
    "own": "each thread has its own copy", "fixed": "replaced it by a constant",
    "unused": "optimised it away",
    "elsewhere": "has no variable", "main::local": "on the stack", "nothing": "has no variable 'nothing'",
    "other.c:hidden": "has no variable", "pointer.x": "pointers are not followed",
    "motors[3]": "whose last index is 2",
    "motors[0].nix": "has no field nix; its fields are speed, state, pair",
    "open_ended.data[0]": "the length of the array", "motors[": "in brackets",
    "motors[0]x": "another index can follow", "motors.speed": "is not a structure",
    "motors[0].": "the name of a field", "motors[0].next.speed": "pointers are not followed",
    "::": "no variable",
}
BITS = {"motors[0].mode": (0, 3), "motors[0].delta": (3, 5), "motors[0].wide": (0, 40)}
CXX = """#include <atomic>
#include <cstdint>
namespace control {
enum class Mode : uint8_t { Off, Auto = 200 };
struct Base { int id; virtual ~Base() {} };
template <typename T> struct Holder { static T value; };
template <typename T> T Holder<T>::value = T(3);
struct Motor : Base { double speed; static int made; std::atomic<int> turns; Mode mode; };
int Motor::made = 1;
Motor motor;
namespace { volatile int hidden = 3; }
namespace inner { volatile long level = 7; }
}
static volatile long level = 9;
int main(int argc, char **)
{
    static int calls;
    control::motor.speed = argc;
    control::motor.turns++;
    control::hidden = control::hidden + 1;
    control::inner::level = level;
    level = control::Holder<short>::value;
    return calls++;
}
"""
CXX_NAMES = {
    "control::motor.speed": "real", "motor.id": "signed", "control::Motor::made": "signed", "made": "signed",
    "motor.turns": "signed", "motor.mode": "unsigned Off=0 Auto=200", "control::hidden": "signed",
    "control::inner::level": "signed", "level": "signed", "main::calls": "signed",
}
CXX_GDB = {"motor.id": "control::motor.id", "made": "control::Motor::made",
           "motor.turns": "control::motor.turns",
           "motor.mode": "control::motor.mode", "control::hidden": "'control::(anonymous namespace)::hidden'",
           "level": "::level"}
RUST = """#![allow(static_mut_refs)]
use std::sync::atomic::{AtomicU32, Ordering};
#[derive(Clone, Copy)] #[repr(u8)] pub enum Mode { Off = 0, Run = 200 }
pub struct Row { pub x: i16, pub y: f32 }
pub struct Pair(pub u16, pub i64);
mod motor {
    pub static TURNS: super::AtomicU32 = super::AtomicU32::new(0);
    pub static mut SPEED: i32 = 5;
}
static mut ROWS: [Row; 3] = [Row { x: 1, y: 2.0 }, Row { x: 1, y: 2.0 }, Row { x: 1, y: 2.0 }];
static mut PAIR: Pair = Pair(1, 2);
static mut MODE: Mode = Mode::Off;
fn main() {
    motor::TURNS.fetch_add(1, Ordering::SeqCst);
    unsafe {
        motor::SPEED += 1; ROWS[1].x += 1; PAIR.1 += 1; MODE = Mode::Run;
        println!("{} {} {}", motor::SPEED, ROWS[1].x, PAIR.1 + MODE as i64);
    }
}
"""
RUST_NAMES = {"motor::TURNS": "unsigned", "SPEED": "signed", "seed::motor::SPEED": "signed",
              "ROWS[1].x": "signed", "ROWS[2].y": "real", "PAIR.0": "unsigned", "PAIR.1": "signed",
              "MODE": "unsigned Off=0 Run=200",
              "PAIR": "block"}
RUST_GDB = {"motor::TURNS": "seed::motor::TURNS", "SPEED": "seed::motor::SPEED",
            "ROWS[1].x": "seed::ROWS[1].x",
            "ROWS[2].y": "seed::ROWS[2].y", "PAIR.0": "seed::PAIR.0", "PAIR.1": "seed::PAIR.1",
            "MODE": "seed::MODE", "PAIR": "seed::PAIR"}
ARM_GCC, A64_GCC, A64_GXX = "arm-linux-gnueabihf-gcc", "aarch64-linux-gnu-gcc", "aarch64-linux-gnu-g++"


def dumped(program, names):
    """Returns name -> address, bytes, form, lowest bit, bits, type, whole name and enumerators, or what is
    wrong."""
    lines = run(DUMP, program, *names).splitlines()
    return dict(zip(names, (line.split("\t") for line in lines)))


def of_gdb(program, names):
    """Returns address and bytes of each name, from gdb."""
    words = ["gdb", "-nx", "-batch"]
    for name in names:
        words += ["-ex", f"printf \"%lx\\n\", (unsigned long)&{name}", "-ex", f"printf \"%lu\\n\", "
                  f"(unsigned long)sizeof({name})"]
    lines = [line for line in run(*words, program).splitlines() if re.fullmatch("[0-9a-f]+", line)]
    return [(int(lines[2 * i], 16), int(lines[2 * i + 1])) for i in range(len(names))]


def hold(program, names, gdb_names):
    got = dumped(program, list(names))
    for name, wanted in names.items():
        form, _, enumerators = wanted.partition(" ")
        row = got[name]
        assert row[2:3] == [form] and row[7:] == [enumerators], (name, row, wanted)
        assert form == "block" or int(row[4]) == 8 * int(row[1]), (name, row)
    if not shutil.which("gdb"):
        return "no gdb"
    wanted = of_gdb(program, [gdb_names.get(name, name) for name in names])
    ours = [(int(got[name][0], 16), int(got[name][1])) for name in names]
    assert ours == wanted, [row for row in zip(names, ours, wanted) if row[1] != row[2]]
    return f"{len(names)} variables"


def build(folder, source, kind, compiler, options, linker, *objects):
    text = folder / f"seed.{kind}"
    text.write_text(source)
    run(compiler, "-g", "-O1", *options, "-c", "-o", folder / "seed.o", text, cwd=folder)
    run(linker, "-static", "-o", folder / "program", folder / "seed.o", *objects, cwd=folder)
    return folder / "program"


def check_c(folder, compiler, options, linker):
    program = build(folder, C, "c", compiler, options, linker)
    note = hold(program, C_NAMES, GDB_NAMES)
    for name, row in dumped(program, list(BITS)).items():
        assert (int(row[3]), int(row[4])) == BITS[name], (name, row)
    for name, row in dumped(program, list(C_ERRORS)).items():
        assert C_ERRORS[name] in row[0] and row[0].startswith("error: "), (name, row)
    return note


def check_cxx(folder, compiler, options, linker):
    return hold(build(folder, CXX, "cc", compiler, options, linker), CXX_NAMES, CXX_GDB)


def check_rust(folder):
    """Checks a Rust program. rustc may lack libraries for Arm, so the program is for the host, and its header
    is changed to say Arm."""
    (folder / "seed.rs").write_text(RUST)
    run("rustc", "-g", "-C", "relocation-model=static", "-o", folder / "native", folder / "seed.rs",
        cwd=folder)
    file = bytearray((folder / "native").read_bytes())
    wanted = of_gdb_rust(folder / "native") if shutil.which("gdb") else None
    file[18:20] = (183).to_bytes(2, "little")
    (folder / "program").write_bytes(file)
    got = dumped(folder / "program", list(RUST_NAMES))
    for name, text in RUST_NAMES.items():
        form, _, enumerators = text.partition(" ")
        assert got[name][2:3] == [form] and got[name][7:] == [enumerators], (name, got[name])
        assert wanted is None or int(got[name][0], 16) == wanted[name], (name, got[name], wanted[name])
    return f"{len(got)} variables"


def of_gdb_rust(program):
    words = ["gdb", "-nx", "-batch"]
    for name in RUST_NAMES:
        words += ["-ex", f"print &{RUST_GDB.get(name, name)}"]
    addresses = re.findall(r"0x[0-9a-f]+", run(*words, program))
    assert len(addresses) == len(RUST_NAMES), addresses
    return dict(zip(RUST_NAMES, (int(addr, 16) for addr in addresses)))


def check_stripped(folder):
    """Checks that a variable that only the symbol table has still has an address and a size."""
    program = build(folder, C, "c", A64_GCC, [], A64_GCC)
    whole = dumped(program, ["i64", "motors"])
    run("aarch64-linux-gnu-strip", "-g", program)
    got = dumped(program, ["i64", "motors", "motors[0].speed", "nothing"])
    assert got["i64"][:3] == [whole["i64"][0], "8", "raw"] and got["motors"][2] == "block", got
    assert "no debug information" in got["motors[0].speed"][0] and "has no variable" in got["nothing"][0], got
    return "an address and a size"


def check_separate(folder):
    """Checks debug information in a separate file and in compressed sections."""
    program = build(folder, C, "c", A64_GCC, [], A64_GCC)
    whole = dumped(program, ["motors[1].speed"])
    run("aarch64-linux-gnu-objcopy", "--only-keep-debug", program, folder / "program.debug")
    run("aarch64-linux-gnu-strip", program)
    run("aarch64-linux-gnu-objcopy", "--add-gnu-debuglink=program.debug", program, cwd=folder)
    assert dumped(program, ["motors[1].speed"]) == whole
    packed = build(folder, C, "c", A64_GCC, ["-gz=zlib"], A64_GCC)
    assert dumped(packed, ["motors[1].speed"])["motors[1].speed"][1:] == whole["motors[1].speed"][1:]
    return "the same"


def check_split(folder):
    """Checks that a .dwo file that is missing or of another compilation is named, and that one beside the
    program is found."""
    split = build(folder, C, "c", A64_GCC, ["-gsplit-dwarf"], A64_GCC)
    dwo = folder / "seed.dwo"
    whole = dumped(split, ["motors[1].speed"])
    assert whole["motors[1].speed"][1] == "4", whole
    (folder / "elsewhere").mkdir()
    moved = folder / "elsewhere" / "seed.dwo"
    dwo.rename(moved)
    for name in ("motors[1].speed", "motors", "nothing"):
        text = dumped(split, [name])[name][0]
        assert f"debug information is in {dwo}, which is missing" in text, text
    assert dumped(split.rename(folder / "elsewhere" / "program"), ["motors[1].speed"]) == whole
    split = folder / "elsewhere" / "program"
    kept = split.read_bytes()
    other = build(folder, C.replace("motors[3]", "motors[4]"), "c", A64_GCC, ["-gsplit-dwarf"], A64_GCC)
    assert other.exists() and split.read_bytes() == kept
    text = dumped(split, ["motors[1].speed"])["motors[1].speed"][0]
    assert f"{dwo}, which belongs to another build" in text, text
    dwo.write_bytes(b"\x7fELF" + bytes(200))
    moved.unlink()
    assert "is missing or cannot be read" in dumped(split, ["motors"])["motors"][0]
    return "named"


def check_package(folder, options, packer):
    """Checks that a package beside the program gives what its .dwo files gave, and that a package of another
    program does not."""
    more = "volatile int second_file = 2; int second(void) { return second_file; }\n"
    (folder / "second.c").write_text(more)
    run(A64_GCC, "-g", "-O1", "-c", "-gsplit-dwarf", *options, "second.c", cwd=folder)
    split = build(folder, C, "c", A64_GCC, ["-gsplit-dwarf", *options], A64_GCC, "second.o")
    names = ["motors[1].speed", "i64", "second_file"]
    whole = dumped(split, names)
    assert whole["motors[1].speed"][1] == "4" and whole["second_file"][1] == "4", whole
    package = folder / f"{split.name}.dwp"
    run(packer, "-o", package, "seed.dwo", "second.dwo", cwd=folder)
    (folder / "seed.dwo").unlink()
    (folder / "second.dwo").unlink()
    assert dumped(split, names) == whole, dumped(split, names)
    kept = package.read_bytes()
    for size in (0, 40, len(kept) // 2, len(kept) - 1):
        package.write_bytes(kept[:size])
        got = dumped(split, names)
        assert all("is missing" in got[name][0] or got[name] == whole[name] for name in names), (size, got)
    return "the same"


def check_several(folder):
    """Checks that two variables of one name are told apart by their files, and that the bare name selects
    neither."""
    for name in ("one", "two"):
        text = f"static volatile int level; int {name}(void) {{ return level++; }}\n"
        (folder / f"{name}.c").write_text(text)
    (folder / "main.c").write_text("int one(void), two(void); int main(void) { return one() + two(); }\n")
    run(A64_GCC, "-g", "-O1", "-static", "-o", folder / "program", "one.c", "two.c", "main.c", cwd=folder)
    got = dumped(folder / "program", ["level", "one.c:level", "two.c:level"])
    assert "several variables have this name" in got["level"][0] and "one.c:level" in got["level"][0], got
    assert got["one.c:level"][0] != got["two.c:level"][0] and got["one.c:level"][1] == "4", got
    return "told apart"


def main():
    cases = [("C, gcc for Arm, DWARF 4", check_c, ARM_GCC, ["-gdwarf-4"], ARM_GCC),
             ("C, gcc, DWARF 5", check_c, A64_GCC, ["-gdwarf-5"], A64_GCC),
             ("C, gcc, type units", check_c, A64_GCC, ["-gdwarf-4", "-fdebug-types-section"], A64_GCC),
             ("C, clang, DWARF 4", check_c, "clang", ["--target=aarch64-linux-gnu", "-gdwarf-4"], A64_GCC),
             ("C, clang, DWARF 5", check_c, "clang", ["--target=aarch64-linux-gnu", "-gdwarf-5"], A64_GCC),
             ("C, gcc, .dwo", check_c, A64_GCC, ["-gsplit-dwarf"], A64_GCC),
             ("C, gcc for Arm, DWARF 4, .dwo", check_c, ARM_GCC, ["-gdwarf-4", "-gsplit-dwarf"], ARM_GCC),
             ("C, clang, .dwo", check_c, "clang", ["--target=aarch64-linux-gnu", "-gsplit-dwarf"], A64_GCC),
             ("C, clang, DWARF 4, .dwo", check_c, "clang",
              ["--target=aarch64-linux-gnu", "-gdwarf-4", "-gsplit-dwarf"], A64_GCC),
             ("C, clang, split units in the objects", check_c, "clang",
              ["--target=aarch64-linux-gnu", "-gsplit-dwarf=single"], A64_GCC),
             ("C++, g++, .dwo", check_cxx, A64_GXX, ["-gsplit-dwarf"], A64_GXX),
             ("C++, clang, .dwo", check_cxx, "clang++",
              ["--target=aarch64-linux-gnu", "-gsplit-dwarf"], A64_GXX),
             ("C++, g++, DWARF 5", check_cxx, A64_GXX, ["-gdwarf-5"], A64_GXX),
             ("C++, g++, DWARF 4", check_cxx, A64_GXX, ["-gdwarf-4"], A64_GXX),
             ("C++, clang", check_cxx, "clang++", ["--target=aarch64-linux-gnu"], A64_GXX)]
    for title, check, compiler, options, linker in cases:
        missing = next((f"needs {tool}" for tool in (compiler, linker) if not shutil.which(tool)), None)
        with tempfile.TemporaryDirectory() as name:
            where, how = pathlib.Path(name), (compiler, options, linker)
            tap.case(title, missing, lambda c=check, w=where, h=how: c(w, *h))
    missing = None if shutil.which(A64_GCC) else f"needs {A64_GCC}"
    for title, check, lacks in (("Rust", check_rust, None if shutil.which("rustc") else "needs rustc"),
                                ("stripped", check_stripped, missing),
                                ("separate files", check_separate, missing),
                                ("files of units", check_split, missing),
                                *((f"package of units, {name}", lambda folder, o=options, p=packer:
                                   check_package(folder, o, p),
                                   missing if shutil.which(packer) else f"needs {packer}")
                                  for name, options, packer in (
                                      ("DWARF 5", [], "llvm-dwp-14"),
                                      ("DWARF 4", ["-gdwarf-4"], "aarch64-linux-gnu-dwp"))),
                                ("several of one name", check_several, missing)):
        with tempfile.TemporaryDirectory() as name:
            tap.case(title, lacks, lambda c=check, p=pathlib.Path(name): c(p))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
