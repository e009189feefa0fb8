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
! examples/monitor/timing.tessla:4:61: error: Time literal without a base unit: state the unit of the timestamps (--time-unit)
!     4 | define error := triggerCalls implies not inPast(firstCalls, 2us)
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
| 57: error = true at 0x8057c
| 212: error = true at 0x8057c
| 366: error = true at 0x8057c
| 540: error = true at 0x8057c
| 708: error = true at 0x8057c
| 884: error = true at 0x8057c
| 1002: error = true at 0x8057c
| 1161: error = true at 0x8057c
| 1321: error = true at 0x8057c
| 1482: error = true at 0x8057c
| 1635: error = true at 0x8057c
| 1810: error = true at 0x8057c
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
| 57: error = true at 0x8057c
| 212: error = true at 0x8057c
| 366: error = true at 0x8057c
| 540: error = true at 0x8057c
| 708: error = true at 0x8057c
| 884: error = true at 0x8057c
| 1002: error = true at 0x8057c
| 1161: error = true at 0x8057c
| 1321: error = true at 0x8057c
| 1482: error = true at 0x8057c
| 1635: error = true at 0x8057c
| 1810: error = true at 0x8057c
# Without the library the same comes out.
$ CORETAP_GCCJIT=/nowhere/libgccjit.so coretap monitor --engine native --spec examples/monitor/timing-stream.tessla -u us --bind firstCalls=0x80500 --bind triggerCalls=0x8057c --id 10 -a examples/quickstart | tail -1
| 1810: error = true at 0x8057c
! coretap: examples/monitor/timing-stream.tessla: no machine code (libgccjit is not there, or the specification is too large); bytecode runs
! coretap: examples/quickstart: no violation in 12 results
$ coretap monitor --engine fast --spec examples/monitor/timing-stream.tessla examples/quickstart
! coretap monitor: --engine: 'fast' is not one of bytecode, native
! Try 'coretap monitor --help'.
[2]
