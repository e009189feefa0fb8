# What is wrong with a command line.
$ coretap wcet examples/quickstart
! coretap wcet: of which function? give --entry FUNCTION
! Try 'coretap wcet --help'.
[2]
$ coretap wcet --entry main examples/quickstart
! coretap: main: no program has code of a function of that name, or several have; give the name as 'coretap graph' lists it, or name the program with --elf
[2]
$ coretap wcet --entry firmware.bin+0x4 examples/quickstart
! coretap: firmware.bin+0x4: no function begins there, so that no path does; give --entry one of the functions that 'coretap graph' lists, tell it as a function with --targets, or name the program with --elf
[2]
$ coretap wcet --entry main --quantile 2 examples/quickstart
! coretap wcet: --quantile: '2' is not a number above 0 and up to 1
! Try 'coretap wcet --help'.
[2]
$ coretap wcet --entry main --config examples/quickstart -
! coretap wcet: the trace is read twice, so it cannot come from standard input; save it to a file
! Try 'coretap wcet --help'.
[2]
