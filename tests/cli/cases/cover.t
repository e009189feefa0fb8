# Coverage. What needs a compiler and QEMU is in tests/recorded.
$ coretap cover examples/quickstart
! coretap: examples/quickstart: the capture names no program file; functions and lines are not known; name the program with --elf
[2]
$ coretap cover --elf examples/quickstart/firmware.bin examples/quickstart
! coretap: examples/quickstart/firmware.bin: this is neither an ELF file nor Intel HEX nor S-records; to use a raw memory dump, name it with its address in the .ini file of a raw trace (file =)
[2]
$ coretap cover --elf nowhere@xyz examples/quickstart
! coretap cover: --elf nowhere@xyz: the text behind '@' is not a hexadecimal load address; write FILE@HEX
! Try 'coretap cover --help'.
[2]
$ coretap cover nowhere
! coretap: nowhere: cannot be opened: No such file or directory; name a snapshot directory, the .ini file of a raw trace, or a perf.data file
[2]
$ coretap cover --format xml examples/quickstart
! coretap cover: --format: 'xml' is not one of text, lcov, cobertura, json, html, data, sonarqube
! Try 'coretap cover --help'.
[2]

# Coverage files.
$ coretap merge
! coretap merge: FILE is missing
! Try 'coretap merge --help'.
[2]
$ printf 'coretap-coverage 1\nprogram 1000 3000 00ff ./a program\ncontext 2 7 0 0 0\nrun 1000 1008 5\nnot 1004 2\n' > $T/a
$ printf 'coretap-coverage 1\nprogram 1000 3000 00ff elsewhere\ncontext 2 7 0 0 0\nrun 1000 1008 1\ntaken 1004 1000 4\nprogram 0 10 - b\nrun 0 4 1\n' > $T/b
$ coretap merge -q $T/a $T/b
| coretap-coverage 5
| captures 0
| unknown 2
| untold
| program 0 10 - b
| context 0 0 0 0 0
| run 0 4 1
| program 1000 3000 00ff ./a program
| started
| context 2 7 0 0 0
| run 1000 1008 6
| taken 1004 1000 4
| not 1004 2
| end a70cfd676b4377c0
# Files of version 4, whose sum is one over bytes, say the same; those of version 5 have another one.
$ coretap merge -q $T/a $T/b > $T/v5; sed 's/coverage 5/coverage 4/; s/^end.*/end 7b5919deef9831e1/' $T/v5 > $T/v4; coretap merge -q $T/v4 | cmp - $T/v5
$ sed 's/^end.*/end 7b5919deef9831e1/' $T/v5 > $T/bad; coretap merge -q $T/bad 2>&1 | sed 's/.*bad:/bad:/'
| bad:14: the checksum does not match, because the file was changed after it was written; the file was not loaded; write it again with 'coretap cover --format data'
$ coretap merge -q $T/b $T/a
| coretap-coverage 5
| captures 0
| unknown 2
| untold
| program 0 10 - b
| context 0 0 0 0 0
| run 0 4 1
| program 1000 3000 00ff ./a program
| started
| context 2 7 0 0 0
| run 1000 1008 6
| taken 1004 1000 4
| not 1004 2
| end a70cfd676b4377c0
$ printf 'coretap-coverage 2\ncaptures 1\nlost gaps 2\nlost overflows 2\nprogram 0 10 - b\nrun 0 4 1\n' > $T/whole
$ printf 'coretap-coverage 2\ncaptures 2\ndamaged 1\nlost gaps 3\nlost lost_bytes 40\nprogram 0 10 - b\nrun 0 4 1\n' > $T/damaged
$ coretap merge $T/whole $T/damaged > $T/sum
! coretap: coverage of 3 captures, 1 of them damaged; losses: 5 gaps (2 trace unit overflows), 40 bytes that could not be used
$ cat $T/sum
| coretap-coverage 5
| captures 3
| damaged 1
| lost gaps 5
| lost overflows 2
| lost lost_bytes 40
| untold
| program 0 10 - b
| started
| context 0 0 0 0 0
| run 0 4 2
| end e0c4016430f14ce9
$ coretap merge -q $T/b $T/sum | head -8
| coretap-coverage 5
| captures 3
| damaged 1
| unknown 1
| lost gaps 5
| lost overflows 2
| lost lost_bytes 40
| untold
$ coretap merge -q $T/sum $T/sum | coretap merge -q /dev/stdin $T/whole | sed '/program/,$d'
| coretap-coverage 5
| captures 7
| damaged 2
| lost gaps 12
| lost overflows 6
| lost lost_bytes 80
| untold
$ printf 'coretap-coverage 2\nlost 7\n' > $T/bad && coretap merge $T/bad 2>&1 | sed 's/.*bad:/bad:/'
| bad:2: the line is not 'lost KIND N', where KIND is gaps, overflows, contradictions, bad_packets, lost_bytes or no_access; the file was not loaded; write it again with 'coretap cover --format data'
$ printf 'coretap-coverage 2\ncaptures x\n' > $T/bad && coretap merge $T/bad 2>&1 | sed 's/.*bad:/bad:/'
| bad:2: the line is not 'captures N', 'damaged N', 'unknown N' or 'failed N'; the file was not loaded; write it again with 'coretap cover --format data'
$ printf 'coretap-coverage 1\ncaptures 1\n' > $T/bad && coretap merge $T/bad 2>&1 | sed 's/.*bad:/bad:/'
| bad:2: the line begins with none of program, context, run, taken, not; the file was not loaded; write it again with 'coretap cover --format data'
$ printf 'coretap-coverage 3\n' > $T/bad && coretap merge $T/bad 2>&1 | sed 's/.*bad:/bad:/'
| bad:1: the file is truncated: its last line is not 'end'; the file was not loaded; write it again with 'coretap cover --format data'
$ printf 'coretap-coverage 1\nrun 0 4 1\n' > $T/bad && coretap merge $T/bad 2>&1 | sed 's/.*bad:/bad:/'
| bad:2: a count comes before the first 'program'; the file was not loaded; write it again with 'coretap cover --format data'
$ printf 'coretap-coverage 1\nprogram 0 10 - b\nrun 0 x 1\n' > $T/bad && coretap merge $T/a $T/bad 2>&1 | sed 's/.*bad:/bad:/'
| bad:3: the line is not 'run FROM TO N [a32|t32]', 'taken FROM TO N' or 'not FROM N'; the file was not loaded; write it again with 'coretap cover --format data'
$ coretap merge examples/quickstart/snapshot.ini
! coretap: examples/quickstart/snapshot.ini: the capture names no program file; functions and lines are not known; name the program with --elf
[2]
$ coretap merge --kind timing $T/a
! coretap merge: --kind timing: one of the files contains coverage; results of different kinds cannot be added up; leave --kind or that file out
! Try 'coretap merge --help'.
[2]
$ coretap cover $T/a
! coretap: $T/a: 1 of its coverage files have format version 1, which does not record losses; write them again from their captures with 'coretap cover --format data'
! coretap: ./a program: cannot be opened: No such file or directory
[2]

