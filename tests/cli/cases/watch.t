# Watchpoints along the example capture, whose firmware is an image without symbols.
$ coretap watch examples/quickstart
! coretap watch: watch what? give --at PLACE or --list FILE
! Try 'coretap watch --help'.
[2]
$ coretap watch --at main examples/quickstart
! coretap: watchpoint 'main': no program has a function of that name; 'coretap graph' lists those of one
[2]
$ coretap watch --at main.c:7 examples/quickstart
! coretap: watchpoint 'main.c:7': no program has debug information with code for that file at or behind that line; compile it with -g and name it with --elf
[2]
$ coretap watch --at main+4 examples/quickstart
! coretap: watchpoint 'main+4': no program has a function of that name; 'coretap graph' lists those of one
[2]
$ coretap watch --at edge:3 examples/quickstart
! coretap: watchpoint 'edge:3': no program has an edge of that number; 'coretap graph' lists those of one
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
! coretap: examples/quickstart: the list of events is empty although 4610 instructions ran, in firmware.bin: execution came by none of the watchpoints; 'coretap cover --functions' shows what ran
[1]
$ coretap watch --at 0x0 --elf examples/quickstart/firmware.bin@x examples/quickstart
! coretap watch: --elf examples/quickstart/firmware.bin@x: behind the '@' stands the load address in hexadecimal
! Try 'coretap watch --help'.
[2]
$ coretap watch --at 0x0 --list tests/none examples/quickstart
! coretap: tests/none: cannot be read: No such file or directory
[2]
