A capture becomes a perf.data, which every command takes.

$ coretap export --perf $T/run.data examples/quickstart
$ coretap info $T/run.data | head -5
| $T/run.data: perf.data, 1 trace buffer
| process 4194305 quickstart: 1 image
|
| buffer tid4194305: $T/run.data, 3488 bytes, framing frames
|   frames                     218
$ coretap info --format json $T/run.data | tr -d ' \n' | sed 's/"path":"[^"]*"/"path":0/g' | cut -c 1-270
| {"capture":"$T/run.data","kind":"perf.data","missing":[],"processes":[{"pid":4194305,"generations":[{"from":0,"name":"quickstart","images":[{"path":0,"address":524288,"offset":0,"size":1536,"space":255,"elf":false}]}]}],"threads":[{"tid":42,"pid":4194305,"
$ coretap stats --level flow $T/run.data | grep -v seconds | grep -v mb_per
| bytes=3488
| packets=1517
| elements=1568
| atoms=2723
| branches=1559
| instructions=4610
| gaps=0
| overflows=0
| contradictions=0
| bad_packets=0
| lost_bytes=0
| no_access=0
$ coretap stats $T/run.data | grep instructions; coretap stats examples/quickstart | grep instructions
| instructions=4610
| instructions=4610
$ coretap stats --threads 2 $T/run.data | grep instructions
| instructions=4610

The same listing, but for the offsets, which are those of the file:

$ coretap list --elements --id 10 $T/run.data | cut -d ' ' -f 2- > $T/a; coretap list --elements --id 10 examples/quickstart | cut -d ' ' -f 2- | cmp $T/a && echo same
| same
$ coretap decode --merge --no-names $T/run.data | cut -f 2- > $T/a; coretap decode --merge --no-names examples/quickstart | cut -f 2- | cmp $T/a && echo same
| same
$ coretap list --packets --id 11 $T/run.data | head -2 | cut -d ' ' -f 2-
| 11 000000000000000000000080 i_async
| 11 0100 i_trace_info info=0 first=1

Pipe mode, through a pipe:

$ coretap export --perf - examples/quickstart | coretap stats - | grep instructions
| instructions=4610

What was mapped is found elsewhere, or named:

$ mkdir $T/moved; cp -r examples/quickstart $T/moved/; coretap export --perf $T/moved.data $T/moved/quickstart; mkdir -p $T/root; mv $T/moved/quickstart/firmware.bin $T/root; coretap stats $T/moved.data | grep instructions
| instructions=0
! coretap: $T/moved.data: losses: 254 times code ran that is in no memory image
! coretap: $T/moved.data: the capture has no memory image of code that ran in $T/moved/quickstart/firmware.bin (254 times); that code was not decoded; 'coretap info' lists the images and the missing files
! coretap: note: $T/moved/quickstart/firmware.bin: No such file or directory; its instructions are not listed; put the target's file at DIR$T/moved/quickstart/firmware.bin and give --symfs DIR
$ coretap stats --symfs $T/root $T/moved.data | grep instructions
| instructions=4610
$ mkdir $T/other; coretap info -q --symfs $T/other $T/moved.data | grep missing
| missing: $T/moved/quickstart/firmware.bin: No such file or directory; its instructions are not listed; put the target's file at DIR$T/moved/quickstart/firmware.bin and give --symfs DIR
! coretap: $T/moved.data: losses: 254 times code ran that is in no memory image
! coretap: $T/moved.data: the capture has no memory image of code that ran in $T/moved/quickstart/firmware.bin (254 times); that code was not decoded; 'coretap info' lists the images and the missing files

Cut files give what is before the cut:

$ head -c -1000 $T/run.data > $T/cut.data; coretap stats $T/cut.data | grep bytes=
| bytes=2564
| lost_bytes=4
! coretap: warning: .*/cut.data: the file is truncated or damaged at offset 0x[0-9a-f]+, in the trace of a record; only what precedes it was read (re)
! coretap: $T/cut.data: losses: 1 invalid or truncated packet, 4 bytes that could not be used
$ head -c -1 $T/run.data > $T/cut.data; coretap stats $T/cut.data > $T/out
! coretap: warning: $T/cut.data: the file is truncated after its trace; build ids and names that perf writes there may be missing; get a complete copy
[1]
$ head -c 100 $T/run.data > $T/cut.data; coretap info $T/cut.data
! coretap: $T/cut.data: the file is truncated within its header, so nothing can be read; get a complete copy
[2]
$ head -c 620 $T/run.data > $T/cut.data; coretap info $T/cut.data
| $T/cut.data: perf.data, 0 trace buffers
| damaged: $T/cut.data: the file is truncated or damaged at offset 0x268, in the header of a record; only what precedes it was read
| damaged: $T/cut.data: the file has no trace before that
|
| losses: none
! coretap: warning: $T/cut.data: the file is truncated or damaged at offset 0x268, in the header of a record; only what precedes it was read
! coretap: warning: $T/cut.data: the file has no trace before that
[1]

Mistakes:

$ coretap export examples/quickstart
! coretap export: --perf FILE is missing; it names the file to write
! Try 'coretap export --help'.
[2]
$ coretap export --perf $T/none/x examples/quickstart
! coretap: $T/none/x: cannot be written: No such file or directory; create its folder first
[2]
$ coretap export --perf $T/twice.data $T/run.data
! coretap: $T/run.data: the capture is already perf.data, so nothing was exported; use the file itself
[2]
$ coretap export --perf $T/itm.data examples/raw/itm.ini
! coretap: trace, source itm: perf does not support itm; the trace of this source was left out
! coretap: examples/raw/itm.ini: the capture has no trace source that perf supports, so nothing was exported
[2]
$ echo no perf.data | coretap info -
! coretap info: CAPTURE '-': standard input is not a perf.data file; a raw trace stream needs a description; add --config FILE.ini
! Try 'coretap info --help'.
[2]
$ coretap info --kcore $T/no-kcore $T/run.data
! coretap: $T/no-kcore: it cannot be read: No such file or directory; correct --kcore, or leave it out
[2]

Firmware as text is a program like one in an ELF file, but perf cannot read code in it.

$ printf ':0200000280007C\n:10000000600080D2000400F1E1FFFF54C0035FD61E\n:00000001FF\n' > $T/loop.hex
$ sed "s,^file = loop-code.bin,elf = loop.hex,; /^address/d" examples/raw/board.ini > $T/hex.ini && cp examples/raw/board.bin $T
$ coretap cover $T/hex.ini | head -6
| $T/loop.hex
|   functions            1 of        1   100.0 %
|   lines                0 of        0         -
|   instructions         4 of        4   100.0 %
|   branches             2 of        2   100.0 %
|   conditions           1 of        1   100.0 %
! coretap: $T/hex.ini: one of its programs has no symbols, so only code that ran is known; the percentages of functions, instructions and calls are not a coverage; name a file with symbols with --elf or --symdir
$ coretap export --perf $T/hex.data $T/hex.ini
! coretap: trace, source itm: perf does not support itm; the trace of this source was left out
! coretap: $T/loop.hex: the file is Intel HEX, which perf cannot read; nothing was exported; convert it with 'objcopy -I ihex -O binary', and name the result in the capture with the address of its first byte
[2]

A capture without a byte of trace.

$ cp -r examples/quickstart $T/none && : > $T/none/trace.bin && coretap export --perf $T/none.data $T/none
! coretap: $T/none: the capture contains no trace bytes; nothing was decoded; check that the trace sink was enabled when it was recorded
[1]
$ coretap export -q --perf $T/none.data $T/none
! coretap: $T/none: the capture contains no trace bytes; nothing was decoded; check that the trace sink was enabled when it was recorded
[1]
$ coretap export --perf $T/none.data --branch-stacks $T/none
! coretap: $T/none: the capture contains no trace bytes; nothing was decoded; check that the trace sink was enabled when it was recorded
! coretap: $T/none.data: the file is not written, because the result is empty; the previous file is unchanged
[1]
