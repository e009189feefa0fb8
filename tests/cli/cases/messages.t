Messages of files and command lines that a user may get wrong. Nothing else tests these.

$ HERE=$PWD; cd $T; cp -r "$HERE"/examples/raw "$HERE"/examples/quickstart .; sed 's/^elf = .*//; s/^protocol = etmv4i/protocol = etmv9/' raw/board.ini >raw/a.ini; coretap info raw/a.ini
! coretap: raw/a.ini:7: protocol=etmv9: the protocol is unknown; expected etmv4i, ete, etmv3, ptm, stm or itm
[2]
$ cd $T; sed 's/^protocol = itm//' raw/board.ini >raw/a.ini; coretap info raw/a.ini
! coretap: raw/a.ini:14: [source itm]: the section has no protocol=, so its bytes cannot be decoded; add one of etmv4i, ete, etmv3, ptm, stm and itm
[2]
$ cd $T; sed 's/^id = 0x10/id = 0x7a/' raw/board.ini >raw/a.ini; coretap stats raw/a.ini | head -1
! coretap: raw/a.ini:8: id=0x7a: the number is too large; the maximum is 0x6f
$ cd $T; sed '/^id = 0x10/d' raw/board.ini >raw/a.ini; coretap info raw/a.ini
! coretap: raw/a.ini:6: [source cpu0]: the section has no id=, so its bytes cannot be separated from those of other sources; add id=, or framing=none in [capture] if the trace has no frames
[2]
$ cd $T; sed 's/^framing = frames/framing = none/' raw/board.ini >raw/a.ini; coretap stats raw/a.ini | head -1
| bytes=80
! coretap: note: raw/a.ini: buffer trace has several sources but no frames that separate them; all of its bytes are decoded as those of cpu0
! coretap: raw/a.ini: losses: 1 gap, 9 invalid or truncated packets, 65 bytes that could not be used
$ cd $T; sed 's/^file = board.bin//' raw/board.ini >raw/a.ini; coretap info raw/a.ini
! coretap: raw/a.ini:2: [capture]: the section has no file=, so there is no trace to read; add file= with the name of the trace file, or - for standard input
[2]
$ cd $T; sed 's/^address = 0x80000/space = EL9/' raw/board.ini >raw/a.ini; coretap info raw/a.ini
! coretap: raw/a.ini:20: space=EL9: the memory space is unknown; expected EL1S, EL1N, EL1R, EL2S, EL2N, EL2R, EL3, ROOT, S, N, R or ANY
[2]
$ cd $T; sed 's/^address = 0x80000/address = 0x80000\nlength = 0x100000/' raw/board.ini >raw/a.ini; coretap stats raw/a.ini | head -1
| bytes=80
! coretap: warning: raw/a.ini:18: [image loop]: length= is 0x100000, but only 0x10 bytes of raw/loop-code.bin follow the offset; only these are used
$ cd $T; sed 's/^address = 0x80000/address = 0x80000\noffset = 0x100000/' raw/board.ini >raw/a.ini; coretap stats raw/a.ini | head -1
| bytes=80
! coretap: note: raw/loop-code.bin: it ends before the offset of the image; raw/a.ini:18: [image loop] names it; instructions at its addresses cannot be decoded
! coretap: raw/a.ini: losses: 1 time code ran that is in no memory image
! coretap: raw/a.ini: the capture has no memory image of code that ran in 0x80000..0x80000 (1 time); that code was not decoded; 'coretap info' lists the images and the missing files
$ cd $T; { echo 'x = 1'; cat raw/board.ini; } >raw/a.ini; coretap info raw/a.ini
! coretap: raw/a.ini: this is text, not a capture; convert trace that is written as text to bytes; if a tool printed the text, name what the tool read; a description of a raw trace begins with [capture]
[2]
$ cd $T; sed 's/^.source itm./[source]/' raw/board.ini >raw/a.ini; coretap info raw/a.ini
! coretap: raw/a.ini:14: [source]: the source has no name; expected [source NAME]
[2]
$ cd $T; sed 's/^.source itm./[sauce itm]/' raw/board.ini >raw/a.ini; coretap info raw/a.ini
! coretap: raw/a.ini:14: [sauce itm]: the section is unknown; expected [capture], [source NAME], [image NAME], [event SOURCE], [context] or [gap]
[2]
$ cd $T; sed 's/^.source itm./[source itm/' raw/board.ini >raw/a.ini; coretap info raw/a.ini
! coretap: raw/a.ini:14: the section header does not end with ]; expected [section], key=value, or a comment
[2]
$ cd $T; for e in 'a b=1' '1a=1' 'trigger=1' 'a=1\nb=1' 'a=9'; do { cat raw/board.ini; printf "\n[event]\n$e\n"; } >raw/a.ini; coretap stats raw/a.ini 2>&1 >/dev/null | head -1; done
| coretap: raw/a.ini:23: a b=1: the name of an event may contain only letters, digits, _, . and -
| coretap: raw/a.ini:23: 1a=1: the name of an event must not begin with a digit, be longer than 100 characters, or be 'trigger'
| coretap: raw/a.ini:23: trigger=1: the name of an event must not begin with a digit, be longer than 100 characters, or be 'trigger'
| coretap: raw/a.ini:24: b=1: event 1 already has the name a; each event and each name may appear only once; keep the correct line
| coretap: raw/a.ini:23: a=9: the number is too large; the maximum is 0x3
$ cd $T; { cat raw/board.ini; printf '\n[event nobody]\na=1\n'; } >raw/a.ini; coretap info raw/a.ini
! coretap: raw/a.ini:22: [event nobody]: no source has this name, so the capture was not opened; use the name of a [source NAME] section, or omit it for all sources
[2]
$ cd $T; { cat raw/board.ini; printf '\n[context]\na=zz\n'; } >raw/a.ini; coretap info raw/a.ini
! coretap: raw/a.ini:23: a=zz: a number is expected, decimal or with 0x
[2]
$ cd $T; cp raw/board.ini raw/a.ini; sed -i 's/board.bin/./' raw/a.ini; coretap info raw/a.ini
! coretap: raw/.: cannot be read: it is a folder, a pipe or a device, not a regular file; it is the trace of raw/a.ini; put the file there, or correct file=
[2]
$ cd $T; printf '[capture]\nfile = board.bin\n' >raw/a.ini; coretap info raw/a.ini | head -2
| raw/a.ini: raw, 1 trace buffer
|
! coretap: warning: raw/a.ini: the file has no [source NAME] section, so the trace cannot be decoded; add one for each source
! coretap: warning: raw/board.bin: 53 bytes of trace belong to no described source and are not decoded: ID 10 (37 bytes), ID 20 (16 bytes); describe the source, or choose trace IDs with --id
! coretap: raw/a.ini: none of its 80 bytes belong to a trace source that the capture describes; nothing was decoded; 'coretap info' lists the trace IDs in it
$ cd $T; sed 's/^protocol = itm/protocol = itm\nid = 0x10/' raw/board.ini >raw/a.ini; coretap info raw/a.ini
! coretap: raw/a.ini:14: [source itm]: id= is 0x10, but the register with the trace ID says 0x20; one of them is enough; correct or remove the other
[2]
$ cd $T; sed 's/^address = 0x80000/bias = 0/' raw/board.ini >raw/a.ini; coretap info raw/a.ini
! coretap: raw/a.ini:18: [image loop]: the image has no complete description, so its bytes and addresses are unknown; give file= and address= (and optionally offset= and length=), or elf= (and optionally bias=)
[2]
$ cd $T; cp -r quickstart a; sed -i '/metadata/d' a/snapshot.ini; coretap info a
! coretap: a/snapshot.ini: [trace] has no metadata=, so there is no trace to read; add the name of the file that describes the trace buffers
[2]
$ cd $T; cp -r quickstart b; sed -i 's/^buffers=.*/buffers=buffer0,buffer9/' b/trace.ini; coretap info b
! coretap: b/trace.ini:2: buffers= names buffer9, but there is no section [buffer9]; add the section, or remove the name
[2]
$ cd $T; cp -r quickstart c; sed -i 's/^type=ETM4/type=ETM9/' c/device_0.ini; coretap info c | head -1
! coretap: c/device_0.ini: source ETM_0: the protocol type=ETM9 is unknown, so its trace cannot be decoded; expected ETM4, ETE, ETM3.x, PTM1.x, PFT1.x, STM or ITM
$ cd $T; cp -r quickstart d; rm d/trace.ini; coretap info d
! coretap: d/trace.ini: cannot be read: No such file or directory; d/snapshot.ini:13: metadata= names it; put the file there, or correct the name
[2]
$ cd $T; cp -r quickstart f; sed -i 's/^device1=.*//' f/snapshot.ini; coretap stats f | head -1
| bytes=3488
! coretap: note: f/trace.ini:15: core cpu_1 has no device file, so its architecture is unknown and it has no memory images; add a device section with this name
$ cd $T; cp -r quickstart g; printf '\n[program]\nbias=0\n' >>g/snapshot.ini; coretap stats g | head -1
! coretap: g/snapshot.ini:15: [program]: the section has no elf=, so the functions of the program have no names; add it
$ cd $T; cp -r quickstart h; printf 'space=Q\n' >>h/cpu_0.ini; coretap stats h | head -1
| bytes=3488
! coretap: note: h/cpu_0.ini:9: space=Q is unknown; the image is used for all memory spaces
$ cd $T; mkdir i; coretap info i
! coretap: i: the format is not recognised, so it cannot be read:
!   snapshot: this is a directory without a snapshot.ini
!   raw: this is not a regular file
!   perf.data: this is a directory without a file 'data' that begins with PERFILE2
[2]
$ cd $T; cp -r quickstart j; rm j/cpu_0.ini; mkdir j/cpu_0.ini; coretap stats j | head -1
! coretap: j/cpu_0.ini: this is not a regular file; j/snapshot.ini:7: device0= names it as an .ini file; put the file there, or correct the name
$ cd $T; coretap stats --from 1s raw/itm.ini | head -1
! coretap stats: only --level coverage and timing can count a part of a capture; give one of them, or select only by --core and --id
! Try 'coretap stats --help'.
$ cd $T; cat raw/board.bin | coretap stats --from 1s --level coverage --config raw/board.ini - | head -1
! coretap: raw/board.ini: the capture does not contain the frequency of its timestamps, so a time cannot be converted to ticks; give the frequency with --frequency HZ, or the window in ticks, cycles or instructions
$ cd $T; coretap decode --merge --config raw/board.ini - <raw/board.bin | head -1
| time	id	type	cycle	value	note
! coretap: trace, ID 10: the source has no timestamps, so its place among the others is not known; it is printed after them; record with timestamps to merge it
! coretap: trace, ID 20: the source has no timestamps, so its place among the others is not known; it is printed after them; record with timestamps to merge it
$ cd $T; coretap decode --bytewise raw/itm.ini
! coretap decode: --bytewise decodes only ETMv4 and ETE, but the capture has no such source; leave --bytewise out
! Try 'coretap decode --help'.
[2]
$ cd $T; coretap decode --bytewise --merge quickstart
! coretap decode: --bytewise cannot be used with --merge, because it decodes one source after the other; leave one of them out
! Try 'coretap decode --help'.
[2]
$ cd $T; coretap decode --table1 --merge quickstart
! coretap decode: --table1 has fixed columns without times; leave out --merge and --format
! Try 'coretap decode --help'.
[2]
$ cd $T; coretap stats --from 99999999999999999999 quickstart
! coretap stats: --from: '99999999999999999999': the number has no unit; give a time (12.5s, 3ms, 20us, 700ns, 190327ticks), a number of cycles (500000cyc) or instructions (1000000insn), or a place (main, main.c:32, 0x4010), with #N behind it for the N-th time that execution reaches it
! Try 'coretap stats --help'.
[2]
$ cd $T; coretap profile --format chrome --from 99999999999999999999 quickstart
! coretap profile: --from: the number '99999999999999999999' is too large; give at most 18446744073709551615
! Try 'coretap profile --help'.
[2]
$ cd $T; coretap decode --index --to 5cyc quickstart
! coretap decode: --index needs a --from with a time, ticks, cycles or instructions, and a --to that is not a place; change them, or leave --index out
! Try 'coretap decode --help'.
[2]
$ cd $T; coretap watch --all-edges --at 0x80000 quickstart
! coretap watch: --all-edges watches every edge, so it cannot be used with --at, --list or --targets; leave one of them out
! Try 'coretap watch --help'.
[2]
$ cd $T; coretap watch --all-edges --format jsonl quickstart
! coretap watch: --all-edges works only with --format tsv and binary; choose one of them
! Try 'coretap watch --help'.
[2]
$ cd $T; coretap watch --format binary quickstart
! coretap watch: --format binary works only with --all-edges; add that, or leave it out
! Try 'coretap watch --help'.
[2]
$ cd $T; coretap profile --max-size 1 -f folded quickstart
! coretap profile: --max-size: '1' is not a number from 65536 to 9223372036854775807
! Try 'coretap profile --help'.
[2]
$ cd $T; coretap profile --captures apart -f folded quickstart
! coretap profile: --captures works only with --format perfetto and chrome, because folded adds captures up; leave --captures out
! Try 'coretap profile --help'.
[2]
$ cd $T; coretap volume --capture quickstart -- x
! coretap volume: --capture and PROGRAM cannot be used together; give only one of them
! Try 'coretap volume --help'.
[2]
$ cd $T; coretap volume
! coretap volume: PROGRAM and --capture are missing; name a program behind --, or a trace with --capture
! Try 'coretap volume --help'.
[2]
$ cd $T; coretap volume --capture quickstart --start 0
! coretap volume: --start applies to running a program, so it cannot be used with --capture; leave one of them out
! Try 'coretap volume --help'.
[2]
$ cd $T; coretap volume --capture raw/itm.ini
| # 0 instructions, 0 branches, 0 cycles, 0 cores
| protocol	broadcast	cycles	stack	timestamps	context	bytes	bits/instruction	bits/branch
! coretap: raw/itm.ini: nothing was measured, because the trace has no instructions, or none that --range, --id and --buffer select, or more than --max-instructions before its first branch; change these options
[1]
$ cd $T; coretap export-results x
! coretap export-results: --parquet and --arrow are missing, so there is nothing to write; give --parquet DIR or --arrow TABLE
! Try 'coretap export-results --help'.
[2]
$ cd $T; coretap export-results --arrow coverage x >/dev/null
! coretap export-results: --arrow: 'coverage' is not one of results, functions, lines, edges, times
! Try 'coretap export-results --help'.
[2]
$ cd $T; coretap report --entry x --from 5cyc quickstart
! coretap report: --from cannot be applied: --entry needs the whole trace for the longest path; leave one of the options out
! Try 'coretap report --help'.
[2]
$ cd $T; coretap monitor --captures apart --per-core --spec x quickstart
! coretap: x: cannot be read: No such file or directory
[2]
$ cd $T; coretap ctl --http 1 stop now
! coretap ctl: stop: 'now' is not expected here, because stop has no arguments
! Try 'coretap ctl --help'.
[2]
$ cd $T; coretap ctl --http 1 monitor add x y
! coretap: y: cannot be read: No such file or directory
[2]
$ cd $T; coretap tessla --format json x
! coretap tessla: 'x' is one argument too many; write --spec before the specification and --trace before the trace
! Try 'coretap tessla --help'.
[2]
$ cd $T; coretap live --config raw/board.ini --fractal x
! coretap live: --fractal cannot be used with --config, --cover, --timing, --pair, --tee, --threads, --per-core or --assume-idle, because an event log has only memory accesses; leave these out
! Try 'coretap live --help'.
[2]
$ cd $T; coretap live --config raw/board.ini --milestone 1ms x
! coretap live: --milestone works only with --fractal, because other trace has no clock that starts with the program; add --fractal, or leave --milestone out
! Try 'coretap live --help'.
[2]
$ cd $T; coretap live --config raw/board.ini nowhere
! coretap: raw/board.ini: the capture names no program file; functions and lines are not known; name the program with --elf
[2]
$ cd $T; coretap live --config raw/board.ini --tee raw/board.bin raw/board.bin
! coretap: raw/board.ini: the capture names no program file; functions and lines are not known; name the program with --elf
[2]
$ cd $T; coretap live --config quickstart --tee x raw/board.bin
! coretap: quickstart: the capture names no program file; functions and lines are not known; name the program with --elf
[2]
$ cd $T; coretap live --config raw/board.ini --timing tcp:localhost:1
! coretap: tcp:localhost:1: cannot connect: Connection refused
[2]
$ cd $T; coretap live --config raw/board.ini --timing tcp:localhost
! coretap: tcp:localhost: the port is missing or wrong, so no trace is read; write tcp:HOST:PORT
[2]
$ cd $T; coretap live --config raw/board.ini --spec x --assume-idle raw/board.bin
! coretap: x: cannot be read: No such file or directory
[2]
$ cd $T; coretap merge --shard x quickstart
! coretap merge: --shard: 'x' does not have the form K/N, with K from 1 to N
! Try 'coretap merge --help'.
[2]
$ cd $T; coretap merge --shard 3/2 quickstart
! coretap merge: --shard: '3/2' does not have the form K/N, with K from 1 to N
! Try 'coretap merge --help'.
[2]
$ cd $T; coretap stats --frequency x quickstart
! coretap stats: --frequency: 'x' is not a number from 1 to 1000000000000
! Try 'coretap stats --help'.
[2]
$ cd $T; coretap graph
! coretap graph: --elf FILE is missing; it names the program
! Try 'coretap graph --help'.
[2]
$ cd $T; coretap graph --elf raw/board.ini
! coretap: raw/board.ini: this is neither an ELF file nor Intel HEX nor S-records; to use a raw memory dump, name it with its address in the .ini file of a raw trace (file =)
[2]
$ cd $T; coretap info -o nowhere/x quickstart
! coretap: nowhere/x: cannot be written: No such file or directory; create its folder first
[2]
$ cd $T; coretap watch --edge-numbers x --at 0x80000 quickstart
! coretap watch: --edge-numbers works only with --all-edges; add that, or leave it out
! Try 'coretap watch --help'.
[2]
$ HERE=$PWD; cd $T; cp -r "$HERE"/examples/raw "$HERE"/examples/quickstart .; coretap export -q --perf r.data quickstart; { head -c 8 r.data; head -c 100 /dev/zero; } >a.data; coretap info a.data
! coretap: a.data: the header is damaged: it gives event attributes 0 bytes, but 64 to 4096 are possible; the file cannot be read
[2]
$ cd $T; { printf '2ELIFREP'; tail -c +9 r.data; } >a.data; coretap info a.data
! coretap: a.data: this is a perf.data file of a big-endian machine, which coretap cannot read; record with a little-endian kernel, or describe its trace alone by an .ini file (docs/formats.md)
[2]
$ cd $T; head -c 50 r.data >a.data; coretap info a.data
! coretap: a.data: the file is truncated within its header, so nothing can be read; get a complete copy
[2]
$ cd $T; { head -c 16 r.data; printf '\377\377\377\377'; tail -c +21 r.data; } >a.data; coretap info a.data
! coretap: a.data: the header is damaged: it gives event attributes 4294967295 bytes, but 64 to 4096 are possible; the file cannot be read
[2]
$ cd $T; { head -c 40 r.data; printf '\377\377\377\377\377\377\377\377'; tail -c +49 r.data; } >a.data; coretap info a.data
! coretap: a.data: the header is damaged: its data at offset 0xffffffffffffffff with 0x1010 bytes exceeds 64 bits; the file cannot be read
[2]
$ cd $T; cp r.data a.data; printf '\0\0\0\0\0\0\0\0' | dd of=a.data bs=1 seek=48 conv=notrunc status=none; coretap info a.data 2>&1 | grep -v '^ '| head -4
| coretap: warning: a.data: the header was not completed, because perf was killed; records are read up to the end of the file
| coretap: warning: a.data: the file is truncated or damaged at offset 0x11a8, where the size of a record is less than that of its header; only what precedes it was read
| a.data: perf.data, 1 trace buffer
| damaged: a.data: the header was not completed, because perf was killed; records are read up to the end of the file
$ cd $T; coretap stats --vmlinux nowhere r.data | head -1
! coretap: nowhere: it cannot be read: No such file or directory; correct --vmlinux, or leave it out
$ cd $T; coretap stats --symfs nowhere r.data | head -1
! coretap: nowhere: it cannot be read: No such file or directory; correct --symfs, or leave it out
$ cd $T; coretap stats --buildid-dir nowhere r.data | head -1
! coretap: nowhere: it cannot be read: No such file or directory; correct --buildid-dir, or leave it out
$ cd $T; coretap live --config raw/board.ini --at 0x80000 --tee raw/board.bin raw/board.bin
! coretap: raw/board.bin: this is the input itself, which already holds the trace; name another file, or keep no copy
[2]
$ cd $T; coretap live --config raw/board.ini --at 0x80000 --tee 'a;b' raw/board.bin
! coretap: a;b: an .ini file cannot name this file (- means standard input, and ; and # begin comments), so the trace is not kept; choose another name
[2]
$ cd $T; coretap live --config raw/board.ini --at 0x80000 nowhere
! coretap: nowhere: cannot be opened: No such file or directory
[2]
$ cd $T; coretap live --config raw/board.ini --at 0x80000 tcp:
! coretap: tcp:: the port is missing or wrong, so no trace is read; write tcp:HOST:PORT
[2]
$ cd $T; coretap live --config raw/board.bin -
! coretap: raw/board.bin: these are bytes of a trace without their description, so they cannot be decoded; they look like CoreSight frames with the trace of these IDs; write the description into a file beside it, such as trace.ini, with the values in place of ?, and name that file (docs/formats.md, "Raw traces"):
!
! [capture]
! file = board.bin
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
! [source id20]
! id = 0x20
! protocol = itm           ; or ptm, etmv3
!
! [image program]
! elf = ?                  ; the program that ran
[2]
$ cd $T; printf 'in a: Events[Unit]\ndef error := count(a) < 0\nout error\n' >s; coretap live --config raw/board.ini --spec s --bind b=0x80000 raw/board.bin
! coretap: s:1:4: error: input a: nothing in the trace feeds it, so it would never have an event; bind it to a place
!     1 | in a: Events[Unit]
!       |    ^
[2]
$ cd $T; coretap live --config raw/board.ini --spec s raw/board.bin
! coretap: s:1:4: error: input a: nothing in the trace feeds it, so it would never have an event; bind it to a place
!     1 | in a: Events[Unit]
!       |    ^
[2]
$ cd $T; coretap monitor --spec s quickstart
! coretap: s:1:4: error: input a: nothing in the trace feeds it, so it would never have an event; bind it to a place
!     1 | in a: Events[Unit]
!       |    ^
[2]
$ cd $T; coretap monitor --spec s --bind a=x=y quickstart
! coretap: s:1:4: error: watchpoint 'x=y': no program has a function with this name; list the functions of a program with 'coretap graph'
!     1 | in a: Events[Unit]
!       |    ^
[2]
$ cd $T; coretap monitor --spec s --bind a=0x80000 --captures apart --per-core quickstart
! coretap: quickstart: no violation in 2 results
$ cd $T; coretap monitor --spec s --bind a=0x80000 --violation nothing quickstart
! coretap: output nothing: no specification has an output with this name that could be a violation; choose one of their out statements
[2]
$ cd $T; coretap monitor --spec s --bind a=0x80000 --frequency 5 --clock x quickstart
! coretap monitor: --clock: 'x' is not one of cycles, timestamps
! Try 'coretap monitor --help'.
[2]
$ cd $T; coretap monitor --spec s --bind a=0x80000 raw/board.ini
! coretap: raw/board.ini: no violation in 2 results
$ cd $T; coretap watch --at 'x' quickstart
! coretap: watchpoint 'x': no program has a function with this name; list the functions of a program with 'coretap graph'
[2]
$ cd $T; coretap watch --at '0xzz' quickstart
! coretap: watchpoint '0xzz': no program has a function with this name; list the functions of a program with 'coretap graph'
[2]
$ cd $T; coretap watch --at 'edge:x' quickstart
! coretap: watchpoint 'edge:x': 'edge' is not a kind of place, and no program has a function with the whole name; use one of function, entry, return, line, edge, exception, context, itm, stm, dwt, event, load, store, value, text, begin and end
[2]
$ cd $T; coretap watch --at 'itm:99' quickstart
| # cycle	timestamp	core	el	ctxt	vmid	event	value	watch
! coretap: quickstart: the list of events is empty although 4610 instructions ran, in firmware.bin: the trace has no values for the watched places; only software trace (ITM, STM) and data trace contain values; 'coretap info' lists the sources
[1]
$ cd $T; coretap watch --at 'itm:x' quickstart
! coretap: watchpoint 'itm:x': the number or name after itm: is wrong; write a stimulus port, 0 to 255: itm:3, itm:3.signed
[2]
$ cd $T; coretap watch --at 'event:nothing' quickstart
! coretap: watchpoint 'event:nothing': the capture has no event with this name; use a number (event:0), or name events in the [event] section of its .ini (docs/formats.md)
[2]
$ cd $T; coretap watch --at 'context:nothing' quickstart
! coretap: watchpoint 'context:nothing': the capture has no context with this name; use an ID (context:0x12), or name contexts in the [context] section of an .ini (docs/formats.md)
[2]
$ cd $T; coretap watch --at 'load:x' quickstart
! coretap: watchpoint 'load:x': there is no program, so its variables are unknown; name the program with --elf
[2]
$ cd $T; coretap watch --at 'main.c:x' quickstart
! coretap: watchpoint 'main.c:x': no program has a function with this name; list the functions of a program with 'coretap graph'
[2]
$ cd $T; coretap watch --at 'value:x' quickstart
! coretap: watchpoint 'value:x': no program has an event with this name or any other event of this kind; define it with coretap/itm.h
[2]
$ cd $T; coretap watch --list s quickstart
! coretap: watchpoint 'in a: Events[Unit]': no program has a function with this name; list the functions of a program with 'coretap graph'
[2]
$ cd $T; coretap cover --elf nothing quickstart
! coretap: nothing: cannot be opened: No such file or directory
[2]
$ cd $T; coretap cover --elf raw/board.bin quickstart
! coretap: raw/board.bin: this is neither an ELF file nor Intel HEX nor S-records; to use a raw memory dump, name it with its address in the .ini file of a raw trace (file =)
[2]
$ cd $T; coretap cover --elf . quickstart
! coretap: .: this is not a regular file, so it contains no memory image; name the file of the program
[2]
$ coretap cover --symdir README.md examples/quickstart
! coretap: README.md: this is not an ELF file with a build ID, so it can be found for no program; name the folder or the file with the debug information
[2]
$ cd $T; coretap cover --symdir nowhere quickstart
! coretap: nowhere: the folder cannot be searched for symbols: No such file or directory; name a folder or file that can be read
[2]
$ cd $T; coretap merge s
! coretap: s: this is text, not a capture; convert trace that is written as text to bytes; if a tool printed the text, name what the tool read; a description of a raw trace begins with [capture]
[2]
$ cd $T; coretap merge --kind watch quickstart
! coretap merge: quickstart: 'merge' has no option that says what to watch in a capture; make a file from the capture with 'coretap watch --at PLACE --format data', and merge that file
! Try 'coretap merge --help'.
[2]
$ cd $T; coretap timing --pair 'x y' quickstart
! coretap: watchpoint 'y': no program has a function with this name; list the functions of a program with 'coretap graph'
[2]
$ cd $T; coretap export --perf . quickstart
! coretap: .: cannot be written: Is a directory; it is a folder, so name a file in it
[2]
$ cd $T; coretap list -p -o quickstart quickstart
! coretap: quickstart: cannot be written: Is a directory; it is a folder, so name a file in it
[2]
$ cd $T; coretap decode --framing tpiu quickstart
| type	cycle	value	note
! coretap: quickstart: no CoreSight frame was found in 3488 bytes with framing tpiu; nothing was decoded; try another --framing
! coretap: quickstart: losses: 3488 bytes that could not be used
[1]
$ cd $T; coretap decode --framing none raw/board.ini >/dev/null
! coretap: raw/board.ini: losses: 1 gap, 9 invalid or truncated packets, 65 bytes that could not be used
[1]
$ cd $T; coretap decode --id 0 raw/board.ini
! coretap: raw/board.ini: the capture has no trace source with ID 00; 'coretap info' lists its sources
[2]
$ cd $T; coretap map
! coretap map: CAPTURE is missing; name captures, or give --manifest LIST
! Try 'coretap map --help'.
[2]
$ cd $T; coretap ctl
! coretap ctl: --http and --control are missing, so the run is not known; give one of them
! Try 'coretap ctl --help'.
[2]
$ cd $T; coretap ctl --http 1
! coretap ctl: ACTION is missing; give status, outputs, watch, monitor, filter or stop
! Try 'coretap ctl --help'.
[2]
$ cd $T; coretap ctl --http 1 fly
! coretap ctl: 'fly' is not an action; use status, outputs, watch, monitor, filter or stop
! Try 'coretap ctl --help'.
[2]
$ cd $T; coretap ctl --control nowhere status
! coretap: nowhere: there is no run that listens on this socket: No such file or directory; give the path of --control of the run
[2]
$ cd $T; coretap tessla
! coretap tessla: --spec FILE is missing; it names the specification to run
! Try 'coretap tessla --help'.
[2]
$ cd $T; coretap tessla --spec s nowhere
! coretap tessla: 'nowhere' is one argument too many; write --spec before the specification and --trace before the trace
! Try 'coretap tessla --help'.
[2]
$ cd $T; coretap tessla --spec s --trace nowhere -u ns
! coretap: nowhere: the trace cannot be read: No such file or directory
[2]
$ cd $T; printf 'x: a = 1\n' >t; coretap tessla --spec s --trace t -u ns
! coretap: t:1: error: expected a time, or a table that begins with 'time,NAME'; write each line as TIME: NAME = VALUE
[2]
$ cd $T; coretap help nothing
! coretap: unknown command 'nothing'
! Try 'coretap --help'.
[2]
$ cd $T; coretap stats --level
! coretap stats: --level needs a value
! Try 'coretap stats --help'.
[2]
$ cd $T; coretap live --config raw/board.ini --at 0x80000 tcp:
! coretap: tcp:: the port is missing or wrong, so no trace is read; write tcp:HOST:PORT
[2]
