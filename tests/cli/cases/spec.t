# What is wanted has to be said.
$ coretap spec -q --timing examples/quickstart
! coretap spec: a specification of what? give --timing, and --function or --pair
! Try 'coretap spec --help'.
[2]
$ coretap spec -q --timing --pair "0x80560 0x80568" --margin 0 examples/quickstart
| -- Times from one place to the next, as measured, and 0 % beyond.
| -- Times are cycles: coretap monitor --spec THIS --elf PROGRAM CAPTURE
| define way1_start := onExecuting 0x80560
| define way1_end := onExecuting 0x80568
|
| -- way1: seen 272 times, 1 to 6 cycles
| define way1_min_violation := on way1_end if inPast(way1_start, 1)
| out way1_min_violation
| define way1_max_violation := on way1_end if eventCount(way1_start) > 0 and not inPast(way1_start, 7)
| out way1_max_violation
$ coretap spec -q --timing --pair "0x80560 0x80568" --margin 50% examples/quickstart | tail -n 2
| define way1_max_violation := on way1_end if eventCount(way1_start) > 0 and not inPast(way1_start, 10)
| out way1_max_violation
$ coretap spec -q --timing --pair "0x80560 0x80568" --margin 5%% examples/quickstart
! coretap spec: --margin 5%%: is not a number from 0 to 1000, with or without %
! Try 'coretap spec --help'.
[2]
$ coretap spec -q --timing --pair "0x80560 0x80568" --margin 1001 examples/quickstart
! coretap spec: --margin 1001: is not a number from 0 to 1000, with or without %
! Try 'coretap spec --help'.
[2]
