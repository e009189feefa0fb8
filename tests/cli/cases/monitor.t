# Specifications along a trace: what is asked for wrongly is said before anything is decoded.
$ coretap monitor examples/quickstart
! coretap monitor: --spec FILE is missing; it names the specification to check
! Try 'coretap monitor --help'.
[2]
$ coretap monitor --spec examples/monitor/structure.tessla examples/quickstart
! coretap: examples/monitor/structure.tessla:3:17: error: watchpoint 'structure.c:10': no program has debug information with code for this file at or after this line; compile it with -g and name it with --elf
!     3 | define taken := codeLine structure.c:10
!       |                 ^^^^^^^^^^^^^^^^^^^^^^^
[2]
$ coretap monitor --spec examples/monitor/timing.tessla examples/quickstart
! examples/monitor/timing.tessla:7:61: error: Time literal without a base unit; give the unit of the timestamps with --time-unit
!     7 | define error := triggerCalls implies not inPast(firstCalls, 2us)
!       |                                                             ^^^
[2]
$ coretap monitor --spec examples/monitor/timing-stream.tessla -u us examples/quickstart
! coretap: examples/monitor/timing-stream.tessla:3:4: error: input firstCalls: nothing in the trace feeds it, so it would never have an event; bind it to a place
!     3 | in firstCalls: Events[Unit]
!       |    ^^^^^^^^^^
[2]
$ coretap monitor --spec examples/monitor/timing-stream.tessla -u us --bind nobody=0x80500 examples/quickstart
! coretap: examples/monitor/timing-stream.tessla:3:4: error: input firstCalls: nothing in the trace feeds it, so it would never have an event; bind it to a place
!     3 | in firstCalls: Events[Unit]
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
! coretap monitor: --time-unit h: this unit cannot be used with --frequency; use fs, ps, ns, us, ms or s
! Try 'coretap monitor --help'.
[2]
$ coretap monitor --spec examples/monitor/timing-stream.tessla -u us --bind firstCalls -q examples/quickstart
! coretap monitor: --bind: 'firstCalls' is not NAME=PLACE
! Try 'coretap monitor --help'.
[2]
$ coretap monitor --spec examples/monitor/timing-stream.tessla -u us --bind firstCalls=0x80500 --bind triggerCalls=0x8057c --violation nothing -q examples/quickstart
! coretap: output nothing: no specification has an output with this name that could be a violation; choose one of their out statements
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
! coretap: examples/monitor/timing-stream.tessla: no machine code could be made, because libgccjit is missing or lacks memory, or the specification is too large; it runs as bytecode, which is slower
! coretap: examples/quickstart: 12 violations, 0 of them uncertain, in 12 results
$ coretap monitor --engine fast --spec examples/monitor/timing-stream.tessla examples/quickstart
! coretap monitor: --engine: 'fast' is not one of bytecode, native, background
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
$ for n in $(seq 1025); do printf 'in e: Events[Unit]\ndef n%d = count(e)\nout n%d\n' $n $n >$T/s$n.tessla; done; tail -c +2 tests/fuzz/corpus/elf/aarch64 >$T/p; coretap monitor $(seq -f "--spec $T/s%g.tessla" 1024) --elf $T/p --bind e=exception --all --quiet --per-core examples/quickstart | grep -c 's[0-9]*.tessla: n[0-9]* = 1 '
| 2048
$ coretap monitor $(seq -f "--spec $T/s%g.tessla" 1025) --elf $T/p --bind e=exception examples/quickstart
! coretap monitor: --spec: the option can be given at most 1024 times; give fewer
! Try 'coretap monitor --help'.
[2]
# The sources of a capture are one run, if they have a clock in common: not cycles, which each counts by itself.
$ coretap monitor --spec examples/monitor/timing-stream.tessla -u us --bind firstCalls=0x80500 --bind triggerCalls=0x8057c -q -a -n 1 examples/quickstart | head -30
| 1: error = false, uncertain at 0x8057c on cpu_0
|     which came first is not known: 0x8057c at 0x8057c on cpu_0, or 0x80500 at 0x80500 on cpu_1
| 1: error = true, violation, uncertain at 0x8057c on cpu_0
|     which came first is not known: 0x8057c at 0x8057c on cpu_0, or 0x80500 at 0x80500 on cpu_1
|     0: 0x80500 at 0x80500 on cpu_0
| 3: error = false, uncertain at 0x8057c on cpu_1
|     which came first is not known: 0x8057c at 0x8057c on cpu_0, or 0x80500 at 0x80500 on cpu_1
| 3: error = true, violation, uncertain at 0x8057c on cpu_1
|     which came first is not known: 0x8057c at 0x8057c on cpu_0, or 0x80500 at 0x80500 on cpu_1
|     2: 0x80500 at 0x80500 on cpu_1
| 4: error = true, violation, uncertain at 0x8057c on cpu_1
|     which came first is not known: 0x80500 at 0x80500 on cpu_0, or 0x80500 at 0x80500 on cpu_1
|     3: 0x8057c at 0x8057c on cpu_1
| 5: error = true, violation, uncertain at 0x8057c on cpu_1
|     which came first is not known: 0x80500 at 0x80500 on cpu_0, or 0x80500 at 0x80500 on cpu_1
|     4: 0x8057c at 0x8057c on cpu_1
| 6: error = true, violation, uncertain at 0x8057c on cpu_1
|     which came first is not known: 0x80500 at 0x80500 on cpu_0, or 0x80500 at 0x80500 on cpu_1
|     5: 0x8057c at 0x8057c on cpu_1
| 7: error = true, violation, uncertain at 0x8057c on cpu_1
|     which came first is not known: 0x80500 at 0x80500 on cpu_0, or 0x80500 at 0x80500 on cpu_1
|     6: 0x8057c at 0x8057c on cpu_1
| 8: error = true, violation, uncertain at 0x8057c on cpu_1
|     which came first is not known: 0x80500 at 0x80500 on cpu_0, or 0x80500 at 0x80500 on cpu_1
|     7: 0x8057c at 0x8057c on cpu_1
| 16777267: error = true, violation, uncertain at 0x8057c on cpu_0
|     which came first is not known: 0x8057c at 0x8057c on cpu_1, or 0x8057c at 0x8057c on cpu_0
|     8: 0x8057c at 0x8057c on cpu_1
| 16777302: error = true, violation, uncertain at 0x8057c on cpu_0
|     which came first is not known: 0x80500 at 0x80500 on cpu_1, or 0x8057c at 0x8057c on cpu_0
$ coretap monitor --spec examples/monitor/timing-stream.tessla -u us --bind firstCalls=0x80500 --bind triggerCalls=0x8057c -q -a --clock cycles examples/quickstart
! coretap: examples/quickstart: --clock cycles cannot order the events of 2 sources, because each counts its own cycles; leave it out, or check each source alone with --per-core
[2]
$ coretap monitor --spec examples/monitor/timing-stream.tessla -u us --bind firstCalls=0x80500@cpu_9 --bind triggerCalls=0x8057c -q -a examples/quickstart
! coretap: examples/monitor/timing-stream.tessla:3:4: error: place '0x80500@cpu_9': the run has no core cpu_9, so nothing reaches this place; choose one of cpu_0, cpu_1 ('coretap info' lists them)
!     3 | in firstCalls: Events[Unit]
!       |    ^^^^^^^^^^
[2]
$ coretap monitor --spec examples/monitor/timing-stream.tessla -u us --bind firstCalls=0x80500@each --bind triggerCalls=0x8057c@cpu_0 -q -a examples/quickstart | head -12
| 1: error@cpu_0 = false at 0x8057c on cpu_0
| 16777267: error@cpu_0 = true, violation at 0x8057c on cpu_0
| 16777302: error@cpu_0 = true, violation at 0x8057c on cpu_0
| 16777347: error@cpu_0 = true, violation at 0x8057c on cpu_0
| 16777393: error@cpu_0 = true, violation at 0x8057c on cpu_0
| 16777437: error@cpu_0 = true, violation at 0x8057c on cpu_0
| 16777463: error@cpu_0 = true, violation at 0x8057c on cpu_0
| 16777500: error@cpu_0 = true, violation at 0x8057c on cpu_0
| 16777541: error@cpu_0 = true, violation at 0x8057c on cpu_0
| 16777583: error@cpu_0 = true, violation at 0x8057c on cpu_0
| 16777623: error@cpu_0 = true, violation at 0x8057c on cpu_0
| 0: error@cpu_1 = true, violation, uncertain at 0x8057c on cpu_0
$ coretap monitor --spec examples/monitor/timing-stream.tessla -u us --bind firstCalls=0x80500@each --bind triggerCalls=0x8057c@each --format sums examples/quickstart
| timing-stream.tessla@cpu_0: error: 12 events, 11 violations, 0 of them uncertain
|     1 streams: 1 violated
|     true 11, false 1
|     first in examples/quickstart, ETB_0, ID 10, at 16777267: true at 0x8057c
| timing-stream.tessla@cpu_1: error: 40 events, 39 violations, 0 of them uncertain
|     1 streams: 1 violated
|     true 39, false 1
|     first in examples/quickstart, ETB_0, ID 11, at 2: true at 0x8057c
[1]
$ coretap monitor --spec examples/monitor/timing-stream.tessla -u us --bind firstCalls=itm:1@each --bind triggerCalls=0x8057c -q -a examples/quickstart
! coretap: examples/monitor/timing-stream.tessla:3:4: error: place 'itm:1': belongs to an ITM, but the capture has none with trace, so nothing feeds the input; the capture has etmv4i, ete
!     3 | in firstCalls: Events[Unit]
!       |    ^^^^^^^^^^
[2]
$ coretap monitor --spec examples/monitor/timing-stream.tessla -u us --bind firstCalls=0x80500@cpu_9 --bind triggerCalls=0x8057c -q -a --per-core examples/quickstart
! coretap: examples/monitor/timing-stream.tessla:3:4: error: place '0x80500@cpu_9': the run has no core cpu_9, so nothing reaches this place; with --per-core each run has only one source: omit the core, and choose the source with --id or --buffer
!     3 | in firstCalls: Events[Unit]
!       |    ^^^^^^^^^^
[2]
$ printf 'in f: Events[Unit]\nin g: Events[Unit]\nout count(f) as fs\nout count(g) as gs\ndef early_error = count(g) > count(f)\nout early_error\n' > $T/both.tessla
$ coretap monitor --spec $T/both.tessla --bind f=0x80500 --bind g=0x8057c --format sums examples/quickstart
| both.tessla: early_error: 58 events, 54 violations, 6 of them uncertain
|     1 streams: 1 violated
|     true 54, false 4
|     first in examples/quickstart, ETB_0, ID 10, at 0: true, uncertain at 0x80500
| both.tessla: fs: 2 events
|     1 streams
|     2 numbers, 1 to 2, sum 3, mean 1.500
| both.tessla: gs: 53 events
|     1 streams
|     53 numbers, 0 to 52, sum 1378, mean 26.000
[1]
# What specifications said of several captures adds up, and is saved.
$ printf 'in f: Events[Unit]\nin g: Events[Unit]\ndef apart = time(g) - time(f)\ndef slow_error = apart > 1000\nout apart\nout slow_error\n' > $T/sums.tessla
$ coretap monitor --spec $T/sums.tessla --bind f=0x80500 --bind g=0x8057c --violation apart=0x10 examples/quickstart
! coretap: output apart: can never have the value '0x10', so nothing would be a violation; give a value of its type (an Int in decimal digits)
[2]
$ coretap monitor --spec $T/sums.tessla --bind f=0x80500 --bind g=0x8057c --violation apart=07 --format sums examples/quickstart
! coretap: output apart: can never have the value '07', so nothing would be a violation; give a value of its type (an Int in decimal digits)
[2]
$ coretap monitor -q --spec $T/sums.tessla --bind f=0x80500 --bind g=0x8057c --violation apart=-5 --id 10 examples/quickstart
| 1002: slow_error = true, violation at 0x8057c
| 1161: slow_error = true, violation at 0x8057c
| 1321: slow_error = true, violation at 0x8057c
| 1482: slow_error = true, violation at 0x8057c
| 1635: slow_error = true, violation at 0x8057c
| 1810: slow_error = true, violation at 0x8057c
[1]
$ coretap monitor --spec $T/sums.tessla --bind f=0x80500 --bind g=0x8057c --bind f=0x80504 examples/quickstart
! coretap monitor: --bind: f is named twice; only one place can be used; leave one out
! Try 'coretap monitor --help'.
[2]
$ coretap monitor --spec $T/sums.tessla --bind f=0x80500 --bind g=0x8057c --violation apart --violation apart=1 examples/quickstart
! coretap monitor: --violation: apart is named twice; only one place can be used; leave one out
! Try 'coretap monitor --help'.
[2]
$ printf 'in f: Events[Unit]\ndef n = count(f)\n' > $T/silent.tessla; coretap monitor --spec $T/silent.tessla --bind f=0x80500 examples/quickstart
! coretap: $T/silent.tessla: the specification has no outputs, so nothing would be checked; add out statements
[2]
$ coretap monitor --spec $T/sums.tessla --bind f=0x80500 --bind g=0x8057c --format sums --per-core examples/quickstart
| sums.tessla: apart: 52 events
|     2 streams
|     52 numbers, 1 to 1810, sum 11998, mean 230.731
| sums.tessla: slow_error: 52 events, 6 violations, 0 of them uncertain
|     2 streams: 1 violated, 1 satisfied
|     true 6, false 46
|     first in examples/quickstart, ETB_0, ID 10, at 1002: true at 0x8057c
[1]
$ coretap monitor -q --spec $T/sums.tessla --bind f=0x80500 --bind g=0x8057c --format data --per-core -o $T/sums.data examples/quickstart
[1]
$ tail -n +4 $T/sums.data | head -12
| spec 872725dae731aefc sums.tessla
| output apart
| type int
| events 52 0 0
| streams 2 0 0 0 0 0
| range 52 1 1810
| total 0 2ede 0 0
| output slow_error
| type bool
| events 52 6 0
| streams 2 0 1 0 0 1
| values 0 6 46
$ coretap monitor -q --spec $T/sums.tessla --bind f=0x80500 --bind g=0x8057c --format sums --per-core $T/sums.data examples/quickstart
| sums.tessla: apart: 104 events
|     4 streams
|     104 numbers, 1 to 1810, sum 23996, mean 230.731
| sums.tessla: slow_error: 104 events, 12 violations, 0 of them uncertain
|     4 streams: 2 violated, 2 satisfied
|     true 12, false 92
|     first in examples/quickstart, ETB_0, ID 10, at 1002: true at 0x8057c
! coretap: warning: monitors: examples/quickstart: this was added more than once, so its counts are multiplied; omit the repetition, unless these are different captures with the same name
[1]
$ coretap monitor --format sums $T/sums.data
| sums.tessla: apart: 52 events
|     2 streams
|     52 numbers, 1 to 1810, sum 11998, mean 230.731
| sums.tessla: slow_error: 52 events, 6 violations, 0 of them uncertain
|     2 streams: 1 violated, 1 satisfied
|     true 6, false 46
|     first in examples/quickstart, ETB_0, ID 10, at 1002: true at 0x8057c
[1]
$ coretap merge $T/sums.data $T/sums.data 2>&1 | grep -c 'streams 4'
| 2
$ coretap monitor --format sums examples/quickstart
! coretap monitor: --spec FILE is missing; it names the specification to check
! Try 'coretap monitor --help'.
[2]
$ coretap monitor --spec $T/sums.tessla examples/quickstart examples/quickstart
! coretap: examples/quickstart, examples/quickstart: both have trace of cpu_0, so they cannot be parts of the same run; check each capture alone with --captures apart
[2]
$ coretap monitor --spec $T/sums.tessla $T/sums.data
! coretap monitor: --format text and jsonl print the results of captures, but a file contains only sums; choose --format sums or data
! Try 'coretap monitor --help'.
[2]
$ coretap monitor --spec $T/sums.tessla --history 2 --format sums examples/quickstart
! coretap monitor: --history works only with --format text and jsonl, because sums have no single events; choose one of these, or leave --history out
! Try 'coretap monitor --help'.
[2]
$ coretap monitor --spec $T/sums.tessla --live 0 --format sums examples/quickstart
! coretap monitor: --live cannot be used with --format sums and data, which need captures that end; choose another format
! Try 'coretap monitor --help'.
[2]
$ coretap monitor --spec $T/sums.tessla --live 0 examples/quickstart examples/quickstart
! coretap monitor: --live accepts only one input; name one, or leave --live out
! Try 'coretap monitor --help'.
[2]
$ coretap monitor --spec $T/sums.tessla --format sums examples/quickstart
! coretap: $T/sums.tessla:1:4: error: input f: nothing in the trace feeds it, so it would never have an event; bind it to a place
!     1 | in f: Events[Unit]
!       |    ^
[2]
$ coretap monitor --spec $T/sums.tessla --bind f=0x80500 --bind g=0x8057c --violation fast --format sums examples/quickstart
! coretap: output fast: no specification has an output with this name that could be a violation; choose one of their out statements
[2]
$ coretap monitor --spec $T/sums.tessla --spec $T/sums.tessla --bind f=0x80500 --bind g=0x8057c --format sums examples/quickstart
! coretap: $T/sums.tessla: the specification with this name and text was already given, so it would count twice; give it once
[2]
$ coretap monitor --spec $T/sums.tessla --bind f=0x80500 --bind g=0x8057c --format sums --core 7 examples/quickstart
! coretap: examples/quickstart: the capture has no trace of core '7'; nothing is decoded; choose one of its cores: cpu_0, cpu_1
[2]
$ coretap monitor --format sums --from 1insn $T/sums.data
! coretap monitor: --from cannot be applied: saved results are the sums of whole captures
! Try 'coretap monitor --help'.
[2]
$ sed 's/^events 52/events 53/' $T/sums.data > $T/changed.data; coretap monitor --format sums $T/changed.data
! coretap: $T/changed.data:21: the checksum does not match, because the file was changed after it was written; the file was not loaded; write it again with 'coretap monitor --format data'
[2]
$ coretap merge --kind monitors examples/quickstart
! coretap merge: examples/quickstart: 'merge' has no option that says which specifications to check on a capture; make a file from the capture with 'coretap monitor --spec FILE --format data', and merge that file
! Try 'coretap merge --help'.
[2]
$ coretap merge -q $T/sums.data tests/fuzz/corpus/saved/counts
! coretap: tests/fuzz/corpus/saved/counts:1: this is not a monitors file, because its first line is not 'coretap-monitors 1'; the file was not loaded; write it again with 'coretap monitor --format data'
[2]
# A specification that fails in a stream has said what it said before; the others go on.
$ printf 'in f: Events[Unit]\ndef n = count(f)\ndef bad = 100 / (n - 1)\nout bad\n' > $T/failing.tessla
$ coretap monitor --spec $T/failing.tessla --spec $T/sums.tessla --bind f=0x80500 --bind g=0x8057c --format sums --per-core examples/quickstart
| failing.tessla: bad: 0 events
|     2 streams; in 2 the specification failed
| sums.tessla: apart: 52 events
|     2 streams
|     52 numbers, 1 to 1810, sum 11998, mean 230.731
| sums.tessla: slow_error: 52 events, 6 violations, 0 of them uncertain
|     2 streams: 1 violated, 1 satisfied
|     true 6, false 46
|     first in examples/quickstart, ETB_0, ID 10, at 1002: true at 0x8057c
! coretap: warning: $T/failing.tessla: Division by zero (t = 0) in 'bad' ($T/failing.tessla:3:5); the specification takes no more events of the stream
[1]
# Where no output can be a violation nothing is checked, which is not the same as no violation.
$ printf 'in f: Events[Unit]\nout count(f) as n\n' > $T/number.tessla; coretap monitor --spec $T/number.tessla --bind f=0x80500 --id 10 examples/quickstart
! coretap: examples/quickstart: none of 1 results could be a violation; nothing was checked; add a SALT formula, a Bool output or a Unit output with error in its name, or name an output with --violation; 'coretap monitor --all' prints all results
[1]
$ coretap monitor --spec $T/number.tessla --bind f=0x80500 --id 10 -a examples/quickstart | tail -1
| 0: n = 1 at 0x80500
! coretap: examples/quickstart: none of 1 results could be a violation; nothing was checked; add a SALT formula, a Bool output or a Unit output with error in its name, or name an output with --violation
$ coretap monitor --spec $T/number.tessla --bind f=0x80500 --id 10 --violation n=77 examples/quickstart
! coretap: examples/quickstart: no violation in 1 result
$ coretap monitor --spec $T/number.tessla --bind f=0x80500 --id 10 -q examples/quickstart
! coretap: examples/quickstart: none of 1 results could be a violation; nothing was checked; add a SALT formula, a Bool output or a Unit output with error in its name, or name an output with --violation; 'coretap monitor --all' prints all results
[1]
