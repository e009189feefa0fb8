Files that people give in place of a capture: what each is, and what to do with it.
$ mkdir $T/f && cd $T/f; printf '\037\213\010\0' >trace.gz; printf '\375\067zXZ\0' >trace.xz; printf 'BZh9' >trace.bz2; printf '\004\042\115\030' >trace.lz4; printf 'PK\003\004' >trace.zip; printf '7z\274\257\047\034' >trace.7z; printf '\177ELF' >program; printf 'PERFFILE' >perf.old; : >empty; head -c 257 /dev/zero >a.tar; printf ustar >>a.tar; printf '\377\376[\0' >utf16.ini
$ for f in $T/f/*; do coretap info $f; done
! coretap: $T/f/a.tar: this is a tar archive, which is not unpacked here; unpack it with 'tar -xf' first
! coretap: $T/f/empty: the file is empty, so there is nothing to read; copy it again, or record again
! coretap: $T/f/perf.old: this is a perf.data file of the first version, without trace; record again with a current perf
! coretap: $T/f/program: this is a program or other ELF file, not a capture; name the capture, and give the program with --elf
! coretap: $T/f/trace.7z: this is a 7z archive, which is not unpacked here; unpack it with '7z x' first
! coretap: $T/f/trace.bz2: the file is compressed with bzip2, which is not unpacked here; unpack it with 'bunzip2' first
! coretap: $T/f/trace.gz: the file is compressed with gzip, which is not unpacked here; unpack it with 'gunzip' first
! coretap: $T/f/trace.lz4: the file is compressed with lz4, which is not unpacked here; unpack it with 'unlz4' first
! coretap: $T/f/trace.xz: the file is compressed with xz, which is not unpacked here; unpack it with 'unxz' first
! coretap: $T/f/trace.zip: this is a zip archive, which is not unpacked here; unpack it with 'unzip' first
! coretap: $T/f/utf16.ini: this is text in UTF-16, which is not read as a description; convert it to UTF-8
[2]
$ coretap stats examples/quickstart/trace.ini; coretap stats examples/quickstart/device_0.ini
! coretap: examples/quickstart/trace.ini: this is a part of a snapshot and cannot be read alone; name the directory with the snapshot.ini
! coretap: examples/quickstart/device_0.ini: this is a part of a snapshot and cannot be read alone; name the directory with the snapshot.ini
[2]
What zstd compressed is a branch list or nothing that is read.
$ printf '\050\265/\375\004X)\001\000PERFILE2 a recording of trace by perf\265\306\250\315' >$T/perf.data.zst; coretap info $T/perf.data.zst
! coretap: $T/perf.data.zst: is compressed with zstd, and what it contains is no branch list; other files are not read compressed; unpack it with 'unzstd' first
[2]
$ head -c 40 $T/perf.data.zst >$T/cut.zst; coretap info $T/cut.zst
! coretap: $T/cut.zst: the branch list is damaged: the compressed message at offset 0 is truncated; the file was not counted; copy it again
[2]
A trace of nothing but padding.
$ cp -r examples/raw $T/zero && head -c 4096 /dev/zero >$T/zero/board.bin && coretap stats $T/zero/board.ini | head -3
| bytes=4096
| packets=0
| elements=0
! coretap: warning: $T/zero/board.bin: one word fills the bytes from the beginning on, so this part of the trace buffer was never written; check that the trace sink was enabled, and that its memory was read
! coretap: $T/zero/board.ini: none of its 4096 bytes belong to a trace source that the capture describes; nothing was decoded; 'coretap info' lists the trace IDs in it
Blanks in the headings of sections.
$ cp -r examples/quickstart $T/blanks && sed -i 's/^\[\(.*\)\]/[ \1	]/' $T/blanks/*.ini && coretap stats $T/blanks | grep ^instructions; cp -r examples/raw $T/raw && sed -i 's/^\[\(.*\)\]/[ \1 ]/' $T/raw/board.ini && coretap stats $T/raw/board.ini | grep ^instructions
| instructions=4610
| instructions=8
A trace that is compressed.
$ cp -r examples/raw $T/packed && gzip -c examples/raw/board.bin >$T/packed/board.bin; coretap stats $T/packed/board.ini 2>&1 >/dev/null | head -1; sed -i 's/^framing = .*//' $T/packed/board.ini; coretap stats $T/packed/board.ini
| coretap: warning: $T/packed/board.bin: the file is compressed with gzip, which is not unpacked here; unpack it with 'gunzip' first
! coretap: $T/packed/board.bin: the file is compressed with gzip, which is not unpacked here; unpack it with 'gunzip' first
[2]
A program whose path has a tab, as coretap record writes it. A backslash in a path stays one.
$ cp -r examples/quickstart $T/tab; cd $T/tab; cp firmware.bin 'a	b'; cp firmware.bin 'a\x0ab'; cp snapshot.ini s; for x in 'a\\x09b' 'a\\x0ab' 'a\\x0bb'; do { cat s; printf "[program]\nelf=$x\n"; } >snapshot.ini; coretap info . 2>&1 | grep -c 'No such file'; done
| 0
| 0
| 2

