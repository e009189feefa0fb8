Usage.
$ coretap inof examples/quickstart
! coretap: unknown command 'inof'; did you mean 'info'?
! Try 'coretap --help'.
[2]
$ coretap info
! coretap info: CAPTURE is missing
! Try 'coretap info --help'.
[2]
$ coretap info examples/quickstart examples/quickstart
! coretap info: 'examples/quickstart' is one argument too many; leave it out
! Try 'coretap info --help'.
[2]
$ coretap info --formta json examples/quickstart
! coretap info: unknown option '--formta'; did you mean '--format'?
! Try 'coretap info --help'.
[2]
$ coretap info --format jsno examples/quickstart
! coretap info: --format: 'jsno' is not one of text, json; did you mean 'json'?
! Try 'coretap info --help'.
[2]
$ coretap info --format
! coretap info: --format needs a value
! Try 'coretap info --help'.
[2]
$ coretap info --quiet=1 examples/quickstart
! coretap info: --quiet takes no value
! Try 'coretap info --help'.
[2]
$ coretap info -z examples/quickstart
! coretap info: unknown option '-z'
! Try 'coretap info --help'.
[2]
$ coretap info --id zz examples/quickstart
! coretap info: --id: 'zz' is not a hexadecimal number from 0 to 7f
! Try 'coretap info --help'.
[2]
$ coretap info --id 80 examples/quickstart
! coretap info: --id: '80' is not a hexadecimal number from 0 to 7f
! Try 'coretap info --help'.
[2]
$ coretap stats --threads 0 examples/quickstart
! coretap stats: --threads: '0' is not a number from 1 to 256
! Try 'coretap stats --help'.
[2]
$ coretap stats --threads -1 examples/quickstart
! coretap stats: --threads: '-1' is not a number from 1 to 256
! Try 'coretap stats --help'.
[2]
$ coretap info --id 33 examples/quickstart
! coretap: examples/quickstart: the capture has no trace source with ID 33; 'coretap info' lists its sources
[2]
$ coretap info --buffer ETB_9 examples/quickstart
! coretap: examples/quickstart: the capture has no buffer 'ETB_9'; 'coretap info' lists its buffers
[2]
$ coretap info -
! coretap info: CAPTURE '-': standard input is not a perf.data file; a raw trace stream needs a description; add --config FILE.ini
! Try 'coretap info --help'.
[2]
$ coretap info --config examples/quickstart examples/quickstart
! coretap info: --config describes a stream on standard input; name '-' as CAPTURE, or leave --config out
! Try 'coretap info --help'.
[2]

