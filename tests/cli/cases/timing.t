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
! coretap timing: --pair '0x80000': two places with a space between are expected
! Try 'coretap timing --help'.
[2]
$ coretap timing -q --pair "0x80000 main" examples/quickstart
! coretap: watchpoint 'main': no program has a function of that name; 'coretap graph' lists those of one
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
! coretap: nothing to plot: give --pair, or --function with a function of which whole runs were seen
[1]
