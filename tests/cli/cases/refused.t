Messages about command lines and files that no other file of cases has.

More values of an option than there is room for.

$ coretap stats $(seq -f '--pid=%g' 1 200) examples/quickstart
! coretap stats: more than 64 threads, contexts or names are selected; select fewer
! Try 'coretap stats --help'.
[2]
$ coretap cover $(seq -f '--symdir=d%g' 1 100) examples/quickstart
! coretap cover: --symdir: it is given more than 64 times; give it less often
! Try 'coretap cover --help'.
[2]
$ coretap record -o $T/capture $(seq -f '--range=%g..ffff' 1 100) -- ./program
! coretap record: --range: more than 16 ranges are given; give fewer
! Try 'coretap record --help'.
[2]

Options that do not apply to the operands.

$ coretap cover --format data --shard 1/2 examples/quickstart examples/raw/board.ini
! coretap cover: --shard selects a part of one capture file; name exactly one capture, which is not standard input or a saved file
! Try 'coretap cover --help'.
[2]
$ coretap cover --format data --shard 1/2 -
! coretap cover: CAPTURE '-': standard input is not a perf.data file; a raw trace stream needs a description; add --config FILE.ini
! Try 'coretap cover --help'.
[2]
$ coretap cover --format data --shard 1/100000 examples/quickstart
! coretap cover: --shard: 100000 parts are too many; use at most 65536
! Try 'coretap cover --help'.
[2]
$ coretap live --config examples/raw/board.ini --reconnect -
! coretap live: --reconnect works only with tcp:HOST:PORT and listen:PORT, but the input is '-'; leave --reconnect out
! Try 'coretap live --help'.
[2]
$ coretap volume --clock fast --capture examples/quickstart
! coretap volume: --clock: 'fast' is not a frequency of a core; write it as 1.2GHz, 800MHz or in Hz
! Try 'coretap volume --help'.
[2]
$ coretap volume --ipc 0 --clock 1GHz --capture examples/quickstart
! coretap volume: --ipc: '0' is not a number above 0
! Try 'coretap volume --help'.
[2]
$ cp examples/quickstart/* $T 2>/dev/null; sed -i 's/^buffers=.*/buffers=buffer0,second/' $T/trace.ini; printf '[second]\nname=ETB_1\nfile=trace.bin\nformat=coresight\n' >>$T/trace.ini; coretap info --config $T/snapshot.ini - <examples/quickstart/trace.bin
! coretap: warning: $T/trace.ini: buffer ETB_1 has no usable source, so its trace cannot be decoded
! coretap: $T/snapshot.ini: it describes 2 buffers, but standard input has only one; choose the buffer with --buffer
[2]

Specifications.

$ coretap spec --timing --pair 'itm:3 main' examples/quickstart
! coretap: 'itm:3' to 'main': each place must have the form FILE:LINE, 0xADDRESS, entry:NAME or return:NAME
[2]
$ coretap tessla --spec examples/monitor/timing.tessla --check --event-budget 5
! coretap tessla: --event-budget N has no effect with --check, --list-in, --list-out, --dot or --analyse, which run nothing; leave it out
! Try 'coretap tessla --help'.
[2]
$ coretap tessla --spec examples/monitor/timing.tessla -u us --trace $T/nothing
! coretap: $T/nothing: the trace cannot be read: No such file or directory
[2]

Captures that a saved result lacks.

