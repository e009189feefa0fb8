Messages about files, folders and values that a user may get wrong, beside those of messages.t. Nothing else
tests these.

$ tail -c +2 tests/fuzz/corpus/elf/aarch64 >$T/p; : >$T/t; coretap graph --elf $T/p --targets $T/t | tail -1
|   b2 0x8050..0x805c n=4
! coretap: $T/t: the file has no statements, so the control flow stays as it is without --targets; write lines like "PLACE: PLACE…" (docs/analysis.md), or leave the option out
$ printf '# none\n\n  # none\r\n' >$T/t; coretap graph --elf $T/p --targets $T/t --function main --format dot | head -1
| digraph program {
! coretap: $T/t: the file has no statements, so the control flow stays as it is without --targets; write lines like "PLACE: PLACE…" (docs/analysis.md), or leave the option out
$ printf '# none\n' >$T/t; coretap wcet -q --elf $T/p@0 --entry main --bounds $T/t examples/quickstart | tail -1
! coretap: $T/t: the file has no statements, so no bounds were read; write lines like "loop PLACE N" (docs/analysis.md), or leave --bounds out
! coretap: wcet: no cycles of the program were measured, because the trace has no cycle counts or does not cover the program; record with cycle counts
$ coretap cover -f data --elf $T/p@0 -o $T/a.cov examples/quickstart 2>/dev/null; coretap export-results --parquet $T/out $T/a.cov $T/a.cov
! coretap export-results: $T/a.cov: the file is named twice; its rows would count twice; name it once
! Try 'coretap export-results --help'.
[2]
$ coretap export-results --parquet README.md $T/a.cov
! coretap: README.md: this is not a folder, but the files need one; name a folder
[2]
$ coretap map cover examples/quickstart
! coretap map: --output and --state are missing, so there is no folder for the pieces; give one of them
! Try 'coretap map --help'.
[2]
$ : >$T/list; coretap map cover --manifest $T/list -o $T/sum examples/quickstart
! coretap map: 'examples/quickstart': captures can be named by --manifest or as operands, but not by both; leave one of them out
! Try 'coretap map --help'.
[2]
$ coretap map cover --manifest $T/list -o $T/sum
! coretap: the manifest lists no capture, so there is no result; make one with 'coretap manifest'
[2]
$ mkdir $T/empty; coretap manifest $T/empty
! coretap: 0 captures of 0.0 MB, 0 other files
! coretap: no capture was found, so the list is empty; name folders with a perf.data file, a snapshot.ini, a description of a raw trace (.ini) or a branch list
[1]
$ coretap cover --el 9 examples/quickstart
! coretap cover: --el: '9' is not a number from 0 to 3
! Try 'coretap cover --help'.
[2]
$ coretap cover --from 99999999999999999999s examples/quickstart
! coretap cover: --from: '99999999999999999999s': the number is too large, or is not a whole number of nanoseconds, ticks, cycles or instructions; give a time (12.5s, 3ms, 20us, 700ns, 190327ticks), a number of cycles (500000cyc) or instructions (1000000insn), or a place (main, main.c:32, 0x4010), with #N behind it for the N-th time that execution reaches it
! Try 'coretap cover --help'.
[2]
$ coretap cover --from 1ms --elf $T/p@0 examples/raw/board.ini | head -1
! coretap: examples/raw/board.ini: the capture does not contain the frequency of its timestamps, so a time cannot be converted to ticks; give the frequency with --frequency HZ, or the window in ticks, cycles or instructions
$ coretap cover --function nosuch --elf $T/p@0 examples/quickstart | head -1
! coretap: function 'nosuch': no program that ran has a function with this name, so nothing is selected; choose one that 'coretap cover --functions' lists
$ printf 'in x: Events[Int]\nout x\n' >$T/s; coretap monitor -q --spec $T/s --bind x=0x8050 --bind nosuch=0x8050 examples/quickstart
! coretap monitor: --bind nosuch=0x8050: no specification has an input nosuch; correct the name, or leave the option out
! Try 'coretap monitor --help'.
[2]
$ coretap tessla --spec examples/monitor/turns.tessla --format json
! coretap tessla: --format works only with --analyse; add that, or leave --format out
! Try 'coretap tessla --help'.
[2]
$ coretap profile --max-size 100000 examples/quickstart
! coretap profile: --max-size works only with --format perfetto; choose that format, or leave --max-size out
! Try 'coretap profile --help'.
[2]
needs live
$ coretap live --http x --elf $T/p@0 --config examples/raw/board.ini -
! coretap: x: this is not [ADDRESS:]PORT, so the page cannot be served; give a port from 0 to 65535, with an address in front of it or without
[2]
needs live
$ coretap live --http 0.0.0.0:0 --elf $T/p@0 --config examples/raw/board.ini -
! coretap: 0.0.0.0:0: other machines can reach this address, so the page needs a token; give one with --token
[2]
$ cp examples/raw/board.ini $T/board.ini; coretap live --tee $T/board.ini --elf $T/p@0 --config examples/raw/board.ini -
! coretap: $T/board.ini: the file is not empty and is not overwritten; name another file to keep the trace in
[2]
$ coretap live --tee $T --elf $T/p@0 --config examples/raw/board.ini -
! coretap: $T: this is not a regular file, so the trace cannot be kept there; name a regular file
[2]
$ coretap live --assume-idle --elf $T/p@0 --config examples/raw/itm.ini -
! coretap live: --assume-idle needs several cores in one run; describe several cores in --config and leave out --per-core, or leave out --assume-idle
! Try 'coretap live --help'.
[2]
$ coretap live --milestone main=soon --fractal -
! coretap: --milestone main=soon: 'soon' is not a time; write a number above 0 with ns, us, ms or s
[2]
$ coretap record --system --protocol ptm -o $T/new -- true
! coretap record: --system cannot be used with --protocol ptm or --threads contexts; leave these out
! Try 'coretap record --help'.
[2]
$ coretap volume --protocol ptm -- true
! coretap: true: cannot be run: No such file or directory; give the path of an Arm Linux program
[2]
$ printf 'x\n' >$T/list; coretap map cover --manifest $T/list -o $T/sum
! coretap: $T/list:1: the line is not a JSON object: '[' or '{' expected near 'x'; the manifest is not used; correct the line, or write the manifest again with 'coretap manifest'
[2]
$ printf '{"path": "a", "size": 1}\n' >$T/list; coretap map cover --manifest $T/list -o $T/sum
! coretap: $T/list:1: "sha256" is missing or not 64 hexadecimal digits; the manifest is not used; correct the line, or write the manifest again with 'coretap manifest'
[2]
$ coretap map --state README.md cover examples/quickstart
! coretap: README.md: the folder for pieces cannot be created: Not a directory; the job does not begin; name a folder that can be written with --state
[2]
$ coretap map -q cover -o $T/nodir/sum examples/quickstart
! coretap: $T/nodir/sum.state: the folder for pieces cannot be created: No such file or directory; the job does not begin; name a folder that can be written with --state
[2]
needs live
$ coretap live --post-violations ftp://x --elf $T/p@0 --config examples/raw/board.ini -
! coretap: ftp://x: this is not a URL of the form http://HOST[:PORT][/PATH] or https://…, so violations cannot be sent there; correct it
[2]
$ coretap export --perf $T/x.data --branch-stacks=1 examples/quickstart
! coretap export: --branch-stacks: '1' is not a number from 2 to 1024
! Try 'coretap export --help'.
[2]
$ coretap decode --format html examples/quickstart
! coretap decode: --format: 'html' is not one of tsv, jsonl, csv
! Try 'coretap decode --help'.
[2]
$ coretap cover --buffer nosuch examples/quickstart
! coretap: examples/quickstart: the capture has no buffer 'nosuch'; 'coretap info' lists its buffers
[2]
$ coretap tessla --spec $T/s $T/noinput
! coretap tessla: '$T/noinput' is one argument too many; write --spec before the specification and --trace before the trace
! Try 'coretap tessla --help'.
[2]
