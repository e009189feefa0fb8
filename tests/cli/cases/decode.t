$ coretap decode --id 10 examples/quickstart | head -40
| type	cycle	value	note
| On	0		filter
| Ctx	0		EL0 ns 64-bit ctxt=0x2a
| Go	0	0x80500	firmware.bin+0x500
| Br	0	0x80520	firmware.bin+0x520
| Br	0	0x8053c	firmware.bin+0x53c
| Br	16	0x8053c	firmware.bin+0x53c
| Br	16	0x8053c	firmware.bin+0x53c
| Br	32	0x8053c	firmware.bin+0x53c
| Br	32	0x8053c	firmware.bin+0x53c
| Br	51	0x80558	firmware.bin+0x558
| Br	51	0x80524	firmware.bin+0x524
| Br	51	0x8057c	firmware.bin+0x57c
| Br	51	0x8055c	firmware.bin+0x55c
| Br	68	0x8056c	firmware.bin+0x56c
| Br	68	0x80560	firmware.bin+0x560
| Br	68	0x8056c	firmware.bin+0x56c
| Br	87	0x80560	firmware.bin+0x560
| Br	87	0x80560	firmware.bin+0x560
| Br	103	0x80560	firmware.bin+0x560
| Br	103	0x80574	firmware.bin+0x574
| Br	103	0x80588	firmware.bin+0x588
| Exc	103	0x2	call, returns to 0x80590 (firmware.bin+0x590)
| Ctx	103		EL1 ns 64-bit ctxt=0x2a
| Go	103	0x80400	firmware.bin+0x400
| Br	121	0x80598	firmware.bin+0x598
| Br	121	0x80590	firmware.bin+0x590
| Ret	121
| Ctx	121		EL0 ns 64-bit ctxt=0x2a
| Br	121	0x8052c	firmware.bin+0x52c
| Br	121	0x80508	firmware.bin+0x508
| Br	141	0x8055c	firmware.bin+0x55c
| Br	141	0x8056c	firmware.bin+0x56c
| Br	157	0x80560	firmware.bin+0x560
| Br	157	0x80560	firmware.bin+0x560
| Br	157	0x8056c	firmware.bin+0x56c
| Br	175	0x80560	firmware.bin+0x560
| Br	175	0x80560	firmware.bin+0x560
| Ts	175	0x100002e
| Br	191	0x80560	firmware.bin+0x560
$ coretap decode --id 11 --format jsonl examples/quickstart | tail -10
| {"buffer":"ETB_0","id":"11","offset":3440,"type":"Br","cycle":0,"value":"0x80588","name":"firmware.bin+0x588"}
| {"buffer":"ETB_0","id":"11","offset":3443,"type":"Br","cycle":0,"value":"0x80590","name":"firmware.bin+0x590"}
| {"buffer":"ETB_0","id":"11","offset":3443,"type":"Br","cycle":0,"value":"0x8052c","name":"firmware.bin+0x52c"}
| {"buffer":"ETB_0","id":"11","offset":3447,"type":"Exc","cycle":0,"value":"0x2","return_name":"firmware.bin+0x538","note":"call, returns to 0x80538"}
| {"buffer":"ETB_0","id":"11","offset":3451,"type":"Ctx","cycle":0,"note":"EL1 ns 64-bit ctxt=0x2a"}
| {"buffer":"ETB_0","id":"11","offset":3466,"type":"Go","cycle":0,"value":"0x80400","name":"firmware.bin+0x400"}
| {"buffer":"ETB_0","id":"11","offset":3466,"type":"Br","cycle":0,"value":"0x80598","name":"firmware.bin+0x598"}
| {"buffer":"ETB_0","id":"11","offset":3466,"type":"Br","cycle":0,"value":"0x80538","name":"firmware.bin+0x538"}
| {"buffer":"ETB_0","id":"11","offset":3466,"type":"Ret","cycle":0}
| {"buffer":"ETB_0","id":"11","offset":3467,"type":"End","cycle":0,"note":"end of trace"}
$ coretap decode --format csv examples/quickstart | cut -d, -f2,4 | sort | uniq -c
|     316 10,Br
|      18 10,Ctx
|       1 10,End
|       9 10,Exc
|      10 10,Go
|       1 10,On
|       8 10,Ret
|       9 10,Ts
|    1243 11,Br
|      70 11,Ctx
|       1 11,End
|      33 11,Exc
|      34 11,Go
|       1 11,On
|      33 11,Ret
|       7 11,Ts
|       1 id,type

$ coretap decode --merge examples/quickstart | awk -F'\t' 'NR > 1 { if ($1 + 0 < last) back++; last = $1 + 0; n[$2]++ } END { print back + 0, n["10"], n["11"] }'
| 0 372 1422

$ coretap decode --merge --format csv examples/quickstart | sed -n '1p;1200,1204p'
| time,buffer,id,offset,type,cycle,value,note
| 16778481,"ETB_0",11,2499,Br,0,0x8056c,"firmware.bin+0x56c"
| 16778481,"ETB_0",11,2499,Br,0,0x80560,"firmware.bin+0x560"
| 16778481,"ETB_0",11,2500,Br,0,0x8056c,"firmware.bin+0x56c"
| 16778481,"ETB_0",11,2500,Br,0,0x80560,"firmware.bin+0x560"
| 16778481,"ETB_0",11,2501,Br,0,0x8056c,"firmware.bin+0x56c"