Captures that cannot be opened.
$ coretap info $T/nowhere
! coretap: $T/nowhere: cannot be opened: No such file or directory; name a snapshot directory, the .ini file of a raw trace, or a perf.data file
[2]
$ coretap info examples/quickstart/trace.bin
! coretap: examples/quickstart/trace.bin: these are bytes of a trace without their description, so they cannot be decoded; they look like CoreSight frames with the trace of these IDs; write the description into a file beside it, such as trace.ini, with the values in place of ?, and name that file (docs/formats.md, "Raw traces"):
!
! [capture]
! file = trace.bin
! framing = frames
!
! [source id10]
! id = 0x10
! protocol = etmv4i        ; or ete
! core = ?                 ; such as Cortex-A53
! TRCCONFIGR = ?           ; registers of the trace unit during the capture
! TRCIDR0 = ?
! TRCIDR2 = ?
!
! [source id11]
! id = 0x11
! protocol = etmv4i        ; or ete
! core = ?                 ; such as Cortex-A53
! TRCCONFIGR = ?           ; registers of the trace unit during the capture
! TRCIDR0 = ?
! TRCIDR2 = ?
!
! [image program]
! elf = ?                  ; the program that ran
[2]
$ cp -r examples/quickstart $T/bad && sed -i 's/=0x00001851/=0xsix/' $T/bad/device_0.ini && coretap info $T/bad
! coretap: $T/bad/device_0.ini:8: TRCCONFIGR(0x004)=0xsix: a number is expected, decimal or with 0x
[2]
$ cp -r examples/quickstart $T/core && sed -i 's/Cortex-A53/Cortex-Z99/' $T/core/cpu_0.ini && coretap stats --id 10 $T/core | sed -n '/^instr/p;/^gaps/p'
| instructions=939
| gaps=0
! coretap: note: $T/core/cpu_0.ini: core cpu_0: the model Cortex-Z99 is unknown; its trace unit has 64-bit addresses, so it is decoded as ARM-AA64, the newest A-profile; give type= a name like Cortex-A53 or ARMv8.3-A if that is wrong
$ sed -i '/TRCIDR2/s/0x00000488/0x00000484/' $T/core/device_0.ini && coretap info $T/core
! coretap: $T/core/cpu_0.ini: core cpu_0: the model Cortex-Z99 is unknown, so its instruction set is unknown too; give a name like Cortex-A53, an architecture like ARMv8.3-A, or ARM-AA64
[2]
$ cp -r examples/quickstart $T/gone && rm $T/gone/trace.bin && coretap info $T/gone
! coretap: $T/gone/trace.bin: cannot be read: No such file or directory; it is the trace of buffer ETB_0 ($T/gone/trace.ini:4); put the file there, or correct file=
[2]
$ cp -r examples/quickstart $T/noimage && rm $T/noimage/firmware.bin && coretap stats --id 10 $T/noimage | head -6
| bytes=3488
| packets=389
| elements=406
| atoms=544
| branches=0
| instructions=0
! coretap: note: $T/noimage/firmware.bin: No such file or directory; $T/noimage/cpu_0.ini:6: [dump1] names it; instructions at its addresses cannot be decoded
! coretap: $T/noimage: losses: 30 times code ran that is in no memory image
! coretap: $T/noimage: the capture has no memory image of code that ran in 0x80400..0x80590 (30 times); that code was not decoded; 'coretap info' lists the images and the missing files

Trace that is damaged: all that can be decoded is, and the exit code says so.
$ cp -r examples/quickstart $T/cut && head -c 1000 examples/quickstart/trace.bin >$T/cut/trace.bin && coretap list -e -i 10 $T/cut | tail -3; coretap stats -l frame $T/cut >/dev/null
| 989 10 instr_range start=80588 end=8058c n=1 last_sz=4 isa=a64 exec=E type=br sub=none cond=1
| 989 10 instr_range start=80590 end=80598 n=2 last_sz=4 isa=a64 exec=E type=ibr sub=ret cond=0
| 990 10 eo_trace reason=end_of_trace
! coretap: $T/cut: losses: 1 invalid or truncated packet, 8 bytes that could not be used
! coretap: $T/cut: losses: 8 bytes that could not be used
[1]
$ cp -r examples/quickstart $T/empty && : >$T/empty/trace.bin && coretap stats $T/empty | head -6
| bytes=0
| packets=0
| elements=0
| atoms=0
| branches=0
| instructions=0
! coretap: $T/empty: the capture contains no trace bytes; nothing was decoded; check that the trace sink was enabled when it was recorded
$ coretap list --packets $T/empty
! coretap: $T/empty: the capture contains no trace bytes; nothing was decoded; check that the trace sink was enabled when it was recorded
[1]
Trace of an ID that the capture does not describe is not no trace.
$ { printf '\253'; head -c 15 /dev/zero; } >$T/empty/trace.bin && coretap list --packets $T/empty
! coretap: $T/empty: none of its 16 bytes belong to a trace source that the capture describes; nothing was decoded; 'coretap info' lists the trace IDs in it
[1]
$ cp -r examples/quickstart $T/hole && head -c 24 /dev/zero | dd of=$T/hole/trace.bin bs=1 seek=530 conv=notrunc status=none && coretap list -p -i 11 $T/hole >$T/out; echo "exit code $?"; grep -A3 'i_reserved\|i_bad' $T/out
| exit code 1
| 556 11 05 i_reserved
| 557 11 9564 i_addr_s_is0 addr=80590
| 560 11 850002080000000000b12a000000 i_addr_ctxt_l_64is0 addr=80400 sf=64 el=1 sec=ns ctxt=2a
| 594 11 db i_atom_f2 atoms=EE
! coretap: $T/hole: losses: 1 gap, 1 invalid or truncated packet, 315 bytes that could not be used
$ coretap decode -i 11 $T/hole | grep -A3 Gap
| Gap	0	315	bytes lost at offset 557: packet that cannot be
| Ctx	0		EL0 ns 64-bit ctxt=0x2a
| Go	0	0x8055c	firmware.bin+0x55c
| Br	0	0x8056c	firmware.bin+0x56c
! coretap: $T/hole: losses: 1 gap, 1 invalid or truncated packet, 315 bytes that could not be used

