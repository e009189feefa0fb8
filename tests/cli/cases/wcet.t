# What is wrong with a command line.
$ coretap wcet examples/quickstart
! coretap wcet: --entry FUNCTION is missing; it names the function to bound
! Try 'coretap wcet --help'.
[2]
$ coretap wcet --entry main examples/quickstart
! coretap: main: no program has a function of that name with code, or several have one; give the name as 'coretap graph' lists it, or name the program with --elf
[2]
$ coretap wcet --entry firmware.bin+0x4 examples/quickstart
! coretap: firmware.bin+0x4: no function begins at this address; give --entry a function that 'coretap graph' lists, declare it as a function with --targets, or name the program with --elf
[2]
$ coretap wcet --entry main --quantile 2 examples/quickstart
! coretap wcet: --quantile: '2' is not a number above 0 and up to 1
! Try 'coretap wcet --help'.
[2]
$ coretap wcet --entry main --config examples/quickstart -
! coretap wcet: the trace is read twice, so it cannot come from standard input; save it to a file
! Try 'coretap wcet --help'.
[2]
