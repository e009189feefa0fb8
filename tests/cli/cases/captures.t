Files that people give in place of a capture: what each is, and what to do with it.
$ mkdir $T/f && cd $T/f; printf '\037\213\010\0' >trace.gz; printf '\375\067zXZ\0' >trace.xz; printf 'BZh9' >trace.bz2; printf '\004\042\115\030' >trace.lz4; printf 'PK\003\004' >trace.zip; printf '7z\274\257\047\034' >trace.7z; printf '\177ELF' >program; printf 'PERFFILE' >perf.old; : >empty; head -c 257 /dev/zero >a.tar; printf ustar >>a.tar; printf '\377\376[\0' >utf16.ini
$ for f in $T/f/*; do coretap info $f; done
! coretap: $T/f/a.tar: is a tar archive, which is not unpacked here; unpack it with 'tar -xf' first
! coretap: $T/f/empty: is empty, so there is nothing to read; copy it again, or record again
! coretap: $T/f/perf.old: is a perf.data file of the first version, without trace; record again with a current perf
! coretap: $T/f/program: is a program or other ELF file, not a capture; name the capture, and give the program with --elf
! coretap: $T/f/trace.7z: is a 7z archive, which is not unpacked here; unpack it with '7z x' first
! coretap: $T/f/trace.bz2: is compressed with bzip2, which is not unpacked here; unpack it with 'bunzip2' first
! coretap: $T/f/trace.gz: is compressed with gzip, which is not unpacked here; unpack it with 'gunzip' first
! coretap: $T/f/trace.lz4: is compressed with lz4, which is not unpacked here; unpack it with 'unlz4' first
! coretap: $T/f/trace.xz: is compressed with xz, which is not unpacked here; unpack it with 'unxz' first
! coretap: $T/f/trace.zip: is a zip archive, which is not unpacked here; unpack it with 'unzip' first
! coretap: $T/f/utf16.ini: is text in UTF-16, which is not read as a description; convert it to UTF-8
[2]
$ coretap stats examples/quickstart/trace.ini; coretap stats examples/quickstart/device_0.ini
! coretap: examples/quickstart/trace.ini: is a part of a snapshot and cannot be read alone; name the directory with the snapshot.ini
! coretap: examples/quickstart/device_0.ini: is a part of a snapshot and cannot be read alone; name the directory with the snapshot.ini
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
| coretap: warning: $T/packed/board.bin: is compressed with gzip, which is not unpacked here; unpack it with 'gunzip' first
! coretap: $T/packed/board.bin: is compressed with gzip, which is not unpacked here; unpack it with 'gunzip' first
[2]
A program whose path has a tab, as coretap record writes it. A backslash in a path stays one.
$ cp -r examples/quickstart $T/tab; cd $T/tab; cp firmware.bin 'a	b'; cp firmware.bin 'a\x0ab'; cp snapshot.ini s; for x in 'a\\x09b' 'a\\x0ab' 'a\\x0bb'; do { cat s; printf "[program]\nelf=$x\n"; } >snapshot.ini; coretap info . 2>&1 | grep -c 'No such file'; done
| 0
| 0
| 2