# Profiles.
$ coretap profile examples/quickstart
! coretap: examples/quickstart: the capture names no program file; functions and lines are not known; name the program with --elf
[2]
$ coretap profile $T/a
! coretap: $T/a:1: this is not a stacks file, because its first line is not 'coretap-stacks 3'; the file was not loaded; write it again with 'coretap profile --format data'
[2]
$ coretap profile --format callgrind $T/a
! coretap: $T/a:1: this is not a stacks file, because its first line is not 'coretap-stacks 3'; the file was not loaded; write it again with 'coretap profile --format data'
[2]
$ coretap profile --format chrome examples/quickstart $T/a
! coretap profile: --format chrome: $T/a has only sums, which do not record when functions ran; name the captures from which it was made
! Try 'coretap profile --help'.
[2]
$ coretap profile --format folded --spec x.tessla examples/quickstart
! coretap profile: --at, --list and --spec work only with --format perfetto; choose that format, or leave them out
! Try 'coretap profile --help'.
[2]
$ cat examples/quickstart/trace.bin | coretap profile --format perfetto --spec x.tessla -
! coretap profile: --spec reads the capture twice, so it cannot come from standard input; save it to a file
! Try 'coretap profile --help'.
[2]
$ coretap profile --format perfetto --spec nothing.tessla examples/quickstart
! coretap: nothing.tessla: cannot be read: No such file or directory
[2]
# Files of version 1 have no calls, and sums that they are in have not, either.
$ printf 'coretap-stacks 1\ncaptures 1\nprogram 0 10 00ff prog\nstarted\nrenewed 0\nfunction 0 4 f\nplace - 0 0 5 0\nend 85b501eac64d59e1\n' > $T/v1; coretap profile --format folded $T/v1
| f 5
$ coretap profile --format callgrind $T/v1
! coretap: $T/v1: the file has stacks of format version 1, which does not record the callers that --format callgrind needs; write it again from its captures with 'coretap profile --format data'
[2]
$ coretap merge -q $T/v1 | tee $T/v2
| coretap-stacks 3
| captures 1
| program 0 10 00ff prog
| started
| renewed 0
| no-calls
| function 0 4 f
| place - 0 0 5 0
| end 99be0092396e3d4c
$ sed 's/stacks 3/stacks 2/; s/^end.*/end d60e180ec909c763/' $T/v2 > $T/old; coretap merge -q $T/old | cmp - $T/v2
$ coretap profile --format callgrind $T/v2
! coretap: $T/v2: the file has stacks of format version 1, which does not record the callers that --format callgrind needs; write it again from its captures with 'coretap profile --format data'
[2]
# Stacks that grow by calls that never return are not written whole, and are counted whole.
$ awk 'BEGIN { print "coretap-stacks 1\ncaptures 1\nprogram 0 10 00ff prog\nstarted\nrenewed 0\nfunction 0 4 f\nfunction 0 8 g"; for (i = 0; i < 9000; i++) print "place", i ? i - 1 : "-", i == 8999, i != 0, 1, 0; print "end ac6c30d5bdb71f5f" }' > $T/deep; coretap profile --format folded $T/deep | awk '{ n += length($0); sum += $2 } END { print NR, n, sum, substr($1, length($1) - 10) }'
| 9000 56993304 9000 f;f;[...];g
! coretap: $T/deep: 4904 stacks have more than 4096 functions (up to 9000); only their outermost functions and the innermost one are written, with [...] between; calls that never return cause such stacks; --format data has them complete
$ coretap profile --format pprof $T/deep | gunzip -c | grep -a -c -F '[...]'
| 1
! coretap: prog: the program was not found; code that ran in it has no source lines; name the program with --elf
! coretap: $T/deep: 4904 stacks have more than 4096 functions (up to 9000); only their outermost functions and the innermost one are written, with [...] between; calls that never return cause such stacks; --format data has them complete
# As many functions in more stacks that are not deep are written whole.
$ awk 'BEGIN { print "coretap-stacks 1\ncaptures 1\nprogram 0 10 00ff prog\nstarted\nrenewed 0\nfunction 0 4 f\nfunction 0 8 g"; for (i = 0; i < 180000; i++) print "place", (i > 199) ? 199 + int((i - 199) / 2) : i ? i - 1 : "-", i % 2, i != 0, 1, 0; print "end a285a56f0e62017a" }' > $T/wide; coretap profile --format folded $T/wide | tail -n 1 | tr -cd ';' | wc -c
| 217
# Folded stacks that became large say which formats are smaller, and a file does not say whether its captures have context IDs.
$ awk 'BEGIN { for (n = "f"; length(n) < 32768; n = n n); print "coretap-stacks 1\ncaptures 1\nprogram 0 10 00ff prog\nstarted\nrenewed 2\nfunction 0 4", n; for (i = 0; i < 150; i++) print "place", i ? i - 1 : "-", 0, i != 0, 1, 0; print "end 94f521a3a325dda7" }' > $T/large; coretap profile --format folded $T/large | wc -c
| 371109225
! coretap: the call stack was restarted 2 times: execution after an exception continued in other code than was interrupted, or may have continued in another thread that waited at the same place, or a return led to a place behind no call on the stack, as when a program switches to the stack of a coroutine; stacks after that lack their earlier callers; if the captures of saved files have no context IDs, record with them: each thread then has its own stack
! coretap: $T/large: the folded stacks have 371 MB, because each line names all callers, as deep recursion makes them; --format pprof and callgrind are smaller
$ coretap profile -q --format folded $T/large | wc -c
| 371109225
$ coretap profile --weight time examples/quickstart
! coretap profile: --weight: 'time' is not one of instructions, cycles
! Try 'coretap profile --help'.
[2]
$ coretap profile --format autofdo --weight cycles examples/quickstart
! coretap profile: --weight cannot be applied to --format autofdo; leave it out
! Try 'coretap profile --help'.
[2]
$ coretap profile --format perfetto --weight cycles examples/quickstart
! coretap profile: --weight cannot be applied to --format perfetto, which shows the time of the timestamps; leave it out
! Try 'coretap profile --help'.
[2]
$ coretap cover --format lcov --contexts examples/quickstart
! coretap cover: --contexts works only with --format text and json; format lcov has only the sums of all contexts; choose another format, or leave --contexts out
! Try 'coretap cover --help'.
[2]
$ coretap cover --format json --functions examples/quickstart
! coretap cover: --functions works only with --format text; choose that format, or leave --functions out
! Try 'coretap cover --help'.
[2]

