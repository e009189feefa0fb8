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
$ od -An -v -tx1 $T/etb.bin >$T/etb.txt; coretap info $T/etb.txt
! coretap: $T/etb.txt: this is text with hexadecimal digits, but trace is read as bytes; convert it, for instance with 'xxd -r -p'
[2]
$ head -c 4096 /dev/zero >$T/zeros.bin; coretap info $T/zeros.bin
! coretap: $T/zeros.bin: the format is not recognised, so it cannot be read:
!   snapshot: this is neither a directory with a snapshot.ini nor a file that begins with [snapshot]
!   raw: the file does not begin with [capture]; a raw trace is opened by the .ini file that describes it
!   perf.data: the file does not begin with PERFILE2
[2]