$ coretap decode examples/raw/itm.ini | sed -n '4,5p'
| Sw	0	0x68	port 0
| Sw	0	0x65	port 0

$ coretap decode --text-ports --quiet examples/raw/itm.ini
| type	cycle	value	note
| # buffer trace
| # id 00
| Txt	0	0x0	hello
| End	0		end of trace

$ coretap decode --merge --text-ports --quiet examples/raw/itm.ini
| time	id	type	cycle	value	note
| 	00	Txt	0	0x0	hello
| 	00	End	0		end of trace
! coretap: trace, ID 00: the source has no timestamps, so its place among the others is not known; it is printed after them; record with timestamps to merge it
$ coretap decode --core cpu_0 --from 500cyc --to 520cyc examples/quickstart
| type	cycle	value	note
| # buffer ETB_0
| # id 10
| Br	512	0x80560	firmware.bin+0x560
| Br	512	0x80560	firmware.bin+0x560
$ (coretap decode --core cpu_0 --no-names --to 700cyc examples/quickstart; coretap decode --core cpu_0 --no-names --from 700cyc examples/quickstart) | grep -v '^#\|^type' > $T/both
$ coretap decode --core cpu_0 --no-names examples/quickstart | grep -v '^#\|^type' | cmp - $T/both
$ coretap decode --el 1 examples/quickstart | cut -f1 | grep -c Br
| 91
$ coretap decode --to 5cyc examples/quickstart > $T/none
! coretap: ETE_1: the trace has no cycle counts, so a window in cycles selects nothing; give the window in time, instructions or places, or choose another trace ID or core
[2]
$ coretap decode --to main examples/quickstart
! coretap: 'main' is read as a place, but a window of events cannot begin or end at one, because events do not contain every instruction; give a time (12.5s, 3ms, 20us, 700ns, 190327ticks) or a number of cycles (500000cyc)
[2]
$ coretap decode --from nan examples/quickstart
! coretap: 'nan' is read as a place, but a window of events cannot begin or end at one, because events do not contain every instruction; give a time (12.5s, 3ms, 20us, 700ns, 190327ticks) or a number of cycles (500000cyc)
[2]
$ coretap decode --from -1s examples/quickstart
! coretap decode: --from: '-1s': a number must begin with a digit; give a time (12.5s, 3ms, 20us, 700ns, 190327ticks), a number of cycles (500000cyc) or instructions (1000000insn), or a place (main, main.c:32, 0x4010), with #N behind it for the N-th time that execution reaches it
! Try 'coretap decode --help'.
[2]
$ coretap decode --from 100insn examples/quickstart
! coretap: the filter selects instructions, modules or functions; events do not contain every instruction, so they cannot be filtered by these; give a window in time, ticks or cycles
[2]
$ coretap decode ''
! coretap: '': cannot be opened: No such file or directory; name a snapshot directory, the .ini file of a raw trace, or a perf.data file
[2]
$ coretap decode --context 77 examples/quickstart > $T/none
! coretap: examples/quickstart: the result is empty although 4610 instructions ran: none of them belongs to the selected part; there are 1794 events and up to 1897 cycles in a stream; timestamps 16777262 to 16778994; contexts 2a; threads 42; exception levels 0, 1
[1]
$ coretap decode --merge --from 16777300ticks --to 16777350ticks --core cpu_0 examples/quickstart | sed -n '1p;$p'
| time	id	type	cycle	value	note
| 16777346	10	Br	512	0x80560	firmware.bin+0x560
$ coretap decode --merge --context 77 --threads 2 examples/quickstart > $T/none
! coretap: examples/quickstart: the result is empty although 4610 instructions ran: none of them belongs to the selected part; there are 1794 events and up to 1897 cycles in a stream; timestamps 16777262 to 16778994; contexts 2a; threads 42; exception levels 0, 1
[1]
$ coretap decode --el 1 examples/raw/itm.ini
| type	cycle	value	note
! coretap: examples/raw/itm.ini: the result is empty, because none of its events belongs to the selected part; there are 6 events in a stream
[1]
$ coretap decode --merge --from main examples/quickstart
! coretap: 'main' is read as a place, but a window of events cannot begin or end at one, because events do not contain every instruction; give a time (12.5s, 3ms, 20us, 700ns, 190327ticks) or a number of cycles (500000cyc)
[2]

Source lines and instructions have columns of their own.
needs capstone
$ coretap decode --symbols --disasm --id 10 examples/quickstart | head -5
| type	cycle	value	note	source	instruction
| On	0		filter
| Ctx	0		EL0 ns 64-bit ctxt=0x2a
| Go	0	0x80500	firmware.bin+0x500		nop
| Br	0	0x80520	firmware.bin+0x520		blr     x9
needs capstone
$ coretap decode --disasm -f jsonl --id 10 examples/quickstart | sed -n 17p
| {"buffer":"ETB_0","id":"10","offset":86,"type":"Br","cycle":87,"value":"0x80560","name":"firmware.bin+0x560","instruction":"cbz     x0, #0x80574"}
$ coretap decode --table1 --disasm examples/quickstart
! coretap decode: --table1 has fixed columns; leave out --symbols and --disasm
! Try 'coretap decode --help'.
[2]
$ coretap decode --no-names --symbols examples/quickstart
! coretap decode: --no-names does not read the programs, which --symbols and --disasm need; leave out --no-names, or leave out --symbols and --disasm
! Try 'coretap decode --help'.
[2]
