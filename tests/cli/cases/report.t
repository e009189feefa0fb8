# What is wrong with a command line.
$ coretap report --bounds x examples/quickstart
! coretap report: --bounds goes with --entry
! Try 'coretap report --help'.
[2]
$ coretap report --config examples/quickstart -
! coretap report: the capture is opened more than once, so it cannot come from standard input; save it to a file
! Try 'coretap report --help'.
[2]
$ printf "coretap-coverage 1\n" > $T/counts
$ coretap report $T/counts
! coretap report: a saved file has counts alone; the report needs a capture, to whose coverage it adds those of coverage files
! Try 'coretap report --help'.
[2]
$ coretap report --entry main examples/quickstart
! coretap: main: no program has code of a function of that name; name the program with --elf; 'coretap graph' lists its functions
[2]
$ coretap report examples/quickstart
! coretap: examples/quickstart: names no ELF file, so nothing is known of its functions and lines; name the program with --elf
[2]
