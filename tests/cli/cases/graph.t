# What is wrong with a command line, and what the text looks like.
$ coretap graph
! coretap graph: which program? give --elf FILE
! Try 'coretap graph --help'.
[2]
$ coretap graph --elf README.md --id 10
! coretap graph: --id: of what? give --learn CAPTURE
! Try 'coretap graph --help'.
[2]
$ coretap graph --elf README.md --strict --threads 2
! coretap graph: --strict: of what? give --learn CAPTURE
! Try 'coretap graph --help'.
[2]
$ coretap graph --elf README.md --threads 2
! coretap graph: --threads: of what? give --learn CAPTURE
! Try 'coretap graph --help'.
[2]
$ coretap graph --elf README.md -f learnt
! coretap graph: --format learnt: of what? give --learn CAPTURE
! Try 'coretap graph --help'.
[2]
$ coretap graph --elf README.md
! coretap: README.md: this is neither an ELF file nor Intel HEX nor S-records; to use a raw memory dump, name it with its address in the .ini file of a raw trace (file =)
[2]
$ coretap graph --elf tests/none
! coretap: tests/none: cannot be opened: No such file or directory
[2]
$ tail -c +2 tests/fuzz/corpus/elf/aarch64 >$T/p; coretap graph --elf $T/p --targets tests/none
! coretap: tests/none: cannot be read: No such file or directory
[2]