$ for i in 1 2 3 4 5 6 7 8 9; do mkdir -p $T/c/$i; cp examples/quickstart/*.* $T/c/$i; printf $i >>$T/c/$i/trace.bin; done; coretap manifest -q -o $T/m $T/c; rm -r $T/c; coretap map -q -o $T/sum cover --manifest $T/m 2>/dev/null; coretap cover -q $T/sum
! coretap: $T/sum: 9 captures could not be read and are not in the result:
! coretap:   $T/c/1: cannot be found: No such file or directory
! coretap:   $T/c/2: cannot be found: No such file or directory
! coretap:   $T/c/3: cannot be found: No such file or directory
! coretap:   $T/c/4: cannot be found: No such file or directory
! coretap:   $T/c/5: cannot be found: No such file or directory
! coretap:   $T/c/6: cannot be found: No such file or directory
! coretap:   $T/c/7: cannot be found: No such file or directory
! coretap:   $T/c/8: cannot be found: No such file or directory
! coretap:   and 1 more
[1]

Descriptions of a raw trace.

$ printf 123 >$T/t; for x in 'word' '[capture' '=1' 'file' '[capture]' 'file=t' 'framing=' 'framing=t\nelf=x'; do printf "[capture]\nfile=t\n$x\n" >$T/a.ini; coretap info $T/a.ini; done
! coretap: $T/a.ini:3: the line has no =; expected [section], key=value, or a comment
! coretap: $T/a.ini:3: the section header does not end with ]; expected [section], key=value, or a comment
! coretap: $T/a.ini:3: the line has no key before the =; expected [section], key=value, or a comment
! coretap: $T/a.ini:3: the line has no =; expected [section], key=value, or a comment
! coretap: $T/a.ini:3: [capture]: this section appears twice (first in line 1), but a raw .ini file describes one trace; remove one
! coretap: $T/a.ini:3: file=t: the key appears twice in this section; keep the correct line
! coretap: $T/a.ini:3: framing=: the framing is unknown; expected auto, none, frames, tpiu or dstream
! coretap: $T/a.ini:3: framing=t: the framing is unknown; expected auto, none, frames, tpiu or dstream
[2]
$ S='[source a]\nprotocol=etmv4i\nTRCCONFIGR=0x1851\nTRCIDR0=0x28000ea1\nTRCIDR1=0x4100f400\nTRCIDR2=0x488\n'; for x in 'id=0' 'id=0x80' '[source a]' 'id=0x10\nTRCTRACEIDR=0x11' 'TRCIDR0=1' 'id=0x70' '[image x]' '[image x]\nfile=t' '[image x]\nfile=t\naddress=0xfffffffffffffffe' '[image x]\nfile=t\naddress=0\noffset=1\nlength=9' '[image x]\nelf=' '[image x]\nfile='; do printf "[capture]\nfile=t\nframing=none\n$S$x\n" >$T/a.ini; coretap info $T/a.ini >/dev/null; done
! coretap: $T/a.ini:10: id=0: 0 is not a trace ID; expected 1 to 0x6f
! coretap: $T/a.ini:10: id=0x80: the number is too large; the maximum is 0x6f
! coretap: $T/a.ini:10: [source a]: another source already has this name; rename one
! coretap: $T/a.ini:4: [source a]: id= is 0x10, but the register with the trace ID says 0x11; one of them is enough; correct or remove the other
! coretap: $T/a.ini:10: TRCIDR0=1: the register already has the value 0x28000ea1; keep the correct line
! coretap: $T/a.ini:10: id=0x70: the number is too large; the maximum is 0x6f
! coretap: $T/a.ini:10: [image x]: the image has no complete description, so its bytes and addresses are unknown; give file= and address= (and optionally offset= and length=), or elf= (and optionally bias=)
! coretap: $T/a.ini:10: [image x]: the image has no complete description, so its bytes and addresses are unknown; give file= and address= (and optionally offset= and length=), or elf= (and optionally bias=)
! coretap: $T/a.ini:10: [image x]: 0x3 bytes from address 0xfffffffffffffffe on exceed the 64-bit address space; correct the address or the length
! coretap: warning: $T/a.ini:10: [image x]: length= is 0x9, but only 0x2 bytes of $T/t follow the offset; only these are used
! coretap: $T/a.ini: losses: 3 bytes that could not be used
! coretap: $T/a.ini:11: elf=: a value is expected
! coretap: $T/a.ini:11: file=: a value is expected
[2]
$ for x in "id=0x10" ""; do printf "[capture]\nfile=t\nframing=frames\n[source a]\nprotocol=stm\n$x\n[source b]\nprotocol=stm\n$x\n" >$T/a.ini; coretap info $T/a.ini; done
! coretap: $T/a.ini: buffer trace: sources a and b both have trace ID 0x10, so their trace cannot be separated; correct the ID of one
! coretap: $T/a.ini:4: [source a]: the section has no id=, so its bytes cannot be separated from those of other sources; add id=, or framing=none in [capture] if the trace has no frames
[2]
$ (printf '[capture]\nfile=t\nframing=frames\n'; for i in $(seq 200); do printf "[source s$i]\nprotocol=stm\nid=1\n"; done) >$T/a.ini; coretap info $T/a.ini; (printf '[capture]\nfile=t\nframing=frames\n'; seq -f '[image s%g]' 1 99999) >$T/a.ini; coretap info $T/a.ini; (printf '[capture]\nfile=t\n[context]\n'; for i in $(seq 70000); do echo a$i=$i; done) >$T/a.ini; coretap info $T/a.ini
! coretap: $T/a.ini: buffer trace: sources s1 and s2 both have trace ID 0x01, so their trace cannot be separated; correct the ID of one
! coretap: $T/a.ini:16388: [image s16385]: there are more than 16384 images, which is the limit; remove some
! coretap: $T/a.ini:4100: a4097=4097: there are more than 4096 names of contexts, which is the limit; remove some
[2]
$ printf '[capture]\nfile=t\n\0\n' >$T/a.ini; coretap info $T/a.ini
! coretap: $T/a.ini:3: the line contains a NUL byte, so this is not a text file; expected [section], key=value, or a comment
[2]

Snapshots: what is changed in which file of a good one, and what coretap says.

$ for x in 'snapshot.ini|s/version=1.0/version=7/' 'cpu_1.ini|s/name=.*/name=cpu_0/' 'device_1.ini|s/class=.*/class=core/' 'device_0.ini|s/^name=.*//' 'device_0.ini|s/^class=/name=X\nclass=/' 'device_0.ini|$ a TRCIDR0(0x078)=0x1' 'cpu_0.ini|s/^file=.*//' 'cpu_0.ini|s/^address=.*//' 'cpu_0.ini|s/^class=.*/class=core\nclass=core/' 'trace.ini|s/^ETE_1=ETB_0/ETM_0=ETB_0/' 'trace.ini|s/^ETE_1=ETB_0/ETE_1=ETB_7/' 'trace.ini|s/^ETE_1=ETB_0/ETE_7=ETB_0/' 'trace.ini|s/^buffers=.*//' 'trace.ini|s/^format=.*//' 'trace.ini|s/^name=.*//'; do rm -rf $T/s; mkdir $T/s; cp examples/quickstart/*.* $T/s; sed -i "${x#*|}" $T/s/${x%%|*}; coretap info $T/s >/dev/null; done
! coretap: note: $T/s/snapshot.ini:3: version=7 is unknown; the snapshot is read as version 1.0
! coretap: $T/s/cpu_1.ini: name=cpu_0: $T/s/cpu_0.ini also has this name, so references to it are ambiguous; rename one
! coretap: $T/s/trace.ini:11: ETE_1 is a device of class core, not a trace source; name a device of class trace_source
! coretap: $T/s/device_0.ini: a [device] section has no name=, so the trace file cannot refer to the device; add it
! coretap: $T/s/device_0.ini:3: name=X: the key was already given as ETM_0; keep the correct line
! coretap: $T/s/device_0.ini:14: TRCIDR0(0x078)=0x1: the register already has the value 0x28000ea1; keep the correct line
! coretap: $T/s/cpu_0.ini:6: [dump1]: the section has no file=; a memory image needs file= and address=
! coretap: $T/s/cpu_0.ini:6: [dump1]: the section has no address=; a memory image needs file= and address=
! coretap: $T/s/trace.ini:11: source ETM_0 appears twice for this buffer; remove one line
! coretap: warning: $T/s/trace.ini:11: ETE_1=ETB_7: no buffer has this name, so the source is ignored; correct the name
! coretap: warning: $T/s/trace.bin: 2361 bytes of trace belong to no described source and are not decoded: ID 11 (2361 bytes); describe the source, or choose trace IDs with --id
! coretap: note: $T/s/trace.ini:11: source ETE_7 has no device file, so its trace is not decoded; add a device section with this name
! coretap: warning: $T/s/trace.bin: 2361 bytes of trace belong to no described source and are not decoded: ID 11 (2361 bytes); describe the source, or choose trace IDs with --id
! coretap: $T/s/trace.ini: [trace_buffers] has no buffers=, so there is no trace to read; add it
! coretap: $T/s/trace.ini:4: [buffer0]: format= is unknown, so the trace cannot be read; expected source_data, coresight or dstream_coresight
! coretap: $T/s/trace.ini:4: [buffer0]: name= is missing; a buffer needs name=, file= and format=
[2]

