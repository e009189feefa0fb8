# Specifications along a trace: what is asked for wrongly is said before anything is decoded.
$ coretap monitor examples/quickstart
! coretap monitor: monitor what? give --spec FILE
! Try 'coretap monitor --help'.
[2]
$ coretap monitor --spec examples/monitor/structure.tessla examples/quickstart
! coretap: examples/monitor/structure.tessla:2:17: error: watchpoint 'structure.c:10': no program has debug information with code for that file at or behind that line; compile it with -g and name it with --elf
!     2 | define taken := codeLine structure.c:10
!       |                 ^^^^^^^^^^^^^^^^^^^^^^^
[2]
$ coretap monitor --spec examples/monitor/timing.tessla examples/quickstart
! examples/monitor/timing.tessla:5:61: error: Time literal without a base unit: state the unit of the timestamps (--time-unit)
!     5 | define error := triggerCalls implies not inPast(firstCalls, 2us)
!       |                                                             ^^^
[2]
$ coretap monitor --spec examples/monitor/timing-stream.tessla -u us examples/quickstart
! coretap: examples/monitor/timing-stream.tessla:2:4: error: input firstCalls: nothing in the trace feeds it; bind it to a place
!     2 | in firstCalls: Events[Unit]
!       |    ^^^^^^^^^^
[2]
$ coretap monitor --spec examples/monitor/timing-stream.tessla -u us --bind nobody=0x80500 examples/quickstart
! coretap: examples/monitor/timing-stream.tessla:2:4: error: input firstCalls: nothing in the trace feeds it; bind it to a place
!     2 | in firstCalls: Events[Unit]
!       |    ^^^^^^^^^^
[2]
$ coretap monitor --spec examples/monitor/timing-stream.tessla -u us --bind firstCalls=0x80500 --bind triggerCalls=0x8057c --id 10 -q -a examples/quickstart
| 57: error = true, violation at 0x8057c
| 212: error = true, violation at 0x8057c
| 366: error = true, violation at 0x8057c
| 540: error = true, violation at 0x8057c
| 708: error = true, violation at 0x8057c
| 884: error = true, violation at 0x8057c
| 1002: error = true, violation at 0x8057c
| 1161: error = true, violation at 0x8057c
| 1321: error = true, violation at 0x8057c
| 1482: error = true, violation at 0x8057c
| 1635: error = true, violation at 0x8057c
| 1810: error = true, violation at 0x8057c
[1]
$ coretap monitor --spec examples/monitor/timing-stream.tessla -u h --frequency 1000 --bind firstCalls=0x80500 --bind triggerCalls=0x8057c --id 10 -q -a examples/quickstart
! coretap monitor: --time-unit h: with --frequency it is one of fs, ps, ns, us, ms, s
! Try 'coretap monitor --help'.
[2]
$ coretap monitor --spec examples/monitor/timing-stream.tessla -u us --bind firstCalls -q examples/quickstart
! coretap monitor: --bind firstCalls: is not NAME=PLACE
! Try 'coretap monitor --help'.
[2]
$ coretap monitor --spec examples/monitor/timing-stream.tessla -u us --bind firstCalls=0x80500 --bind triggerCalls=0x8057c --violation nothing -q examples/quickstart
! coretap: no specification has an output nothing that could be a violation; look at its out statements
[2]
# libgccjit keeps memory for itself, which the leak checker of sanitized builds would tell.
$ ASAN_OPTIONS=detect_leaks=0 coretap monitor --engine native --spec examples/monitor/timing-stream.tessla -u us --bind firstCalls=0x80500 --bind triggerCalls=0x8057c --id 10 -q -a examples/quickstart
| 57: error = true, violation at 0x8057c
| 212: error = true, violation at 0x8057c
| 366: error = true, violation at 0x8057c
| 540: error = true, violation at 0x8057c
| 708: error = true, violation at 0x8057c
| 884: error = true, violation at 0x8057c
| 1002: error = true, violation at 0x8057c
| 1161: error = true, violation at 0x8057c
| 1321: error = true, violation at 0x8057c
| 1482: error = true, violation at 0x8057c
| 1635: error = true, violation at 0x8057c
| 1810: error = true, violation at 0x8057c
[1]
# Without the library the same comes out.
$ CORETAP_GCCJIT=/nowhere/libgccjit.so coretap monitor --engine native --spec examples/monitor/timing-stream.tessla -u us --bind firstCalls=0x80500 --bind triggerCalls=0x8057c --id 10 -a examples/quickstart | tail -1
| 1810: error = true, violation at 0x8057c
! coretap: examples/monitor/timing-stream.tessla: no machine code (libgccjit is not there or has no memory, or the specification is too large); bytecode runs
! coretap: examples/quickstart: 12 violations, 0 of them uncertain, in 12 results
$ coretap monitor --engine fast --spec examples/monitor/timing-stream.tessla examples/quickstart
! coretap monitor: --engine: 'fast' is not one of bytecode, native
! Try 'coretap monitor --help'.
[2]
# What a Bool says depends on its name: error, violation and names that end so are violations when they are true.
$ printf 'in x: Events[Unit]\ndef yes = const(true, x)\ndef no = const(false, x)\nout yes as error\nout yes as late_error\nout yes as violation\nout yes as max_violation\nout yes as terror\nout yes as error_count\nout yes as ok\nout no as minor_error\nout no as fine\n' > $T/names.tessla
$ coretap monitor --spec $T/names.tessla --bind x=0x80500 --id 10 -q -a examples/quickstart | head -9
| 0: error = true, violation at 0x80500
| 0: late_error = true, violation at 0x80500
| 0: violation = true, violation at 0x80500
| 0: max_violation = true, violation at 0x80500
| 0: terror = true at 0x80500
| 0: error_count = true at 0x80500
| 0: ok = true at 0x80500
| 0: minor_error = false at 0x80500
| 0: fine = false, violation at 0x80500
$ coretap monitor --spec $T/names.tessla --bind x=0x80500 --id 10 -q --violation error=false --violation ok=true examples/quickstart | head -6
| 0: late_error = true, violation at 0x80500
| 0: violation = true, violation at 0x80500
| 0: max_violation = true, violation at 0x80500
| 0: ok = true, violation at 0x80500
| 0: fine = false, violation at 0x80500
$ coretap monitor --spec $T/names.tessla --bind x=0x80500 --id 10 -q --violation error --violation minor_error=true --violation fine=true --violation late_error=none --violation violation=none --violation max_violation=none examples/quickstart | head -2
| 0: error = true, violation at 0x80500
# As many specifications as there may be, beside a program and places.
$ for n in $(seq 257); do printf 'in e: Events[Unit]\ndef n%d = count(e)\nout n%d\n' $n $n >$T/s$n.tessla; done; tail -c +2 tests/fuzz/corpus/elf/aarch64 >$T/p; coretap monitor $(seq -f "--spec $T/s%g.tessla" 256) --elf $T/p --bind e=exception --all --quiet examples/quickstart | grep -c 's[0-9]*.tessla: n[0-9]* = 1 '
| 512
$ coretap monitor $(seq -f "--spec $T/s%g.tessla" 257) --elf $T/p --bind e=exception examples/quickstart
! coretap monitor: --spec: can be given 256 times at most
! Try 'coretap monitor --help'.
[2]