Output that cannot be written.
$ coretap list --packets examples/quickstart >/dev/full
! coretap: standard output: writing failed: No space left on device; the output is incomplete
[2]
$ coretap decode examples/quickstart >/dev/full
! coretap: standard output: writing failed: No space left on device; the output is incomplete
[2]
$ coretap info examples/quickstart >/dev/full
! coretap: standard output: writing failed: No space left on device; the output is incomplete
[2]
$ coretap decode examples/quickstart >&-
! coretap: standard output is closed, so nothing can be printed; redirect it to a file or /dev/null
[2]

# A file is written completely or not at all.
$ (ulimit -f 1; coretap list --packets -o $T/small examples/quickstart); code=$?; test ! -e $T/small && exit $code
! coretap: $T/small: cannot be written: File too large; no file of that name was made
[2]
$ touch $T/small; (ulimit -f 1; coretap list --packets -o $T/small examples/quickstart); code=$?; test ! -s $T/small && exit $code
! coretap: $T/small: cannot be written: File too large; the previous file is unchanged
[2]

# An output never replaces what the command reads, by whatever path; but a sum may replace one of its parts.
$ cp -r examples/quickstart $T/own && coretap decode -o $T/own/./trace.bin $T/own; code=$?; cmp examples/quickstart/trace.bin $T/own/trace.bin && exit $code
! coretap: $T/own/./trace.bin: the output would replace this file, which belongs to the capture; name another file as the output
[2]
$ coretap export --perf $T/own/trace.bin $T/own; code=$?; cmp examples/quickstart/trace.bin $T/own/trace.bin && exit $code
! coretap: $T/own/trace.bin: the output would replace this file, which belongs to the capture; name another file as the output
[2]
$ coretap export --perf $T/own.data $T/own && cp $T/own.data $T/same.data && coretap stats -o $T/own.data $T/own.data; code=$?; cmp $T/same.data $T/own.data && exit $code
! coretap: $T/own.data: the output would replace this file, which another argument names; name another file as the output
[2]
$ coretap watch -f data --at 0x80500 -o $T/own.hits $T/own && coretap merge -o $T/own.hits $T/own.hits $T/own.hits && coretap watch -f sums $T/own.hits | tail -1
| 4	0x80500 addr
! coretap: warning: watch: $T/own: this was added more than once, so its counts are multiplied; omit the repetition, unless these are different captures with the same name
! coretap: watch of 2 captures, 0 of them damaged; losses: none
! coretap:   $T/own
$ coretap watch --at 0x80500 -o $T/own.hits $T/own.hits
! coretap: $T/own.hits: the output would replace this file, which another argument names; name another file as the output
[2]

# Nor do two outputs share a file, be it there or not.
$ coretap wcet --entry main --lp $T/both -o $T/./both examples/quickstart; code=$?; test ! -e $T/both && exit $code
! coretap: $T/./both: the output would replace this file, which another argument names; name another file as the output
[2]
$ touch $T/both && coretap wcet --entry main --lp $T/both -o $T/./both examples/quickstart
! coretap: $T/./both: the output would replace this file, which another argument names; name another file as the output
[2]

# A source that nobody described: its trace is not decoded, and is named.
$ cp examples/raw/board.* examples/raw/loop-code.bin $T; sed -i '/^.source itm/,/^$/d' $T/board.ini; coretap stats $T/board.ini | grep bytes
| bytes=80
| lost_bytes=0
! coretap: warning: $T/board.bin: 16 bytes of trace belong to no described source and are not decoded: ID 20 (16 bytes); describe the source, or choose trace IDs with --id
$ coretap list --packets --id 10 $T/board.ini | wc -l
| 7

