# What is wrong with a command line, and what the text looks like.
$ coretap graph
! coretap graph: --elf FILE is missing; it names the program
! Try 'coretap graph --help'.
[2]
$ coretap graph --elf README.md --id 10
! coretap graph: --id applies to a capture, but none is given; name one with --learn CAPTURE
! Try 'coretap graph --help'.
[2]
$ coretap graph --elf README.md --strict --threads 2
! coretap graph: --strict applies to a capture, but none is given; name one with --learn CAPTURE
! Try 'coretap graph --help'.
[2]
$ coretap graph --elf README.md --threads 2
! coretap graph: --threads applies to a capture, but none is given; name one with --learn CAPTURE
! Try 'coretap graph --help'.
[2]
$ coretap graph --elf README.md -f learnt
! coretap graph: --format learnt applies to a capture, but none is given; name one with --learn CAPTURE
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
$ printf ':0400000001020304F2\n:04000000010203\n' >$T/a.hex; coretap graph --elf $T/a.hex
! coretap: $T/a.hex: line 2 is damaged: it is not a record, or its checksum is wrong; the image was not added; copy the file again
[2]
$ printf ':0400000001020304F2\n:0400000001020304F2\n:00000001FF\n' >$T/a.hex; coretap graph --elf $T/a.hex
! coretap: $T/a.hex: the file gives the byte at 0x0 twice; the image was not added; if the file contains two images, split it
[2]
$ cp tests/fuzz/corpus/elf/aarch64 $T/p; echo noreturn >$T/t; tail -c +2 $T/p >$T/q; coretap graph --elf $T/q --targets $T/t
! coretap: $T/t:1: the line has an unknown form: 'noreturn'; write the line as "PLACE: PLACE…", "noreturn FUNCTION" or "function PLACE" (docs/analysis.md)
[2]
$ echo 'a b: c' >$T/t; coretap graph --elf $T/q --targets $T/t
! coretap: $T/t:1: exactly one place must be before the ':': 'a'; write the line as "PLACE: PLACE…", "noreturn FUNCTION" or "function PLACE" (docs/analysis.md)
[2]