# Of captures the part that is asked for is added up; of saved files there are sums alone.
$ coretap merge --quiet --kind timing --core cpu_0 --from 500cyc --to 520cyc examples/quickstart | sed -n '1,3p'
| coretap-timing 5
| captures 1
| capture examples/quickstart (--from 500cyc --to 520cyc --core cpu_0)
$ coretap merge --quiet --kind events --core cpu_0 examples/quickstart | sed -n '1,3p'
| coretap-events 1
| captures 1
| capture examples/quickstart (--core cpu_0)
$ coretap merge --kind events --from 5cyc examples/quickstart
! coretap merge: --from cannot be applied: events and totals are counted for whole streams; leave the option out
! Try 'coretap merge --help'.
[2]
$ coretap merge --from 5cyc $T/a
! coretap merge: --from cannot be applied: a saved file has only sums, of which no part can be selected
! Try 'coretap merge --help'.
[2]

A weight: all counts that many times, up to 2^64 - 1; files and captures are counted as they are.

$ printf 'coretap-coverage 1\nprogram 1000 2000 00ff ./a\nrun 1000 1008 5\nnot 1004 2\n' > $T/w; coretap merge -q --weight 3 $T/w | grep -E '^(run|not|unknown)'
| unknown 1
| run 1000 1008 15
| not 1004 6
$ coretap merge -q --weight 9000000000000000000 $T/w | grep -E '^(run|not)'
| run 1000 1008 18446744073709551615
| not 1004 18000000000000000000
$ coretap merge -q --weight 0 $T/w 2>&1 | head -1
| coretap merge: --weight: '0' is not a number from 1 to 18446744073709551615