# The part of a capture is no result.
$ coretap merge --kind statistics --shard 1/2 examples/quickstart > $T/part
$ coretap merge $T/part
! coretap: $T/part: this is a part of a capture, as --shard writes it, and not a result; the file was not loaded; join the parts with coretap-mpi
[2]
$ coretap stats $T/part
! coretap: $T/part: this is a part of a capture, as --shard writes it, and not a result; the file was not loaded; join the parts with coretap-mpi
[2]

# Gaps of a raw trace.
$ cp examples/raw/board.* examples/raw/loop-code.bin $T; printf '\n[gap]\nat = 48\n' >> $T/board.ini; coretap stats $T/board.ini | grep '^gaps'
| gaps=2
! coretap: $T/board.ini: losses: 2 gaps
$ coretap decode --id 10 $T/board.ini | grep Gap
| Gap	0	0	bytes lost at offset 33: stream reset
! coretap: $T/board.ini: losses: 1 gap
$ printf '[gap]\nat = 0x30\n' >> $T/board.ini; coretap stats $T/board.ini
! coretap: $T/board.ini:25: at=0x30: the offset must be greater than that of the previous gap
[2]
$ cp examples/raw/board.ini $T; printf '\n[gap]\n' >> $T/board.ini; coretap stats $T/board.ini
! coretap: $T/board.ini:22: [gap]: the section has no at=, so the position of the gap is unknown; add at= with the offset of the first byte after it
[2]
$ printf '[gap]\nat = 16\n' >> $T/board.ini; coretap stats $T/board.ini
! coretap: $T/board.ini:23: [gap]: the previous gap has no at=; add it
[2]
$ cp examples/raw/board.ini $T; printf '\n[gap]\nfrom = 16\n' >> $T/board.ini; coretap stats $T/board.ini
! coretap: $T/board.ini:23: from=16: the key is unknown; expected at
[2]
$ cp examples/raw/board.ini $T; printf '\n[gap]\nat = 80\n[gap]\nat = 4096\n' >> $T/board.ini; coretap stats $T/board.ini | grep -E '^(gaps|instructions)'
| instructions=8
| gaps=2
! coretap: $T/board.ini: losses: 2 gaps
A command over many captures says itself that there are none, and a folder is no output file.

$ coretap map
! coretap map: CAPTURE is missing; name captures, or give --manifest LIST
! Try 'coretap map --help'.
[2]
$ coretap info -o $T examples/quickstart
! coretap: $T: cannot be written: Is a directory; it is a folder, so name a file in it
[2]

One capture under two names, which would count twice; letters that are swapped.

$ coretap stats examples/quickstart ./examples/quickstart/ | grep ^bytes
| bytes=6326
! coretap: warning: ./examples/quickstart/: this is the same file as examples/quickstart; its contents count twice; leave one of them out
$ coretap fractal rnu
! coretap: unknown command 'rnu'; did you mean 'run'?
! Try 'coretap fractal --help'.
[2]
Options of specifications without one.
$ for o in '--bind a=main' '--violation a' '--clock cycles' '-u us' '--forget 3' '--engine bytecode'; do coretap profile $o -f perfetto examples/quickstart; done
! coretap profile: --bind works only with --spec; add that, or leave --bind out
! Try 'coretap profile --help'.
! coretap profile: --violation works only with --spec; add that, or leave --violation out
! Try 'coretap profile --help'.
! coretap profile: --clock works only with --spec; add that, or leave --clock out
! Try 'coretap profile --help'.
! coretap profile: --time-unit works only with --spec; add that, or leave --time-unit out
! Try 'coretap profile --help'.
! coretap profile: --forget works only with --spec; add that, or leave --forget out
! Try 'coretap profile --help'.
! coretap profile: --engine works only with --spec; add that, or leave --engine out
! Try 'coretap profile --help'.
[2]
