# What is wanted has to be said.
$ coretap spec -q examples/quickstart
! coretap spec: a specification of what? give --timing
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
# Without --function and --pair: all functions that ran, for which trace is read twice.
$ coretap spec -q --timing -
! coretap spec: trace is read twice to find the functions in it, so it cannot come from standard input; name them with --function
! Try 'coretap spec --help'.
[2]
$ coretap spec -q --timing --match 'x*' --function main examples/quickstart
! coretap spec: --match and --most are for all functions, without --function and --pair
! Try 'coretap spec --help'.
[2]
$ coretap spec -q --timing examples/quickstart
! coretap: examples/quickstart: the specification is empty although 4610 instructions ran, in firmware.bin: no function ran from its call to its return with cycles counted; name the program with --elf, and record with cycle counts
[1]
# What is not there is named as it was asked for, not where the specification that measures has it.
$ coretap spec -q --timing --function main examples/quickstart
! coretap: watchpoint 'entry:main': no program has a function with this name; list the functions of a program with 'coretap graph'
[2]
# Several captures: counts add up.
$ coretap spec -q --timing --pair "0x80560 0x80568" examples/quickstart examples/quickstart | grep seen
| -- way1: seen 544 times, 1 to 6 cycles

# Sums have neither the order of starts and ends nor what came in between.
$ coretap spec --timing --function main tests/fuzz/corpus/saved/all
! coretap spec: tests/fuzz/corpus/saved/all: a file of times has runs without what exceptions and other threads took in between, and not the order of starts and ends; a specification bounds the time from the last start before an end with all of that, so bounds from the file could be violated by its own captures; name the captures that it is of
! Try 'coretap spec --help'.
[2]
$ coretap spec --timing --function main tests/fuzz/corpus/saved/counts
! coretap spec: tests/fuzz/corpus/saved/counts: a saved file has sums, not the times from starts to ends; a specification is measured along the trace; name the captures that it is of
! Try 'coretap spec --help'.
[2]

# What was seen once.
$ coretap spec -q --id 10 --timing --pair "0x80500 0x80534" examples/quickstart | grep seen
| -- way1: seen 1 time, 1890 to 1890 cycles
