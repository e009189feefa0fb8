# Trace while it comes: what is asked for wrongly is said before anything is read. What is seen needs a recorded program:
# tests/recorded/test_live.py.
$ coretap live -
! coretap live: --config FILE.ini is missing; it describes the stream (docs/formats.md)
! Try 'coretap live --help'.
[2]
$ coretap live --config examples/raw/board.ini --timing nowhere
! coretap: nowhere: cannot be opened: No such file or directory
[2]
$ coretap live --config examples/raw/board.ini --cover examples/raw/board.bin
! coretap: examples/raw/board.ini: the capture names no program file; functions and lines are not known; name the program with --elf
[2]
$ coretap live --config examples/raw/board.ini --at nowhere examples/raw/board.bin
! coretap: watchpoint 'nowhere': no program has a function with this name; list the functions of a program with 'coretap graph'
[2]
$ coretap live --config examples/raw/board.ini --pair 0x80000 examples/raw/board.bin
! coretap live: --pair '0x80000': this is not two places separated by a space; write 'FROM TO'
! Try 'coretap live --help'.
[2]
$ coretap live --config examples/raw/board.ini --at 0x80000 --ring 0 examples/raw/board.bin
! coretap live: --ring: '0' is not a number from 1 to 65536
! Try 'coretap live --help'.
[2]
$ coretap live --config examples/raw/board.ini -q --timing examples/raw/board.bin
| # buffer trace, id 10, core cpu0
| # cycles=0 edges=0 unplaced=0 steps=4 untimed=4 gaps=0 overflows=0 contradictions=0 bad_packets=0 lost_bytes=0 no_access=0 exceptions=0 switches=0
| # function	cycles	runs	cut	self count	min	mean	max	deviation	inclusive count	min	mean	max	deviation	recursive	preempted	cycles of others
| loop-code.bin+0x0	0	0	0	0	0	0.00	0	0.00	0	0	0.00	0	0.00	0	0	0
| # buffer trace, id 20, core itm
| # cycles=0 edges=0 unplaced=0 steps=0 untimed=0 gaps=0 overflows=0 contradictions=0 bad_packets=0 lost_bytes=0 no_access=0 exceptions=0 switches=0
| # function	cycles	runs	cut	self count	min	mean	max	deviation	inclusive count	min	mean	max	deviation	recursive	preempted	cycles of others
# How often execution came by what was watched is told at the end, also without a page.
$ coretap live -q --config examples/raw/board.ini --at exception --at 0x80000 examples/raw/board.bin
| 0	exception
| 1	0x80000 addr
$ coretap live -q --config examples/raw/board.ini --at 0x80000 -o $T/sums examples/raw/board.bin
$ cat $T/sums/watch.txt
| 1	0x80000 addr
$ coretap watch -q --format sums --at 0x80000 examples/raw/board.ini
| 1	0x80000 addr
$ coretap ctl
! coretap ctl: --http and --control are missing, so the run is not known; give one of them
! Try 'coretap ctl --help'.
[2]
$ coretap ctl --http 1
! coretap ctl: ACTION is missing; give status, outputs, watch, monitor, filter or stop
! Try 'coretap ctl --help'.
[2]
$ coretap ctl --http 1 go
! coretap ctl: 'go' is not an action; use status, outputs, watch, monitor, filter or stop
! Try 'coretap ctl --help'.
[2]
$ coretap ctl --http 1 monitor add
! coretap ctl: monitor: the arguments must be add [NAME] FILE [INPUT=PLACE]..., replace [NAME] FILE [INPUT=PLACE]... or remove NAME
! Try 'coretap ctl --help'.
[2]
$ coretap ctl --http 1 filter x=1
! coretap ctl: filter: 'x=1' does not have the form id=HEX,…, context=HEX,… or el=N,…
! Try 'coretap ctl --help'.
[2]
$ coretap ctl --http 1 status
! coretap: 1: cannot be reached: Connection refused; check that 'coretap live --http 1' is running
[2]
$ coretap live --config examples/raw/board.ini --at 0x80000 --post-ca /dev/null examples/raw/board.bin
! coretap live: --post-ca works only with --post-violations https://…; add that, or leave --post-ca out
! Try 'coretap live --help'.
[2]
$ coretap live --config examples/raw/board.ini --at 0x80000 --on-violation "echo 'x" examples/raw/board.bin
! coretap: 'echo 'x': a quotation mark is not closed, so the command cannot be run; close it
[2]
$ coretap live --config examples/raw/board.ini --at 0x80000 --outputs out --format xml examples/raw/board.bin
! coretap live: --format: 'xml' is not one of csv, jsonl
! Try 'coretap live --help'.
[2]
$ coretap ctl --http 1 outputs csv a b
! coretap ctl: outputs: the arguments must be [csv|jsonl] [NAME]
! Try 'coretap ctl --help'.
[2]
# The library that shows the page can go after coretap was built.
needs live
$ CORETAP_MICROHTTPD=/nowhere/libmicrohttpd.so coretap live --config examples/raw/board.ini --timing --http 127.0.0.1:0 examples/raw/board.bin
! coretap: 127.0.0.1:0: libmicrohttpd cannot be loaded, so the page cannot be served; install it (Debian: libmicrohttpd12), or omit --http
[2]
# So can the one that fleet digests captures with.
$ CORETAP_CRYPTO=/nowhere/libcrypto.so coretap map --state $T/state cover examples/quickstart
! coretap: libcrypto cannot be loaded, so captures cannot be identified by their contents; install it (Debian: libssl3)
[2]
# A program without lines has an empty tracefile, which is no fault of the run; what ran in no program is told.
$ printf ':020000040008F2\n:0C000000600080D2000400F1E1FFFF541A\n:00000001FF\n' > $T/part.hex
$ coretap live -q --config examples/raw/board.ini --elf $T/part.hex --cover -o $T/live examples/raw/board.bin
! coretap: -: the tracefile is empty, because the programs have no source lines, of which its format consists; compile them with -g, or name their debug information with --symdir
$ coretap live --config examples/raw/board.ini --elf $T/part.hex --cover examples/raw/board.bin 2>&1 | grep 'incomplete'
| coretap: -: the coverage is incomplete: 1 of 8 instructions ran outside the known programs, in 0x8000c..0x8000c (1 instruction); name their program with --elf FILE[@HEX], or see 'coretap list' for code that was generated at run time
$ grep -o 'in_no_program[^]]*' $T/live/live.json
| in_no_program":[1,8
$ grep '^outside' $T/live/cover.data
| outside 8000c 8000c 1
$ coretap cover -q -f data --elf $T/part.hex examples/raw/board.ini | grep '^outside'
| outside 8000c 8000c 1
