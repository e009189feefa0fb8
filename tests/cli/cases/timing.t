# Times of the example capture, whose firmware is no ELF file.
$ coretap timing -q --edges --top 3 examples/quickstart | head -9
| # buffer ETB_0, id 10, core cpu_0
| # cycles=1897 edges=1897 unplaced=0 steps=551 untimed=1 gaps=0 overflows=0 contradictions=0 bad_packets=0 lost_bytes=0 no_access=0 exceptions=9 switches=0
| # function	cycles	runs	cut	self count	min	mean	max	deviation	inclusive count	min	mean	max	deviation	recursive	preempted	cycles of others
| firmware.bin+0x0	1897	36	0	36	11	43.53	65	21.07	24	33	65.29	79	11.43	12	9	96
| # edge	code	way out	to	count	timed	min	mean	max	deviation	shared
| -	0x80568..0x80570	next	0x80560	62	62	4	5.98	10	1.53	62
| -	0x8056c..0x80570	next	0x80560	39	39	3	4.54	8	1.17	39
| -	0x80560..0x80560	next	0x80564	83	83	1	1.76	5	0.74	83
| # 42 more
$ coretap timing -q --pair "0x80000" examples/quickstart
! coretap timing: --pair '0x80000': this is not two places separated by a space; write 'FROM TO'
! Try 'coretap timing --help'.
[2]
$ coretap timing -q --pair "0x80000 main" examples/quickstart
! coretap: watchpoint 'main': no program has a function with this name; list the functions of a program with 'coretap graph'
[2]
$ coretap timing -q --format json examples/quickstart | head -16
| [
|   {
|     "buffer": "ETB_0",
|     "id": "10",
|     "core": "cpu_0",
|     "totals": {
|       "cycles": 1897,
|       "edges": 1897,
|       "unplaced": 0,
|       "steps": 551,
|       "untimed": 1,
|       "gaps": 0,
|       "overflows": 0,
|       "contradictions": 0,
|       "bad_packets": 0,
|       "lost_bytes": 0,
$ coretap timing -q --format svg --function main examples/quickstart
! coretap: --function main: no run of this function was measured from call to return; nothing is plotted; name a function whose inclusive count is not 0 in 'coretap timing'
[1]
Plots of several streams are one picture.
$ coretap timing -q --format svg --pair '0x8053c 0x8053c' examples/quickstart | grep -o '<svg xmlns\|class="back"\|<svg y="[0-9]*"\|[0-9]* times on [^<]*\|</svg>'
| <svg xmlns
| class="back"
| <svg y="0"
| 30 times on cpu_0
| </svg>
| <svg y="260"
| 145 times on cpu_1
| </svg>
| </svg>
$ coretap timing -q --format svg examples/quickstart
! coretap: --format svg: no time between two places was measured; nothing is plotted; give --pair with places that execution reaches, or --function
[1]
$ coretap timing --function main examples/quickstart
! coretap timing: --function works only with --format svg; leave it out, because tables have all functions (--top limits how many)
! Try 'coretap timing --help'.
[2]
$ coretap timing --format json --function main examples/quickstart
! coretap timing: --function works only with --format svg; leave it out, because tables have all functions (--top limits how many)
! Try 'coretap timing --help'.
[2]

# Sums: of the streams of one capture, of several captures, and of files in their place.
$ coretap timing -q --format data examples/quickstart > $T/one && head -10 $T/one
| coretap-timing 5
| captures 1
| capture examples/quickstart
| totals 1897 1897 0 2753 2203 0 42 0 0
| function - 80000 2753 1897 156 120 firmware.bin+0x0
| inclusive 24 1567 33 79 0 19be5 24 1 26 1 29 2 31 6 32 6 33 8
| self 36 1567 11 65 0 148d7 11 1 12 2 13 1 15 2 16 5 18 1 24 1 26 1 28 1 29 4 30 3 31 10 32 4
| recursive 12 700 49 64 0 a07c 28 1 29 2 30 3 31 5 32 1
| preempted 9 96 6 17 0 47a 6 2 7 1 10 2 12 1 14 2 16 1
| longest 79 1002 1081 10 examples/quickstart ETB_0
$ coretap timing -q --together --edges --top 1 examples/quickstart
| # captures=1 damaged=0 unknown=0 failed=0
| # cycles=1897 edges=1897 unplaced=0 steps=2753 untimed=2203 gaps=0 overflows=0 contradictions=0 bad_packets=0 lost_bytes=0 no_access=0 exceptions=42 switches=0
| # function	cycles	runs	cut	self count	min	mean	max	deviation	inclusive count	min	mean	max	deviation	recursive	preempted	cycles of others
| firmware.bin+0x0	1897	156	120	36	11	43.53	65	21.07	24	33	65.29	79	11.43	12	9	96
| # edge	code	way out	to	count	timed	min	mean	max	deviation	shared
| -	0x80568..0x80570	next	0x80560	272	62	4	5.98	10	1.53	62
| # 61 more
$ coretap merge $T/one examples/quickstart > $T/two
! coretap: warning: timing: examples/quickstart: this was added more than once, so its counts are multiplied; omit the repetition, unless these are different captures with the same name
! coretap: timing of 2 captures, 0 of them damaged; losses: none
! coretap:   examples/quickstart
$ coretap timing $T/two | head -2
| # captures=2 damaged=0 unknown=0 failed=0
| # cycles=3794 edges=3794 unplaced=0 steps=5506 untimed=4406 gaps=0 overflows=0 contradictions=0 bad_packets=0 lost_bytes=0 no_access=0 exceptions=84 switches=0
$ cat $T/one | coretap merge -q --kind timing /dev/stdin $T/one | cmp - $T/two
! coretap: warning: timing: examples/quickstart: this was added more than once, so its counts are multiplied; omit the repetition, unless these are different captures with the same name
$ coretap timing -q --format data $T/one examples/quickstart | cmp - $T/two
! coretap: warning: timing: examples/quickstart: this was added more than once, so its counts are multiplied; omit the repetition, unless these are different captures with the same name
$ coretap merge -q --kind timing examples/quickstart | cmp - $T/one
$ sed 's/^self 36/self 37/' $T/one > $T/bad; coretap timing $T/bad 2>&1 | sed 's/.*bad:/bad:/'
| bad:117: the checksum does not match, because the file was changed after it was written; the file was not loaded; write it again with 'coretap timing --format data'
$ head -8 $T/one > $T/bad; coretap timing $T/bad 2>&1 | sed 's/.*bad:/bad:/'
| bad:8: the file is truncated: its last line is not 'end'; the file was not loaded; write it again with 'coretap timing --format data'
$ printf 'coretap-timing 1\nfunction 0 10 1 1 1 0 f\n' > $T/bad; coretap timing $T/bad 2>&1 | sed 's/.*bad:/bad:/'
| bad:2: the line is not 'function PROGRAM ADDR STEPS CYCLES RUNS CUT NAME'; the file was not loaded; write it again with 'coretap timing --format data'
$ printf 'coretap-timing 1\nself 1 1 1 1 0 1\n' > $T/bad; coretap timing $T/bad 2>&1 | sed 's/.*bad:/bad:/'
| bad:2: the line begins with none of captures, damaged, unknown, lost, program, started, totals, function, longest, edge, pair, and is not a distribution of the previous function, edge or pair; the file was not loaded; write it again with 'coretap timing --format data'
$ coretap cover $T/one 2>&1 | sed 's/.*one:/one:/' | head -1
| one:1: this is not a coverage file, because its first line is not 'coretap-coverage 5'; the file was not loaded; write it again with 'coretap cover --format data'
$ coretap timing -q --format json --pair "0x80000" examples/quickstart
! coretap timing: --pair '0x80000': this is not two places separated by a space; write 'FROM TO'
! Try 'coretap timing --help'.
[2]

$ : > $T/none; coretap merge $T/none
! coretap: $T/none: the file is empty; name a capture, or a file that a command wrote with --format data
[2]

# A trace in which no instruction ran.
$ coretap timing -o $T/times examples/raw/itm.ini
! coretap: examples/raw/itm.ini: the table of times is empty, because its trace contains no executed instructions; 'coretap stats' shows what it contains
! coretap: $T/times: the file is not written, because the result is empty
[1]
$ coretap timing -q -f data examples/raw/itm.ini > $T/v5 2> /dev/null; sed 's/timing 5/timing 4/; s/^end.*/end 5f98afd0ab956c86/' $T/v5 > $T/v4; coretap merge -q $T/v4 | cmp - $T/v5
$ coretap timing -f data examples/raw/itm.ini
| coretap-timing 5
| captures 1
| capture examples/raw/itm.ini
| totals 0 0 0 0 0 0 0 0 0
| end b555cc436ea2a656
! coretap: examples/raw/itm.ini: the table of times is empty, because its trace contains no executed instructions; 'coretap stats' shows what it contains
[1]
