# What is wanted has to be said.
$ coretap spec -q examples/quickstart
! coretap spec: --timing is missing; it selects what to specify
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
! coretap spec: --margin 5%%: this is not a number from 0 to 1000, with or without %
! Try 'coretap spec --help'.
[2]
$ coretap spec -q --timing --pair "0x80560 0x80568" --margin 1001 examples/quickstart
! coretap spec: --margin 1001: this is not a number from 0 to 1000, with or without %
! Try 'coretap spec --help'.
[2]
# Without --function and --pair: all functions that ran, for which trace is read twice.
$ coretap spec -q --timing -
! coretap spec: the trace is read twice to find its functions, so it cannot come from standard input; save it to a file, or name the functions with --function
! Try 'coretap spec --help'.
[2]
$ coretap spec -q --timing --match 'x*' --function main examples/quickstart
! coretap spec: --match and --most select from all functions; leave them out, or leave out --function and --pair
! Try 'coretap spec --help'.
[2]
$ coretap spec -q --timing examples/quickstart
! coretap: examples/quickstart: the specification is empty although 4610 instructions ran, in firmware.bin: no function ran from call to return with cycle counts; name the program with --elf, and record with cycle counts
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
! coretap spec: tests/fuzz/corpus/saved/all: a file of times excludes the time of exceptions and other threads, and does not record the order of starts and ends; a specification includes that time, so its own captures could violate bounds from the file; name the captures from which it was made
! Try 'coretap spec --help'.
[2]
$ coretap spec --timing --function main tests/fuzz/corpus/saved/counts
! coretap spec: tests/fuzz/corpus/saved/counts: a saved file has only sums, but a specification needs the times between starts and ends; name the captures from which it was made
! Try 'coretap spec --help'.
[2]

# What was seen once.
$ coretap spec -q --id 10 --timing --pair "0x80500 0x80534" examples/quickstart | grep seen
| -- way1: seen 1 time, 1890 to 1890 cycles