# A trace in which no instruction ran.
$ printf ':0400000000BF704786\n:00000001FF\n' > $T/code.hex
$ coretap cover --elf $T/code.hex examples/raw/itm.ini
! coretap: examples/raw/itm.ini: the coverage is empty, because its trace contains no executed instructions; 'coretap stats' shows what it contains
[1]
$ coretap cover -f html -o $T/page --elf $T/code.hex examples/raw/itm.ini
! coretap: examples/raw/itm.ini: the coverage is empty, because its trace contains no executed instructions; 'coretap stats' shows what it contains
! coretap: $T/page: the file is not written, because the result is empty
[1]
$ coretap cover -f data -o $T/sums --elf $T/code.hex examples/raw/itm.ini
! coretap: examples/raw/itm.ini: the coverage is empty, because its trace contains no executed instructions; 'coretap stats' shows what it contains
[1]
$ coretap cover -q -f data -o $T/sums --elf $T/code.hex examples/raw/itm.ini
! coretap: examples/raw/itm.ini: the coverage is empty, because its trace contains no executed instructions; 'coretap stats' shows what it contains
[1]
$ coretap cover --elf $T/code.hex $T/sums | head -2
| $T/code.hex
|   functions            0 of        0         -
$ coretap report -o $T/page --elf $T/code.hex examples/raw/itm.ini
! coretap: examples/raw/itm.ini: the page's part about executed code is empty, because its trace contains no executed instructions; 'coretap stats' shows what it contains
$ coretap profile -f chrome --elf $T/code.hex examples/raw/itm.ini
! coretap: examples/raw/itm.ini: the profile is empty, because its trace contains no executed instructions; 'coretap stats' shows what it contains
[1]

