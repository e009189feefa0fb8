The coherence-port tracer.
$ coretap fractal
! Usage: coretap fractal COMMAND [OPTION]...
!
! FRACTAL listens to the coherence traffic of a processor cluster and finds the
! virtual address of each last-level cache miss of one process. Without a board,
! 'run' executes an ordinary Arm program on a simulated cluster; 'replay' reads
! recorded messages of a real port.
!
! Commands:
!   fractal run        trace an Arm program on the simulated cluster
!   fractal replay     run the tracer on recorded messages of a port
!   fractal report     report on an event log: functions over time, heatmaps, milestones
!   fractal overhead   predict what tracing costs a program
!   fractal regs       the register map of the configuration port
!
! 'coretap fractal COMMAND --help' says more about each.
[2]
$ coretap fractal rune
! coretap: unknown command 'rune'; did you mean 'run'?
! Try 'coretap fractal --help'.
[2]
$ coretap fractal run -o $T/log
! coretap fractal run: PROGRAM is missing; name it behind --
! Try 'coretap fractal run --help'.
[2]
$ coretap fractal run -o $T/log --mode passive --point main /bin/sh
! coretap: --point main: in passive mode its line stays in the caches, so most accesses would be missed; nothing was run; choose --mode points
[2]
$ coretap fractal run /bin/sh
! coretap fractal run: -o LOG is missing; it names the event log to write
! Try 'coretap fractal run --help'.
[2]
$ coretap fractal run -o $T/log --range 5..3 -- $T/none
! coretap fractal run: --range: '5..3': this is not a range; write it as LO..HI in hexadecimal, with LO below HI and HI at most 1000000000000
! Try 'coretap fractal run --help'.
[2]
$ coretap fractal replay --messages /dev/zero --pgd 1000 --va-bits 39 -o $T/log
! coretap: /dev/zero:1: the line is longer than 1024 KiB, so it is no message; the rest is not read; name a stream of messages
[2]
$ coretap fractal run -o $T/log --point
! coretap fractal run: --point needs a value
! Try 'coretap fractal run --help'.
[2]
$ coretap fractal regs | head -4
| offset name           bits      meaning
| 0x000  ID             32   ro   0x43544652
| 0x004  VERSION        32   ro   version of this block: 2
| 0x008  CTRL           32   rw   bit 0 enable (0 to 1 starts anew); 2:1 mode (0 passive, 1 points, 2 active); 3 log points only; 4 interrupt on full
$ coretap fractal replay
! coretap fractal replay: --messages FILE is missing; it names the recorded messages to read
! Try 'coretap fractal replay --help'.
[2]
A replay without an event says why, and options that cannot have an effect are refused.
$ printf '1,ReadShared,0,D,0x1000,0\n' > $T/one
$ : > $T/none; coretap fractal replay --messages $T/none --pgd 1000 > $T/out
! coretap: $T/none: there are no events, because the stream has no messages
[1]
$ coretap fractal replay --messages $T/one > $T/out
! coretap: $T/one: there are no events, because no register write in the stream enables the tracer; name the target's page table (--pgd)
[1]
$ coretap fractal replay --messages $T/one --pgd 1000 > $T/out
! coretap: $T/one: of 1 lines of page tables that the tracer asked for, the stream has only 0 as Data; translations and their events are missing
[1]
$ coretap fractal replay --messages $T/one --pgd 2000 > $T/out
! coretap: $T/one: there are no events, because the stream has no read of the target's page table: its address (--pgd) is wrong, or all walks hit in the caches
[1]
$ coretap fractal replay --messages $T/one --mode passive
! coretap fractal replay: --mode needs --pgd; without it the register writes in the stream configure the tracer
! Try 'coretap fractal replay --help'.
[2]
$ coretap fractal replay --messages $T/one --pgd 1000 --point main
! coretap fractal replay: --point: 'main' is not a hexadecimal address below 1000000000000; messages have no names of programs
! Try 'coretap fractal replay --help'.
[2]
$ coretap fractal replay --messages $T/one --pgd 1000 --point 4000 --range 5000..6000
! coretap: point 0x4000: it is outside of the traced range, so no hit would be logged; nothing was replayed
[2]
$ coretap fractal replay --messages $T/one --pgd 1000 --point 4000 --mode passive
! coretap: point 0x4000: in passive mode its line stays in the caches, so most accesses would be missed; nothing was replayed
[2]
The commands that set up the target are among the tracer's commands, and register writes describe the target in the log.
$ coretap fractal replay --messages $T/one --pgd 1000 --range 0..1000 --commands $T/commands > $T/out; cat $T/commands
| time,command,pa,va,asid,flits
| 0,Clean,0x1000,0x0,0,
| 0,Clean,0x1040,0x0,0,
| 0,TlbiAsid,0x0,0x0,0,
| 1,Read,0x1000,0x0,0,
! coretap: $T/one: of 1 lines of page tables that the tracer asked for, the stream has only 0 as Data; translations and their events are missing
$ printf '0,RegWrite,0,-,0x10,0x1000\n0,RegWrite,0,-,0x1c,0x270e\n0,RegWrite,0,-,0x20,0x4000\n0,RegWrite,0,-,0x28,0x8000\n0,RegWrite,0,-,0x64,1\n0,RegWrite,0,-,0x8,1\n' > $T/set; coretap fractal replay --messages $T/set -o $T/log > $T/out; coretap fractal report -q $T/log | head -1
| range     0x4000..0x8000, mode passive, page of 16 KiB
! coretap: $T/set: there are no events, because the stream has no read of the target's page table: its address (--pgd) is wrong, or all walks hit in the caches
! coretap: $T/log: the log has no events
$ printf 'time,op,initiator,kind,addr,value\n1,ReadShared,0,D,0x1000,0\n2,Nonsense,0,D,0,0\n0,ReadOnce,0,D,0,0\n' > $T/m
$ coretap fractal replay --messages $T/m --pgd 1000 --va-bits 39 -o $T/log | head -6
| messages         3
| refused          2
| SNOOPS           1
| EVENTS           0
| DROPPED          0
| WALKS            1
! coretap: $T/m:3: column 11: op: unknown operation
! coretap: $T/m:4: fractal message at 1: the time goes back to 0; the message was ignored
! coretap: $T/m: of 1 lines of page tables that the tracer asked for, the stream has only 0 as Data; translations and their events are missing
$ printf '1,SNP.SnpShared,0,D,0x200,0\n2,SNP.0x18,0,D,0,0\n3,SNP.SnpUnique,0,D,0x2000000000000,0\n4,AC.ReadOnce,0,D,0,0\n5,SNP.SnpDVMOp,0,-,0,0\n' > $T/flits
$ coretap fractal replay --protocol chi --messages $T/flits --pgd 1000 --va-bits 39 --commands $T/commands | head -3; tail -2 $T/commands
| messages         5
| refused          4
| SNOOPS           1
| 0,TlbiAsid,0x0,0x0,0,REQ.DVMOp:0x5e0:0x0
| 1,Read,0x1000,0x0,0,REQ.ReadShared:0x1000:0x0
! coretap: $T/flits:2: SNP opcode 0x18: the opcode is reserved; the flit was ignored
! coretap: $T/flits:3: SNP.SnpUnique address 0x2000000000000: the address has more than 49 bits; the flit was ignored
! coretap: $T/flits:4: a flit of channel AC: chi has no such channel; the flit was ignored
! coretap: $T/flits:5: 1 DVM messages are without their second part at the end of the stream; they are lost
! coretap: $T/flits: of 1 lines of page tables that the tracer asked for, the stream has only 0 as Data; translations and their events are missing
$ coretap fractal replay --messages $T/flits --pgd 1000 --va-bits 39 | head -2
| messages         5
| refused          5
! coretap: $T/flits:1: a flit of SNP: the protocol is unknown, so the flit was ignored; give it with --protocol
! coretap: $T/flits:2: a flit of SNP: the protocol is unknown, so the flit was ignored; give it with --protocol
! coretap: $T/flits:3: a flit of SNP: the protocol is unknown, so the flit was ignored; give it with --protocol
! coretap: $T/flits:4: a flit of AC: the protocol is unknown, so the flit was ignored; give it with --protocol
! coretap: $T/flits:5: a flit of SNP: the protocol is unknown, so the flit was ignored; give it with --protocol
! coretap: $T/flits: there are no events, because the stream has no read of the target's page table: its address (--pgd) is wrong, or all walks hit in the caches
$ coretap fractal run --protocol cxl -o $T/log -- $T/none
! coretap fractal run: --protocol: 'cxl' is not one of ace, chi
! Try 'coretap fractal run --help'.
[2]
$ coretap fractal report $T/log --csv
| time,va,pa,op,initiator,kind,symbol
! coretap: $T/log: the log does not name its program; functions and objects have no names; name the program with --elf
! coretap: $T/log: the log has no events
[1]
$ coretap fractal report $T/m
! coretap: $T/m: this is not a FRACTAL event log, because it does not begin with CTFRACT1
[2]
$ coretap fractal report --csv --html $T/log
! coretap fractal report: --csv, --html, --svg, --perfetto and --data exclude each other; give only one of them
! Try 'coretap fractal report --help'.
[2]
An event log in the place of a capture: places are looked for by their line, losses make results uncertain until both ends of an interval come behind them.
$ coretap fractal replay --messages tests/cli/cases/fractal-log.messages --pgd 1000 --va-bits 39 --mode passive -o $T/events > $T/sums; coretap fractal report $T/events --csv | wc -l
| 7
! coretap: $T/events: the log does not name its program; functions and objects have no names; name the program with --elf
$ coretap monitor --spec examples/monitor/timing-stream.tessla -u us --bind firstCalls=0x400000 --bind triggerCalls=0x400084 -a $T/events
| 180: error = true, violation at 0x400084
| 420: error = true, violation at 0x400084
| 500: error = true, violation at 0x400084
! coretap: $T/events: 3 violations, 0 of them uncertain, in 3 results
[1]
$ coretap monitor --spec examples/monitor/timing-stream.tessla -u us --bind firstCalls=0x400000 --bind triggerCalls=0x500000 -a $T/events
! coretap: $T/events: no violation in 0 results
$ printf '\003' | dd of=$T/events bs=1 seek=246 conv=notrunc status=none; coretap monitor --spec examples/monitor/timing-stream.tessla -u us --bind firstCalls=0x400000 --bind triggerCalls=0x400084 -a $T/events
| 180: error = true, violation at 0x400084
| 420: error = true, violation at 0x400084
| 500: error = true, violation at 0x400084
! coretap: $T/events: the tracer dropped 3 events, and 0 bytes of the log are damaged; results after them are uncertain
! coretap: $T/events: 3 violations, 0 of them uncertain, in 3 results
[1]
$ coretap monitor --spec examples/monitor/timing-stream.tessla -u us --bind firstCalls=0x400000 --bind triggerCalls=exception $T/events
! coretap: watchpoint 'exception': an event log contains memory accesses and no events of the kind exception; use access:NAME, an address, entry:FUNCTION, context, gap or overflow
[2]
Accesses to memory, with their address; what a log has not is refused.
$ printf 'in a: Events[Int]\nin w: Events[Unit]\nin f: Events[Int]\nout a\nout w\nout f\n' > $T/access.tessla; coretap monitor -q -a --spec $T/access.tessla --bind a=access:0x400000..0x400080.read --bind w=access:0x400000..0x400100.write --bind f=access:0x400040..0x400100.fetch.physical $T/events
| 150: a = 4194368 at 0x400040
| 180: f = 524416 at 0x80080
| 420: f = 524416 at 0x80080
! coretap: $T/events: the tracer dropped 3 events, and 0 bytes of the log are damaged; results after them are uncertain
! coretap: the trace has no event for 'access:0x400000..0x400100.write'; results that depend on it were not checked; 'coretap fractal report' shows the events of the trace
[1]
$ coretap monitor -q --spec $T/access.tessla --bind a=access:nothing --bind w=gap --bind f=gap $T/events
! coretap: $T/access.tessla:1:4: error: watchpoint 'access:nothing': there is no program, so its variables are unknown; name the program with --elf
!     1 | in a: Events[Int]
!       |    ^
[2]
$ coretap monitor -q --spec $T/access.tessla --bind a=context:nobody --bind w=gap --bind f=gap $T/events
! coretap: $T/access.tessla:1:4: error: watchpoint 'context:nobody': the capture has no context with this name; use an ID (context:0x12), or name contexts in the [context] section of an .ini (docs/formats.md)
!     1 | in a: Events[Int]
!       |    ^
[2]
$ coretap watch --at access:0x400000..0x400080 examples/quickstart
! coretap: watchpoint 'access:0x400000..0x400080': a trace has no memory accesses of this kind; use load:NAME or store:NAME with a data trace, or an event log of coretap fractal
[2]
$ coretap monitor --spec examples/monitor/timing-stream.tessla -u us --clock timestamps --bind firstCalls=0x400000 --bind triggerCalls=0x400084 $T/events
! coretap monitor: --clock timestamps cannot be used with an event log, which has only cycles of its interconnect; leave --clock out
! Try 'coretap monitor --help'.
[2]
Pairs in a log; what is behind a drop is lost.
$ coretap fractal replay --messages tests/cli/cases/fractal-log.messages --pgd 1000 --va-bits 39 --mode passive -o $T/pairs > $T/sums; coretap timing -q --pair "0x400000 0x400084" $T/pairs | tail -1
| 0x400000 .. 0x400084	2	80	100.00	120	20.00	0	0	0.00	0	0.00	0	0
$ head -c -60 $T/pairs > $T/cut; coretap timing -q --pair "0x400000 0x400084" $T/cut | tail -1
| 0x400000 .. 0x400084	1	80	80.00	80	0.00	0	0	0.00	0	0.00	1	0
! coretap: $T/cut: the tracer dropped 0 events, and 6 bytes of the log are damaged; results after them are uncertain
$ coretap timing --pair "0x400000 0x400084" --edges $T/pairs
! coretap timing: an event log has only memory accesses, without functions, edges or blocks; measure pairs of places with --pair
! Try 'coretap timing --help'.
[2]
$ coretap timing --pair "0x400000 exception" $T/pairs
! coretap: watchpoint 'exception': an event log contains memory accesses and no events of the kind exception; use access:NAME, an address, entry:FUNCTION, context, gap or overflow
[2]
# Several logs add up, and are saved.
$ for i in 1 2; do coretap fractal replay --messages tests/cli/cases/fractal-log.messages --pgd 1000 --va-bits 39 --mode passive -o $T/log$i > $T/out; done; coretap fractal report $T/log1 $T/log2
| logs      2, 0 of them damaged or incomplete
| events    12 (8 of instructions), 0 more for pages mapped twice; 0 dropped; 0 bytes damaged
| ReadShared         12
| initiator 0        12
|
| Functions
|       events   share instructions  name
|         none
|
| Objects, sections and regions
|       events   share instructions  name
|           12 100.00%            8  [unknown]
|
| Pages
|       events   share instructions  name
|         none
! coretap: $T/log1: the log does not name its program; functions and objects have no names; name the program with --elf
! coretap: $T/log2: the log does not name its program; functions and objects have no names; name the program with --elf
$ coretap fractal report --data $T/log1 -o $T/saved && sed "s,$T,T," $T/saved | grep -v '^end'
| coretap-fractal 1
| captures 1
| capture T/log1
| events 6 0 4
| op 6 ReadShared
| initiator 6 0
| program
| elsewhere 6 4 [unknown]
! coretap: $T/log1: the log does not name its program; functions and objects have no names; name the program with --elf
$ coretap fractal report $T/saved $T/log2 --top 1
| logs      2, 0 of them damaged or incomplete
| events    12 (8 of instructions), 0 more for pages mapped twice; 0 dropped; 0 bytes damaged
| ReadShared         12
| initiator 0        12
|
| Functions
|       events   share instructions  name
|         none
|
| Objects, sections and regions
|       events   share instructions  name
|           12 100.00%            8  [unknown]
|
| Pages
|       events   share instructions  name
|         none
! coretap: $T/log2: the log does not name its program; functions and objects have no names; name the program with --elf
$ coretap merge -q $T/saved | cmp - $T/saved && coretap fractal report --data $T/saved | cmp - $T/saved
$ coretap fractal report --csv $T/saved
! coretap fractal report: --csv, --html, --svg and --perfetto show the times of one log; saved sums and several logs have no common time; name one log, or leave the option out
! Try 'coretap fractal report --help'.
[2]
Sums remember that a log of theirs was cut off.
$ head -c -20 $T/log1 >$T/cut; coretap fractal report -q --data $T/cut >$T/cutsums; coretap fractal report -q $T/cutsums | head -1
| logs      1, 1 of them damaged or incomplete
! coretap: $T/cut: 13 bytes of the log are damaged; only the intact part was used
! coretap: $T/cutsums: some of its logs were damaged or incomplete; the sums lack their missing events
A picture has an axis of time with a unit and round ticks, and says how many misses its shades stand for.
$ coretap fractal report --svg sets $T/log1 | sed -n 's/.*>\([^<]*\)<.text>$/\1/p' | grep -v '^set'
| Sets of the last-level cache over time: misses in each
| 1 miss
| 0
| 100
| 200
| 300
| 400
| time in cycles
! coretap: $T/log1: the log does not name its program; functions and objects have no names; name the program with --elf
$ coretap fractal report --data --csv $T/log1
! coretap fractal report: --csv, --html, --svg, --perfetto and --data exclude each other; give only one of them
! Try 'coretap fractal report --help'.
[2]
$ coretap merge --kind fractal $T/log1
! coretap merge: $T/log1: 'merge' has no option that says how to name the addresses of a capture; make a file from the capture with 'coretap fractal report --data', and merge that file
! Try 'coretap merge --help'.
[2]
$ coretap fractal report $T/saved tests/fuzz/corpus/saved/counts
! coretap: tests/fuzz/corpus/saved/counts:1: this is not a fractal file, because its first line is not 'coretap-fractal 1'; the file was not loaded; write it again with 'coretap fractal report --data'
[2]
$ coretap fractal report $T/saved $T/saved --top 1 | head -2
| logs      2, 0 of them damaged or incomplete
| events    12 (8 of instructions), 0 more for pages mapped twice; 0 dropped; 0 bytes damaged
! coretap: warning: fractal: $T/log1: this was added more than once, so its counts are multiplied; omit the repetition, unless these are different captures with the same name
$ printf '\003' | dd of=$T/log2 bs=1 seek=246 conv=notrunc status=none; coretap fractal report --data $T/log1 $T/log2 | sed -n '2,5p'
| captures 2
| lost overflows 3
| capture $T/log1
| capture $T/log2
! coretap: $T/log1: the log does not name its program; functions and objects have no names; name the program with --elf
! coretap: $T/log2: the log does not name its program; functions and objects have no names; name the program with --elf
$ coretap fractal report --data $T/log1 $T/log2 -o $T/damaged; coretap fractal report $T/damaged | head -2
| logs      2, 0 of them damaged or incomplete
| events    12 (8 of instructions), 0 more for pages mapped twice; 3 dropped; 0 bytes damaged
! coretap: $T/log1: the log does not name its program; functions and objects have no names; name the program with --elf
! coretap: $T/log2: the log does not name its program; functions and objects have no names; name the program with --elf
# Specifications along several event logs, and saved results.
$ coretap monitor --spec examples/monitor/timing-stream.tessla -u us --bind firstCalls=0x400000 --bind triggerCalls=0x400084 --format sums $T/log1 $T/log2
| timing-stream.tessla: error: 6 events, 6 violations, 0 of them uncertain
|     2 streams: 2 violated
|     true 6, false 0
|     first in $T/log1, ID 00, at 180: true at 0x400084
! coretap: $T/log2: the tracer dropped 3 events, and 0 bytes of the log are damaged; results after them are uncertain
[1]
$ coretap monitor -q --spec examples/monitor/timing-stream.tessla -u us --bind firstCalls=0x400000 --bind triggerCalls=0x400084 --format data -o $T/monday $T/log1; coretap monitor -q --spec examples/monitor/timing-stream.tessla -u us --bind firstCalls=0x400000 --bind triggerCalls=0x400084 --format sums $T/monday $T/log2 | head -2
| timing-stream.tessla: error: 6 events, 6 violations, 0 of them uncertain
|     2 streams: 2 violated
! coretap: $T/log2: the tracer dropped 3 events, and 0 bytes of the log are damaged; results after them are uncertain
$ coretap monitor --spec examples/monitor/timing-stream.tessla -u us --bind firstCalls=exception --bind triggerCalls=0x400084 --format sums $T/log1
! coretap: watchpoint 'exception': an event log contains memory accesses and no events of the kind exception; use access:NAME, an address, entry:FUNCTION, context, gap or overflow
[2]
$ coretap monitor --spec examples/monitor/timing-stream.tessla -u us --clock timestamps --format sums $T/log1
! coretap monitor: --clock timestamps cannot be used with an event log, which has only cycles of its interconnect; leave --clock out
! Try 'coretap monitor --help'.
[2]
$ coretap monitor --spec examples/monitor/timing-stream.tessla -u us --threads 2 --format sums $T/log1
! coretap monitor: --threads: an event log is read with one thread
! Try 'coretap monitor --help'.
[2]
$ coretap fractal report --process 1 $T/log1
! coretap: $T/log1: the log has no process 1; choose process 0, the program, or one of the lines process=N in the text of the log
[2]
$ coretap fractal report --process 1 $T/saved $T/log1
! coretap fractal report: $T/saved: a file of saved sums does not separate processes, which --process needs; name the logs, or save the sums with --process
! Try 'coretap fractal report --help'.
[2]
$ coretap fractal report --process 0 $T/log1 | sed -n 2,3p
| process   0 alone
| events    6 (4 of instructions), 0 more for pages mapped twice; 0 dropped; 0 bytes damaged
! coretap: $T/log1: the log does not name its program; functions and objects have no names; name the program with --elf