Paths as Windows writes them, and a source without a core.
$ cp -r examples/quickstart $T/windows; cd $T/windows; mkdir -p dumps/rom; mv firmware.bin dumps/rom; mv trace.bin dumps; sed -i 's/=firmware.bin/=dumps\\rom\\firmware.bin/; s/=trace.bin/=dumps\\trace.bin/' *.ini; sed -i 's/$/\r/' *.ini; coretap stats . | grep ^instructions; coretap stats $OLDPWD/examples/quickstart | grep ^instructions; cat trace.ini | grep dumps
| instructions=4610
| instructions=4610
| file=dumps\trace.bin
$ cp -r examples/quickstart $T/swapped; cd $T/swapped; sed -i 's/^cpu_0=ETM_0/ETM_0=cpu_0/' trace.ini; coretap stats . 2>&1 >/dev/null | head -1
| coretap: warning: ./trace.ini: no line of [core_trace_sources] tells which core source ETM_0 traces, so its architecture is unknown and it has no memory images; add CORE=ETM_0 with the name of the core
A file that several cores name, and that is missing.
$ cp -r examples/quickstart $T/gone; cd $T/gone; rm firmware.bin; coretap info . 2>&1 | grep -c 'firmware.bin: No such file'; grep -l firmware.bin *.ini
| 2
| cpu_0.ini
| cpu_1.ini
A pipe in place of a capture.
$ mkfifo $T/pipe; coretap info $T/pipe
! coretap: $T/pipe: this is a pipe or a device, and a capture is not read from front to end; pass a perf.data as standard input, with the name -, and a raw trace with --config FILE.ini -
[2]

Bytes of a trace without a description: what to write for them.

