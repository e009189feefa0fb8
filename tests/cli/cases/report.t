# What is wrong with a command line.
$ coretap report --bounds x examples/quickstart
! coretap report: --bounds goes with --entry
! Try 'coretap report --help'.
[2]
$ coretap report --config examples/quickstart -
! coretap report: the capture is opened more than once, so it cannot come from standard input; save it to a file
! Try 'coretap report --help'.
[2]
$ coretap report --entry main examples/quickstart
! coretap: main: no program has code of a function of that name, or several have; give the name as 'coretap graph' lists it, or name the program with --elf
[2]
$ coretap report examples/quickstart
! coretap: examples/quickstart: names no ELF file, so nothing is known of its functions and lines; name the program with --elf
[2]

# A saved result of a kind that has no section.
$ coretap report tests/fuzz/corpus/saved/counts
! coretap: tests/fuzz/corpus/saved/counts: a report has no section for what this file tells; in the place of a capture it takes what 'coretap cover', 'coretap timing' and 'coretap profile' write with --format data, and what 'coretap merge' makes of these
[2]