# Code that ran and is in no program: memory of the capture that has no file of a program.
$ printf ':020000040008F2\n:200500001F2003D5140080D26002138B00900091810180D24901001053000036090200106B\n:00000001FF\n' > $T/part.hex
$ coretap cover --elf $T/part.hex examples/quickstart | head -4
| $T/part.hex
|   functions            1 of        1   100.0 %
|   lines                0 of        0         -
|   instructions         8 of        8   100.0 %
! coretap: examples/quickstart: one of its programs has no symbols, so only code that ran is known; the percentages of functions, instructions and calls are not a coverage; name a file with symbols with --elf or --symdir
! coretap: examples/quickstart: the coverage is incomplete: 4294 of 4610 instructions ran outside the known programs, in 0x80400..0x805ac (4294 instructions); name their program with --elf FILE[@HEX], or see 'coretap list' for code that was generated at run time
$ coretap cover -q --elf $T/part.hex examples/quickstart | head -4
| $T/part.hex
|   functions            1 of        1   100.0 %
|   lines                0 of        0         -
|   instructions         8 of        8   100.0 %
# Formats of source lines say when none is known: a rate of 0 lines would read as 100 %.
$ coretap cover -q -f lcov --elf $T/part.hex examples/quickstart
! coretap: examples/quickstart: the tracefile is empty, because the programs have no source lines, of which its format consists; compile them with -g, or name their debug information with --symdir
[1]
$ coretap cover -q -f cobertura --elf $T/part.hex examples/quickstart
! coretap: examples/quickstart: the Cobertura file is empty, because the programs have no source lines, of which its format consists; compile them with -g, or name their debug information with --symdir
[1]
$ coretap cover -f data -o $T/sums --elf $T/part.hex examples/quickstart
! coretap: examples/quickstart: the coverage is incomplete: 4294 of 4610 instructions ran outside the known programs, in 0x80400..0x805ac (4294 instructions); name their program with --elf FILE[@HEX], or see 'coretap list' for code that was generated at run time
$ sed '/^program/,$d' $T/sums
| coretap-coverage 5
| captures 1
| capture examples/quickstart
| ran 4610
| outside 80400 805ac 4294
$ coretap merge $T/sums $T/sums | sed '/^program/,$d'
| coretap-coverage 5
| captures 2
| capture examples/quickstart
| ran 9220
| outside 80400 805ac 8588
! coretap: warning: coverage: examples/quickstart: this was added more than once, so its counts are multiplied; omit the repetition, unless these are different captures with the same name
! coretap: coverage of 2 captures, 0 of them damaged; losses: none
! coretap: merge: the coverage is incomplete: 8588 of 9220 instructions ran outside the known programs, in 0x80400..0x805ac (8588 instructions); name their program with --elf FILE[@HEX], or see 'coretap list' for code that was generated at run time
! coretap:   examples/quickstart
$ coretap merge -q --weight 5000000000000000 $T/sums | sed '/^program/,$d'
| coretap-coverage 5
| captures 1
| capture examples/quickstart
| ran 18446744073709551615
| outside 80400 805ac 18446744073709551615
$ coretap cover --elf $T/part.hex $T/sums | head -1
| $T/part.hex
! coretap: $T/sums: one of its programs has no symbols, so only code that ran is known; the percentages of functions, instructions and calls are not a coverage; name a file with symbols with --elf or --symdir
! coretap: $T/sums: the coverage is incomplete: 4294 of 4610 instructions ran outside the known programs, in 0x80400..0x805ac (4294 instructions); name their program with --elf FILE[@HEX], or see 'coretap list' for code that was generated at run time
$ coretap cover --context 2a --elf $T/part.hex $T/sums | head -1
| $T/part.hex
! coretap: $T/sums: one of its programs has no symbols, so only code that ran is known; the percentages of functions, instructions and calls are not a coverage; name a file with symbols with --elf or --symdir
! coretap: $T/sums: the coverage is incomplete: 4294 of 4610 instructions of all contexts ran outside the known programs, in 0x80400..0x805ac (4294 instructions); name their program with --elf FILE[@HEX], or see 'coretap list' for code that was generated at run time
$ coretap cover -q -f json --elf $T/part.hex $T/sums | grep -o '"instructions": *4.*' | head -c 300
| "instructions": 4610,
| "instructions": 4294,
| "instructions": 4294
$ coretap map cover --elf $T/part.hex -o $T/mapped examples/quickstart
! coretap: coverage of 1 capture, 0 of them damaged, 0 more that could not be read; losses: none
! coretap: map: the coverage is incomplete: 4294 of 4610 instructions ran outside the known programs, in 0x80400..0x805ac (4294 instructions); name their program with --elf FILE[@HEX], or see 'coretap list' for code that was generated at run time
$ cmp $T/mapped $T/sums
$ printf 'coretap-coverage 2\ncaptures 1\nprogram 0 10 - b\nrun 0 4 1\n' > $T/old
$ coretap merge $T/sums $T/old | sed '/^program/,$d'
| coretap-coverage 5
| captures 2
| capture examples/quickstart
| ran 4610
| outside 80400 805ac 4294
| untold
! coretap: coverage of 2 captures, 0 of them damaged; losses: none
! coretap: merge: the coverage is incomplete: 4294 of 4610 instructions ran outside the known programs, in 0x80400..0x805ac (4294 instructions), and coverage files older than version 4 do not record such instructions; name their program with --elf FILE[@HEX], or see 'coretap list' for code that was generated at run time
! coretap:   examples/quickstart
$ printf 'coretap-coverage 4\noutside 2 1 3\n' > $T/bad && coretap merge $T/bad 2>&1 | sed 's/.*bad:/bad:/'
| bad:2: the line is not 'ran N', 'outside LOW HIGH N', 'outside N' or 'untold'; the file was not loaded; write it again with 'coretap cover --format data'
$ printf 'coretap-coverage 4\nran\n' > $T/bad && coretap merge $T/bad 2>&1 | sed 's/.*bad:/bad:/'
| bad:2: the line is not 'ran N', 'outside LOW HIGH N', 'outside N' or 'untold'; the file was not loaded; write it again with 'coretap cover --format data'
$ printf 'coretap-coverage 3\nran 4\n' > $T/bad && coretap merge $T/bad 2>&1 | sed 's/.*bad:/bad:/'
| bad:2: the line begins with none of captures, damaged, unknown, lost, ran, outside, untold, program, context, run, taken, not; the file was not loaded; write it again with 'coretap cover --format data'
$ coretap profile -f bolt --elf $T/part.hex examples/quickstart | head -3
| F 80500 80518 2
| F 80508 80518 24
| F 80508 80520 26
! coretap: examples/quickstart: the profile is incomplete: 4294 of 4610 instructions ran outside the known programs, in 0x80400..0x805ac (4294 instructions); name their program with --elf FILE[@HEX], or see 'coretap list' for code that was generated at run time
$ coretap profile -f autofdo --each $T/each --elf $T/part.hex examples/quickstart
! coretap: $T/each/part.hex.autofdo: 5 entries of $T/part.hex
! coretap: examples/quickstart: the profiles are incomplete: 4294 of 4610 instructions ran outside the known programs, in 0x80400..0x805ac (4294 instructions); name their program with --elf FILE[@HEX], or see 'coretap list' for code that was generated at run time
$ coretap cover --core cpu_0 --elf $T/part.hex examples/quickstart | head -1
| $T/part.hex
! coretap: examples/quickstart: one of its programs has no symbols, so only code that ran is known; the percentages of functions, instructions and calls are not a coverage; name a file with symbols with --elf or --symdir
! coretap: examples/quickstart: the coverage is incomplete: 865 of 939 instructions ran outside the known programs, in 0x80400..0x805ac (865 instructions); name their program with --elf FILE[@HEX], or see 'coretap list' for code that was generated at run time
$ coretap report -o $T/page --elf $T/part.hex examples/quickstart
! coretap: examples/quickstart: one of its programs has no symbols, so only code that ran is known; the percentages of functions, instructions and calls are not a coverage; name a file with symbols with --elf or --symdir
! coretap: examples/quickstart: the coverage is incomplete: 4294 of 4610 instructions ran outside the known programs, in 0x80400..0x805ac (4294 instructions); name their program with --elf FILE[@HEX], or see 'coretap list' for code that was generated at run time