$ cp examples/raw/board.bin $T/etb.bin; coretap info $T/etb.bin
! coretap: $T/etb.bin: these are bytes of a trace without their description, so they cannot be decoded; they look like CoreSight frames with the trace of these IDs; write the description into a file beside it, such as trace.ini, with the values in place of ?, and name that file (docs/formats.md, "Raw traces"):
!
! [capture]
! file = etb.bin
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
$ cp examples/raw/*.bin $T; coretap info $T/etb.bin 2>&1 | sed '1d; s/^core = ?/core = Cortex-A53/; s/^TRCCONFIGR = ?/TRCCONFIGR = 1/; s/^TRCIDR0 = ?/TRCIDR0 = 0x28000ea1/; s/^TRCIDR2 = ?/TRCIDR2 = 0x488/; s/^elf = .*/file = loop-code.bin\naddress = 0x80000/' >$T/etb.ini; coretap stats $T/etb.ini | grep ^instructions; coretap stats examples/raw/board.ini | grep ^instructions
| instructions=8
| instructions=8
$ coretap decode $T/etb.bin 2>&1 | sed 1d >$T/etb.ini; coretap decode $T/etb.ini
! coretap: $T/etb.ini:6: [source id10]: core ?: the model ? is unknown, so its instruction set is unknown too; give a name like Cortex-A53, an architecture like ARMv8.3-A, or ARM-AA64
[2]
$ coretap cover --elf $T/loop-code.bin $T/itm.bin
! coretap: $T/itm.bin: these are bytes of a trace without their description, so they cannot be decoded; they look like the trace of one source; write the description into a file beside it, such as trace.ini, with the values in place of ?, and name that file (docs/formats.md, "Raw traces"):
!
! [capture]
! file = itm.bin
! framing = none
!
! [source id00]
! protocol = itm           ; or ptm, etmv3
[2]
$ { printf '\0\0\0\0\0\200\010\0\0\0\0\100'; head -c 40 /dev/zero | tr '\0' '\206'; } >$T/ptm.bin; coretap stats $T/ptm.bin 2>&1 | sed -n '2,8p'
|
| [capture]
| file = ptm.bin
| framing = none
|
| [source id00]
| protocol = ptm           ; or etmv3
$ { head -c 10 /dev/zero | tr '\0' '\377'; printf '\017\060\100\376\360\032\0\0'; } >$T/stm.bin; coretap stats $T/stm.bin 2>&1 | sed -n '2,8p'
|
| [capture]
| file = stm.bin
| framing = none
|
| [source id00]
| protocol = stm
$ { printf '\377\377\377\177'; head -c 32 examples/raw/board.bin; printf '\377\377\377\177'; head -c 32 examples/raw/board.bin; } >$T/port.bin; coretap stats $T/port.bin 2>&1 | grep framing
| framing = tpiu
$ { head -c 3200 /dev/zero; i=0; while [ $i -lt 4 ]; do printf '\377\377\377\177'; head -c 32 examples/raw/board.bin; i=$((i+1)); done; } >$T/port.bin; coretap stats $T/port.bin 2>&1 | grep framing
| framing = tpiu
$ od -An -v -tx1 $T/etb.bin >$T/etb.txt; coretap info $T/etb.txt
! coretap: $T/etb.txt: this is text with hexadecimal digits, but trace is read as bytes; convert it, for instance with 'xxd -r -p'
[2]
$ cd $T; printf '0x20000000: 2265b1f5 91b7584a \n' >mdw.txt; printf '0x20000000 <etb+4>:\t0xf5\t0xb1\n' >gdb.txt; printf '00000000: f5b1 6522  ..e"\n' >xxd.txt; printf '00000000  f5 b1 65 22  |..e"|\n' >hexdump.txt; for f in mdw gdb xxd hexdump; do coretap info $f.txt; done
! coretap: mdw.txt: this is memory as text with addresses, but trace is read as bytes; write the memory as bytes, in gdb with 'dump binary memory', in OpenOCD with 'dump_image', or convert the output of xxd with 'xxd -r'
! coretap: gdb.txt: this is memory as text with addresses, but trace is read as bytes; write the memory as bytes, in gdb with 'dump binary memory', in OpenOCD with 'dump_image', or convert the output of xxd with 'xxd -r'
! coretap: xxd.txt: this is memory as text with addresses, but trace is read as bytes; write the memory as bytes, in gdb with 'dump binary memory', in OpenOCD with 'dump_image', or convert the output of xxd with 'xxd -r'
! coretap: hexdump.txt: this is memory as text with addresses, but trace is read as bytes; write the memory as bytes, in gdb with 'dump binary memory', in OpenOCD with 'dump_image', or convert the output of xxd with 'xxd -r'
[2]
$ cd $T; objcopy -I binary -O ihex etb.bin etb.hex; objcopy -I binary -O srec etb.bin etb.srec; coretap info etb.hex; coretap info etb.srec
! coretap: etb.hex: this is memory as text (Intel HEX), but trace is read as bytes; convert it with 'objcopy -I ihex -O binary'
! coretap: etb.srec: this is memory as text (S-records), but trace is read as bytes; convert it with 'objcopy -I srec -O binary'
[2]
$ cd $T; printf 'f5 b1 65 22\n0x41, 0x42\n' >digits.txt; printf '00000000 f5b16522 91b7584a\n' >words.txt; for f in digits words; do coretap info $f.txt; done
! coretap: digits.txt: this is text with hexadecimal digits, but trace is read as bytes; convert it, for instance with 'xxd -r -p'
! coretap: words.txt: this is text with hexadecimal digits, but trace is read as bytes; convert it, for instance with 'xxd -r -p'
[2]
$ cd $T; printf '$date today $end\n$timescale 1 ns $end\n' >swo.vcd; printf 'Time [s],Channel 0\n0.0,1\n' >swo.csv; printf 'PK\3\4\24\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\1\0\0\0\7\0\0\0version2PK' >swo.sr; for f in swo.*; do coretap info $f; done
! coretap: swo.csv: these are the levels of pins, as a logic analyser stores them, not the bytes of a trace; decode the pin to bytes first, a UART for instance with 'sigrok-cli -i FILE -P uart:rx=PIN:baudrate=RATE -B uart=rx'
! coretap: swo.sr: these are the levels of pins, as a logic analyser stores them, not the bytes of a trace; decode the pin to bytes first, a UART for instance with 'sigrok-cli -i FILE -P uart:rx=PIN:baudrate=RATE -B uart=rx'
! coretap: swo.vcd: these are the levels of pins, as a logic analyser stores them, not the bytes of a trace; decode the pin to bytes first, a UART for instance with 'sigrok-cli -i FILE -P uart:rx=PIN:baudrate=RATE -B uart=rx'
[2]
$ cd $T; printf '\27\10\104tracing6\0\0\10' >trace.dat; coretap info trace.dat
! coretap: trace.dat: this is a trace.dat file of ftrace, which has no trace of CoreSight; record with 'perf record -e cs_etm//u'
[2]
$ cd $T; printf '\324\303\262\241\2\0\4\0' >probe.pcap; printf '\n\r\r\n\34\0\0\0' >probe.pcapng; printf '\301\037\374\301' >channel0_0; printf '/* CTF 1.8 */\n' >metadata; printf '\0FSP\7\0' >tasks.psf; printf ';\n; Version\tSEGGER SystemViewer V3\n' >tasks.SVDat; printf 'MDMP\223\247' >dump.dmp; printf 'Rar!\032\7' >trace.rar; printf 'coretap-cover 1\n' >a.cov; printf 'unsigned char etb[] = {\n0x12};\n' >etb.c; for f in probe.* channel0_0 metadata tasks.* dump.dmp trace.rar a.cov etb.c; do coretap info $f; done
! coretap: probe.pcap: these are packets of a network, which are not taken apart here; write what the probe sent into a file, for instance with tcpflow or 'tshark -z follow,tcp,raw,0', and describe its bytes by an .ini file (docs/formats.md, "Raw traces")
! coretap: probe.pcapng: these are packets of a network, which are not taken apart here; write what the probe sent into a file, for instance with tcpflow or 'tshark -z follow,tcp,raw,0', and describe its bytes by an .ini file (docs/formats.md, "Raw traces")
! coretap: channel0_0: this is a stream of CTF, which has events that software recorded and no trace of CoreSight; open it with the tool that it was made for, and record with a trace unit for coretap
! coretap: metadata: this is the description of a CTF trace, which has events that software recorded and no trace of CoreSight; open it with the tool that it was made for, and record with a trace unit for coretap
! coretap: tasks.SVDat: this is a recording of SystemView, which has events that software recorded and no trace of CoreSight; open it with the tool that it was made for, and record with a trace unit for coretap
! coretap: tasks.psf: this is a recording of Tracealyzer, which has events that software recorded and no trace of CoreSight; open it with the tool that it was made for, and record with a trace unit for coretap
! coretap: dump.dmp: this is a minidump, which has the memory of a program and no trace; name the capture
! coretap: trace.rar: this is a rar archive, which is not unpacked here; unpack it with 'unrar x' first
! coretap: a.cov: this is a result that coretap saved, not a capture; 'coretap merge' prints and adds up such files
! coretap: etb.c: this is text, not a capture; convert trace that is written as text to bytes; if a tool printed the text, name what the tool read; a description of a raw trace begins with [capture]
[2]
Memory that was never written, and frames that do not begin at the first byte.
$ cd $T; head -c 4096 /dev/zero | tr '\0' '\377' >ff.bin; coretap info ff.bin
! coretap: ff.bin: one word fills the bytes from the beginning on, so this part of the trace buffer was never written; check that the trace sink was enabled, and that its memory was read
[2]
$ cd $T; { printf ETB; i=0; while [ $i -lt 64 ]; do printf '!\0\0\0\0\0\0\0\0\0\0\0\200\7\4\0'; i=$((i+1)); done; } >begin.bin; coretap info begin.bin; tail -c +4 begin.bin >frames.bin; coretap info frames.bin 2>&1 | sed -n 3,6p
| [capture]
| file = frames.bin
| framing = frames
|
! coretap: begin.bin: frames with valid trace IDs begin only after the first 3 of these bytes, so none can be read; cut them off, for instance with 'tail -c +4'
$ cd $T; cp -r raw begin; cp begin.bin begin/board.bin; coretap stats begin/board.ini 2>&1 >/dev/null | head -1
| coretap: warning: begin/board.bin: frames with valid trace IDs begin only after the first 3 of these bytes, so none can be read; cut them off, for instance with 'tail -c +4'
An ITM without synchronisation packets, as most probes record it. Its packets may look like frames.
$ cd $T; i=0; while [ $i -lt 64 ]; do printf '\1A\16\13\20\300\205\1'; i=$((i+1)); done >swo.bin; coretap info swo.bin 2>&1 | sed 1d | tee swo.ini; coretap decode swo.ini | sed -n '3,6p'
|
| [capture]
| file = swo.bin
| framing = none
|
| [source id00]
| protocol = itm
| sync = none              ; there are no synchronisation packets
| # id 00
| Sw	133	0x41	port 0
| Dwt	133	0x100b	SVCall entered
| Sw	266	0x41	port 0
$ cd $T; sed -i '/^sync/d' swo.ini; coretap decode swo.ini
| type	cycle	value	note
| # buffer trace
| # id 00
| Gap	0	512	bytes lost at offset 0: before the first synchronisation
| End	0		end of trace
! coretap: warning: source id00 (ID 00): none of its 512 bytes is decoded, because there is no synchronisation packet to begin with; record with these packets (SYNCENA of ITM_TCR, SYNCTAP and CYCCNTENA of DWT_CTRL), or add sync=none to the source in the .ini of a raw trace, to decode from the first byte on
! coretap: swo.ini: losses: 512 bytes that could not be used
[1]
$ head -c 4096 /dev/zero >$T/zeros.bin; coretap info $T/zeros.bin
! coretap: $T/zeros.bin: one word fills the bytes from the beginning on, so this part of the trace buffer was never written; check that the trace sink was enabled, and that its memory was read
[2]
