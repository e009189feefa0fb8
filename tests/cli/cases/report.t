# What is wrong with a command line.
$ coretap report --bounds x examples/quickstart
! coretap report: --bounds works only with --entry; add that, or leave it out
! Try 'coretap report --help'.
[2]
$ coretap report --config examples/quickstart -
! coretap report: the capture is read more than once, so it cannot come from standard input; save it to a file
! Try 'coretap report --help'.
[2]
$ coretap report --entry main examples/quickstart
! coretap: main: no program has a function of that name with code, or several have one; give the name as 'coretap graph' lists it, or name the program with --elf
[2]
$ coretap report examples/quickstart
! coretap: examples/quickstart: the capture names no program file; functions and lines are not known; name the program with --elf
[2]

# A saved result of a kind that has no section.
$ coretap report tests/fuzz/corpus/saved/counts
! coretap: tests/fuzz/corpus/saved/counts: a report has no section for results of this kind; name a capture, or a file that 'coretap cover', 'coretap timing' or 'coretap profile' wrote with --format data, or 'coretap merge' made of these
[2]
