# Watchpoints along the example capture, whose firmware is an image without symbols.
$ coretap watch examples/quickstart
! coretap watch: --at and --list are missing, so there is nothing to watch; give --at PLACE or --list FILE
! Try 'coretap watch --help'.
[2]
$ coretap watch --at main examples/quickstart
! coretap: watchpoint 'main': no program has a function with this name; list the functions of a program with 'coretap graph'
[2]
$ coretap watch --at main --format sums examples/raw/itm.ini
! coretap: watchpoint 'main': no program has a function with this name; list the functions of a program with 'coretap graph'
[2]
$ coretap watch --at exit:main examples/quickstart
! coretap: watchpoint 'exit:main': 'exit' is not a kind of place, and no program has a function with the whole name; use one of function, entry, return, line, edge, exception, context, itm, stm, dwt, event, load, store, value, text, begin and end
[2]
$ coretap watch --at exit::main examples/quickstart
! coretap: watchpoint 'exit::main': no program has a function with this name; list the functions of a program with 'coretap graph'
[2]
$ coretap watch --at main.c:7 examples/quickstart
! coretap: watchpoint 'main.c:7': no program has debug information with code for this file at or after this line; compile it with -g and name it with --elf
[2]
$ coretap watch --list /dev/zero examples/quickstart
! coretap: /dev/zero: the file is longer than 64 MiB, so it cannot be the right one; name another file
[2]
$ coretap watch --at main.c:0 examples/quickstart
! coretap: watchpoint 'main.c:0': the file name is too long, or the line number is not from 1 to 2^32-1; correct it
[2]
$ coretap watch --at exception:1024 examples/quickstart
! coretap: watchpoint 'exception:1024': the exception number is too large; use a number from 0 to 1023
[2]
$ coretap watch --at exception:4294967298 --format sums examples/quickstart
! coretap: watchpoint 'exception:4294967298': the exception number is too large; use a number from 0 to 1023
[2]
$ tail -c +2 tests/fuzz/corpus/elf/aarch64 >$T/p; coretap watch --at p+0x1ffffffff --elf $T/p examples/quickstart
! coretap: watchpoint 'p+0x1ffffffff': the program has no code at this offset; give another offset
[2]
$ coretap watch --at main+4 examples/quickstart
! coretap: watchpoint 'main+4': no program has a function with this name; list the functions of a program with 'coretap graph'
[2]
$ coretap watch --at edge:3 examples/quickstart
! coretap: watchpoint 'edge:3': no program has an edge with this number; list the edges of a program with 'coretap graph'
[2]
$ coretap watch --at exception -q examples/quickstart | head -4
| # cycle	timestamp	core	el	ctxt	vmid	event	value	watch
| # buffer ETB_0
| # id 10
| 118	-	cpu_0	0	0x2a	-	exception	call	exception
$ coretap watch --at exception:4 --at context -q --format csv examples/quickstart | head -4
| cycle,timestamp,buffer,id,core,el,ctxt,vmid,event,value,watch
| 0,-,ETB_0,10,cpu_0,0,0x2a,-,context,-,context
| 118,-,ETB_0,10,cpu_0,1,0x2a,-,context,-,context
| 124,-,ETB_0,10,cpu_0,0,0x2a,-,context,-,context
$ coretap watch --at exception-return -q --format jsonl examples/quickstart | head -2
| {"cycle":124,"buffer":"ETB_0","id":"10","core":"cpu_0","el":1,"ctxt":42,"event":"exception-return","watch":"exception-return"}
| {"cycle":437,"timestamp":16777314,"buffer":"ETB_0","id":"10","core":"cpu_0","el":1,"ctxt":42,"event":"exception-return","watch":"exception-return"}
$ echo "0x80000 # the start" >$T/l; coretap watch --list $T/l -q examples/quickstart
| # cycle	timestamp	core	el	ctxt	vmid	event	value	watch
! coretap: examples/quickstart: the list of events is empty although 4610 instructions ran, in firmware.bin: execution reached none of the watchpoints; 'coretap cover --functions' shows what ran
[1]
# What only software and data trace tell is not looked for among what ran.
$ coretap watch -q --at itm:3 --at dwt:1 examples/quickstart
| # cycle	timestamp	core	el	ctxt	vmid	event	value	watch
! coretap: examples/quickstart: the list of events is empty although 4610 instructions ran, in firmware.bin: the trace has no values for the watched places; only software trace (ITM, STM) and data trace contain values; 'coretap info' lists the sources
[1]
$ coretap watch -q -f sums --at itm:3 examples/quickstart
! coretap: examples/quickstart: the sum is empty although 4610 instructions ran, in firmware.bin: the trace has no values for the watched places; only software trace (ITM, STM) and data trace contain values; 'coretap info' lists the sources
[1]
$ coretap watch -f data --at itm:3 examples/quickstart
| coretap-watch 1
| captures 1
| capture examples/quickstart
| end 428696d5980038b1
! coretap: examples/quickstart: the sum is empty although 4610 instructions ran, in firmware.bin: the trace has no values for the watched places; only software trace (ITM, STM) and data trace contain values; 'coretap info' lists the sources
$ coretap watch -f sums --at exception:9 examples/quickstart
! coretap: examples/quickstart: the sum is empty although 4610 instructions ran, in firmware.bin: execution reached none of the watchpoints; 'coretap cover --functions' shows what ran
[1]
$ coretap watch --at 0x0 --elf examples/quickstart/firmware.bin@x examples/quickstart
! coretap watch: --elf examples/quickstart/firmware.bin@x: the text behind '@' is not a hexadecimal load address; write FILE@HEX
! Try 'coretap watch --help'.
[2]
$ coretap watch --at 0x0 --list tests/none examples/quickstart
! coretap: tests/none: cannot be read: No such file or directory
[2]