Windows, and an index that is no index.

$ for x in 5xy '' 'main#0' '#2'; do coretap stats --from "$x" examples/quickstart >/dev/null; done
! coretap stats: --from: '5xy': the unit is unknown; give a time (12.5s, 3ms, 20us, 700ns, 190327ticks), a number of cycles (500000cyc) or instructions (1000000insn), or a place (main, main.c:32, 0x4010), with #N behind it for the N-th time that execution reaches it
! Try 'coretap stats --help'.
! coretap stats: --from: the value is empty; give a value, or leave the option out
! Try 'coretap stats --help'.
! coretap stats: --from: 'main#0': #N must follow a place, and N must be from 1 to 4294967295; give a time (12.5s, 3ms, 20us, 700ns, 190327ticks), a number of cycles (500000cyc) or instructions (1000000insn), or a place (main, main.c:32, 0x4010), with #N behind it for the N-th time that execution reaches it
! Try 'coretap stats --help'.
! coretap stats: --from: '#2': #N must follow a place, and N must be from 1 to 4294967295; give a time (12.5s, 3ms, 20us, 700ns, 190327ticks), a number of cycles (500000cyc) or instructions (1000000insn), or a place (main, main.c:32, 0x4010), with #N behind it for the N-th time that execution reaches it
! Try 'coretap stats --help'.
[2]
$ cp examples/quickstart/*.* $T; printf 'not an index, but long enough to be looked at: 0123456789012345678901234567890123456789' >$T/trace.bin.ctx; coretap decode -q --index --from 10cyc $T >/dev/null; : >$T/trace.bin.ctx; coretap decode -q --index --from 10cyc $T >/dev/null; rm $T/trace.bin.ctx; mkdir $T/trace.bin.ctx; coretap decode -q --index --from 10cyc $T >/dev/null
! coretap: $T/trace.bin.ctx: the file is not an index of coretap, so the index is not used; remove the file, and coretap writes a new index, or omit --index
! coretap: $T/trace.bin.ctx: the file is not an index of coretap, so the index is not used; remove the file, and coretap writes a new index, or omit --index
! coretap: $T/trace.bin.ctx: the file is not an index of coretap, so the index is not used; remove the file, and coretap writes a new index, or omit --index
[2]

Program files.

$ for x in '\177ELF' '\177ELF\2\1\1\0\0\0\0\0\0\0\0\0\2\0\267\0\1\0\0\0\0\0\0\0\0\0\0\0\377\377\377\377\377\377\0\0' 'text'; do printf "$x" >$T/elf; coretap graph --elf $T/elf; done
! coretap: $T/elf: the ELF header is damaged or truncated after 4 bytes of the file; use a complete copy
! coretap: $T/elf: the ELF header is damaged or truncated after 40 bytes of the file; use a complete copy
! coretap: $T/elf: this is neither an ELF file nor Intel HEX nor S-records; to use a raw memory dump, name it with its address in the .ini file of a raw trace (file =)
[2]

Files in a folder of captures that are none.

$ mkdir $T/many; cp examples/raw/*.bin examples/raw/*.ini examples/raw/*.py $T/many; coretap manifest -o $T/list $T/many
! coretap: 2 captures of 0.0 MB, 4 other files (--verbose names them)

Options that are for perf.data only. Of several captures, one is enough.

$ for o in symfs vmlinux kcore buildid-dir; do coretap stats --$o $T examples/quickstart; done
! coretap stats: --symfs works only with perf.data files, but examples/quickstart is not one; leave it out
! Try 'coretap stats --help'.
! coretap stats: --vmlinux works only with perf.data files, but examples/quickstart is not one; leave it out
! Try 'coretap stats --help'.
! coretap stats: --kcore works only with perf.data files, but examples/quickstart is not one; leave it out
! Try 'coretap stats --help'.
! coretap stats: --buildid-dir works only with perf.data files, but examples/quickstart is not one; leave it out
! Try 'coretap stats --help'.
[2]
$ coretap export -q --perf $T/run.data examples/quickstart; coretap stats --symfs $T examples/quickstart $T/run.data | grep ^instructions
| instructions=9220
$ coretap stats --vmlinux $T --config examples/raw/itm.ini - <examples/raw/itm.bin
! coretap stats: --vmlinux works only with perf.data files, but standard input is not one; leave it out
! Try 'coretap stats --help'.
[2]
$ coretap timing -q --format data examples/quickstart >$T/sums; coretap timing --symfs $T $T/sums
! coretap timing: --symfs works only with perf.data files, but $T/sums is not one; leave it out
! Try 'coretap timing --help'.
[2]
$ coretap map stats --symfs $T -o $T/out examples/quickstart
! coretap: statistics of 1 capture, 0 of them damaged, 0 more that could not be read; losses: none

Values that are empty, as those of unset variables of a script.

$ coretap cover --elf '' examples/quickstart
! coretap cover: --elf: the value is empty; give a value, or leave the option out
! Try 'coretap cover --help'.
[2]
$ coretap stats --symdir= --output '' examples/quickstart
! coretap stats: --symdir: the value is empty; give a value, or leave the option out
! Try 'coretap stats --help'.
[2]
$ coretap watch --at '' examples/quickstart
! coretap watch: --at: the value is empty; give a value, or leave the option out
! Try 'coretap watch --help'.
[2]
$ sed 's/^id = 0x10/id = 0x11/' examples/raw/board.ini >$T/board.ini; cp examples/raw/*.bin $T; coretap decode -q --id 11 $T/board.ini
| type	cycle	value	note
! coretap: $T/board.ini: the part that --id selects contains no trace; nothing was decoded; 'coretap info' shows how much each source traced
[1]
$ coretap list -p --core cpu0 $T/board.ini
! coretap: $T/board.ini: the part that --core selects contains no trace; nothing was decoded; 'coretap info' shows how much each source traced
[1]