# A part of a capture.
$ coretap watch --at exception --core 0 --from 100insn --to 700cyc examples/quickstart
| # cycle	timestamp	core	el	ctxt	vmid	event	value	watch
| # buffer ETB_0
| # id 10
| 427	16777314	cpu_0	0	0x2a	-	exception	IRQ	exception
| 445	16777314	cpu_0	0	0x2a	-	exception	call	exception
| 608	16777363	cpu_0	0	0x2a	-	exception	call	exception
$ coretap watch --at exception --from 100insn --to 200cyc examples/quickstart
| # cycle	timestamp	core	el	ctxt	vmid	event	value	watch
! coretap: ETE_1: the trace has no cycle counts, so a window in cycles selects nothing; give the window in time, instructions or places, or choose another trace ID or core
[2]
$ coretap watch --at context --core 0 --to 1000insn examples/quickstart
| # cycle	timestamp	core	el	ctxt	vmid	event	value	watch
| # buffer ETB_0
| # id 10
| 0	-	cpu_0	0	0x2a	-	context	-	context
| 118	-	cpu_0	1	0x2a	-	context	-	context
| 124	-	cpu_0	0	0x2a	-	context	-	context
| 427	16777314	cpu_0	1	0x2a	-	context	-	context
| 437	16777314	cpu_0	0	0x2a	-	context	-	context
| 445	16777314	cpu_0	1	0x2a	-	context	-	context
| 452	16777314	cpu_0	0	0x2a	-	context	-	context
| 608	16777363	cpu_0	1	0x2a	-	context	-	context
| 618	16777363	cpu_0	0	0x2a	-	context	-	context
| 774	16777363	cpu_0	1	0x2a	-	context	-	context
| 780	16777363	cpu_0	0	0x2a	-	context	-	context
| 863	16777415	cpu_0	1	0x2a	-	context	-	context
| 875	16777415	cpu_0	0	0x2a	-	context	-	context
| 1275	16777510	cpu_0	1	0x2a	-	context	-	context
| 1282	16777510	cpu_0	0	0x2a	-	context	-	context
| 1700	16777608	cpu_0	1	0x2a	-	context	-	context
| 1714	16777608	cpu_0	0	0x2a	-	context	-	context
| 1892	16777657	cpu_0	1	0x2a	-	context	-	context
$ coretap watch --at context --core 7 examples/quickstart
! coretap: examples/quickstart: the capture has no trace of core '7'; nothing is decoded; choose one of its cores: cpu_0, cpu_1
[2]
$ coretap watch --at context --context 1234 examples/quickstart
| # cycle	timestamp	core	el	ctxt	vmid	event	value	watch
! coretap: examples/quickstart: the result is empty although 4610 instructions ran, in firmware.bin: none of them belongs to the selected part; there are up to 3671 instructions and 1897 cycles in a stream; timestamps 16777262 to 16778994; contexts 2a; threads 42; exception levels 0, 1
[1]
$ coretap watch --at context --from 1ms examples/quickstart
! coretap: examples/quickstart: the capture does not contain the frequency of its timestamps, so a time cannot be converted to ticks; give the frequency with --frequency HZ, or the window in ticks, cycles or instructions
[2]
$ coretap watch --at context --from 5 examples/quickstart
! coretap watch: --from: '5': the number has no unit; give a time (12.5s, 3ms, 20us, 700ns, 190327ticks), a number of cycles (500000cyc) or instructions (1000000insn), or a place (main, main.c:32, 0x4010), with #N behind it for the N-th time that execution reaches it
! Try 'coretap watch --help'.
[2]
$ coretap watch --at context --el 4 examples/quickstart
! coretap watch: --el: '4' is not a number from 0 to 3
! Try 'coretap watch --help'.
[2]
$ coretap watch --at context --pid x examples/quickstart
! coretap watch: --pid: 'x' is not a number from 0 to 4294967295
! Try 'coretap watch --help'.
[2]
$ coretap watch --at context --module nobody examples/quickstart
! coretap: module 'nobody': no program with this name ran, so nothing is selected; choose one that 'coretap info' lists
[2]
$ coretap list --from main examples/quickstart
! coretap list: --from cannot be applied here: 'list' can select only by --buffer, --core and --id; use 'coretap decode', which can print a part of what ran
! Try 'coretap list --help'.
[2]
$ coretap stats --module main examples/quickstart
! coretap stats: only --level coverage and timing can count a part of a capture; give one of them, or select only by --core and --id
! Try 'coretap stats --help'.
[2]
$ coretap watch -q --at exception --at 0x80560 --format sums examples/quickstart
| 588	0x80560 addr
| 42	exception exception
$ coretap watch -q --at exception --at 0x80560 --format data examples/quickstart > $T/one && cmp $T/one tests/fuzz/corpus/saved/counts
$ coretap watch -q --format sums --at exception $T/one examples/quickstart
| 588	0x80560 addr
| 84	exception exception
! coretap: warning: watch: examples/quickstart: this was added more than once, so its counts are multiplied; omit the repetition, unless these are different captures with the same name
# Saved sums in which nothing was come by are an empty answer, as those of a capture are.
$ coretap watch -q --at overflow --format data examples/quickstart > $T/zero; coretap watch -q --format sums $T/zero
! coretap: $T/zero: the sum is empty: execution reached none of the watchpoints in the captures of the saved sums; for each of these captures, 'coretap cover --functions' shows what ran
[1]
$ coretap watch -q --at overflow --format sums examples/quickstart
! coretap: examples/quickstart: the sum is empty although 4610 instructions ran, in firmware.bin: execution reached none of the watchpoints; 'coretap cover --functions' shows what ran
[1]
$ coretap watch --at exception examples/quickstart examples/quickstart
! coretap watch: events can be printed only for one capture; name one, or use --format sums or data for several and for saved files
! Try 'coretap watch --help'.
[2]
$ coretap watch --format sums --from 1insn $T/one
! coretap watch: --from cannot be applied: a file of saved sums has only those of whole captures
! Try 'coretap watch --help'.
[2]
Places that are no places.
$ for p in 0xzz context: context:0xzz itm:x stm:1:2:3 dwt:9 event:x exception:x 'store:a[' 'x#1' value: main.c:0; do coretap watch --at "$p" examples/raw/itm.ini >/dev/null; done
! coretap: watchpoint '0xzz': no program has a function with this name; list the functions of a program with 'coretap graph'
! coretap: watchpoint 'context:': the context is missing or above 2^32-1; write a context ID or name: context:0x12, context:bash
! coretap: watchpoint 'context:0xzz': the capture has no context with this name; use an ID (context:0x12), or name contexts in the [context] section of an .ini (docs/formats.md)
! coretap: watchpoint 'itm:x': the number or name after itm: is wrong; write a stimulus port, 0 to 255: itm:3, itm:3.signed
! coretap: watchpoint 'stm:1:2:3': the number or name after stm: is wrong; write a channel, 0 to 65535, after the number of a master to select one: stm:7, stm:0x10:7, stm:7.signed
! coretap: watchpoint 'dwt:9': the number or name after dwt: is wrong; write a comparator with data trace, 0 to 3: dwt:0, dwt:0.read, dwt:0.write, dwt:0.address, dwt:0.pc, dwt:0.signed
! coretap: watchpoint 'event:x': the capture has no event with this name; use a number (event:0), or name events in the [event] section of its .ini (docs/formats.md)
! coretap: watchpoint 'exception:x': 'exception' is not a kind of place, and no program has a function with the whole name; use one of function, entry, return, line, edge, exception, context, itm, stm, dwt, event, load, store, value, text, begin and end
! coretap: watchpoint 'store:a[': there is no program, so its variables are unknown; name the program with --elf
! coretap: watchpoint 'x#1': no program has a function with this name; list the functions of a program with 'coretap graph'
! coretap: watchpoint 'value:': no program has an event with this name or any other event of this kind; define it with coretap/itm.h
! coretap: watchpoint 'main.c:0': the file name is too long, or the line number is not from 1 to 2^32-1; correct it
[2]
