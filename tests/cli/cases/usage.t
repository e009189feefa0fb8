# The command by itself.
$ coretap --version
| coretap 0[.]1[.]0-[0-9a-f]{12} (re)
| capstone    (present|missing): .* (re)
| cbc         (present|missing): .* (re)
| gccjit      (present|missing): .* (re)
| live        (present|missing): .* (re)
| curl        (present|missing): .* (re)
| lzma        (present|missing): .* (re)
| demangle    (present|missing): .* (re)
| opencsd     (present|missing): .* (re)
| debuginfod  (present|missing): .* (re)
# A library that is loaded when it is wanted can go after coretap was built.
needs gccjit
$ CORETAP_GCCJIT=/nowhere/libgccjit.so coretap --version | grep gccjit
| gccjit      missing: specifications run as bytecode, which is slower (Debian: libgccjit-12-dev)
needs capstone
$ CORETAP_CAPSTONE=/nowhere/libcapstone.so coretap --version | grep capstone
| capstone    missing: reports show instructions as opcodes (Debian: libcapstone-dev)
needs live
$ CORETAP_MICROHTTPD=/nowhere/libmicrohttpd.so coretap --version | grep ^live
| live        missing: live serves no page, and ctl cannot be used; live still writes its reports (Debian: libmicrohttpd-dev)
needs cbc
$ CORETAP_CBC=/nowhere/libCbcSolver.so coretap --version | grep cbc
| cbc         missing: wcet and report cannot find the longest path; wcet --lp writes the model for another solver (Debian: coinor-libcbc-dev)
$ coretap --help
| Usage: coretap COMMAND [OPTION]... CAPTURE
|        coretap help [COMMAND] | --version
|
| Decodes and analyses the trace that Arm processors emit about themselves.
|
| --version prints the version with a hash of its sources, by which map
| recognises its own pieces, and the optional parts: whether this build has each,
| and what does not work without it.
|
| Commands:
|   info            describe a capture: sources, their configuration in words, how much each traced
|   list            list packets or elements, one line each
|   decode          print the trace as events with a running cycle count
|   stats           count bytes, packets, instructions and losses, and measure decoding speed
|   export          write a capture in the format of another program
|   export-results  write results as tables that data engines read
|   perf-env        run perf, or another user of libopencsd, with coretap's decoders
|   record          run an Arm program and write its trace
|   volume          measure how much trace a program makes, for each setting of the trace unit
|   graph           print the control flow of a program
|   watch           print an event each time execution reaches a watchpoint
|   timing          measure how long edges, functions and paths between watchpoints take
|   wcet            bound the execution time of a function
|   cover           report which functions, lines, instructions and branches ran
|   merge           add up results: saved files and captures
|   manifest        list the captures in folders, for map and coretap-mpi
|   map             run one command over many captures and add up the results
|   profile         write profiles for compilers, flame graphs and viewers
|   report          write everything about a capture to one page
|   monitor         check specifications along a trace
|   spec            write a specification from measured times
|   live            analyse trace as it comes in, and show the results on a page
|   ctl             query a live run, and change its watchpoints, specifications and filter
|   tessla          run a TeSSLa specification on a textual trace
|   fractal         trace the memory accesses of one process at the coherent interconnect
|
| Environment:
|   CORETAP_SIMD            none, avx2 or neon: limit the vector instructions
|                           that are used, for comparison. avx2 is for x86-64,
|                           neon for arm64. The result is the same.
|   CORETAP_TOKEN           Token of a live run, if --token does not give it.
|   CORETAP_TRACE_PLUGIN    Path of the QEMU plugin that record uses, if it is
|                           neither beside the command nor installed.
|   CORETAP_ACCESS_PLUGIN   The same for fractal run.
|   CORETAP_GCCJIT          Path of libgccjit, with which monitor and tessla
|                           compile.
|   CORETAP_MICROHTTPD      Path of libmicrohttpd, with which live serves its
|                           page.
|   CORETAP_CAPSTONE        Path of Capstone, with which instructions are
|                           disassembled.
|   CORETAP_CRYPTO          Path of libcrypto, with which map and coretap-mpi
|                           check the contents of captures.
|   CORETAP_CURL            Path of libcurl, with which live sends violations to
|                           a URL.
|   CORETAP_CBC             Path of libCbcSolver, with which wcet and report find
|                           the longest path.
|   DEBUGINFOD_URLS         perf.data: servers from which files are fetched by
|                           build id.
|   PERF_BUILDID_DIR        perf.data: perf's cache of files by build id, if
|                           --buildid-dir does not give it.
|   SOURCE_DATE_EPOCH       cover -f cobertura: the time stamp of the file, in
|                           seconds since 1970, instead of the current time. The
|                           same coverage then gives the same file.
|   QEMU_LD_PREFIX          record: the folder with the interpreter and libraries
|                           of the target.
|
| 'coretap COMMAND --help' says more about each.
$ coretap
! Usage: coretap COMMAND [OPTION]... CAPTURE
!        coretap help [COMMAND] | --version
!
! Decodes and analyses the trace that Arm processors emit about themselves.
!
! --version prints the version with a hash of its sources, by which map
! recognises its own pieces, and the optional parts: whether this build has each,
! and what does not work without it.
!
! Commands:
!   info            describe a capture: sources, their configuration in words, how much each traced
!   list            list packets or elements, one line each
!   decode          print the trace as events with a running cycle count
!   stats           count bytes, packets, instructions and losses, and measure decoding speed
!   export          write a capture in the format of another program
!   export-results  write results as tables that data engines read
!   perf-env        run perf, or another user of libopencsd, with coretap's decoders
!   record          run an Arm program and write its trace
!   volume          measure how much trace a program makes, for each setting of the trace unit
!   graph           print the control flow of a program
!   watch           print an event each time execution reaches a watchpoint
!   timing          measure how long edges, functions and paths between watchpoints take
!   wcet            bound the execution time of a function
!   cover           report which functions, lines, instructions and branches ran
!   merge           add up results: saved files and captures
!   manifest        list the captures in folders, for map and coretap-mpi
!   map             run one command over many captures and add up the results
!   profile         write profiles for compilers, flame graphs and viewers
!   report          write everything about a capture to one page
!   monitor         check specifications along a trace
!   spec            write a specification from measured times
!   live            analyse trace as it comes in, and show the results on a page
!   ctl             query a live run, and change its watchpoints, specifications and filter
!   tessla          run a TeSSLa specification on a textual trace
!   fractal         trace the memory accesses of one process at the coherent interconnect
!
! Environment:
!   CORETAP_SIMD            none, avx2 or neon: limit the vector instructions
!                           that are used, for comparison. avx2 is for x86-64,
!                           neon for arm64. The result is the same.
!   CORETAP_TOKEN           Token of a live run, if --token does not give it.
!   CORETAP_TRACE_PLUGIN    Path of the QEMU plugin that record uses, if it is
!                           neither beside the command nor installed.
!   CORETAP_ACCESS_PLUGIN   The same for fractal run.
!   CORETAP_GCCJIT          Path of libgccjit, with which monitor and tessla
!                           compile.
!   CORETAP_MICROHTTPD      Path of libmicrohttpd, with which live serves its
!                           page.
!   CORETAP_CAPSTONE        Path of Capstone, with which instructions are
!                           disassembled.
!   CORETAP_CRYPTO          Path of libcrypto, with which map and coretap-mpi
!                           check the contents of captures.
!   CORETAP_CURL            Path of libcurl, with which live sends violations to
!                           a URL.
!   CORETAP_CBC             Path of libCbcSolver, with which wcet and report find
!                           the longest path.
!   DEBUGINFOD_URLS         perf.data: servers from which files are fetched by
!                           build id.
!   PERF_BUILDID_DIR        perf.data: perf's cache of files by build id, if
!                           --buildid-dir does not give it.
!   SOURCE_DATE_EPOCH       cover -f cobertura: the time stamp of the file, in
!                           seconds since 1970, instead of the current time. The
!                           same coverage then gives the same file.
!   QEMU_LD_PREFIX          record: the folder with the interpreter and libraries
!                           of the target.
!
! 'coretap COMMAND --help' says more about each.
[2]
$ coretap --versoin
! coretap: unknown option '--versoin'; did you mean '--version'?
! Try 'coretap --help'.
[2]
$ coretap -x
! coretap: unknown option '-x'
! Try 'coretap --help'.
[2]

# The environment.
$ export CORETAP_SIMD=avx-2; coretap --version
! coretap: CORETAP_SIMD: the value 'avx-2' in the environment is not known; set it to 'avx2', 'neon' or 'none', or unset it
[2]
$ export CORETAP_SIMD=avx2; coretap --version | head -n 1
| coretap 0[.]1[.]0-[0-9a-f]{12} (re)
# The hash is the one that pieces are named with.
$ coretap map -q --state $T/state stats examples/quickstart >$T/sums; ls $T/state | grep -c -- "-$(coretap --version | sed -n 's/^coretap //p')[.]piece$"
| 1

# Output that cannot be written.
$ coretap --version >/dev/full
! coretap: standard output: writing failed: No space left on device; the output is incomplete
[2]
$ coretap --version >&-
! coretap: standard output is closed, so nothing can be printed; redirect it to a file or /dev/null
[2]

# Options that say which part of a capture is wanted: where they cannot be applied they are refused by their own
# name, also where another option begins with it.
$ coretap graph --elf x --el 0
! coretap graph: --el cannot be applied here: the targets of computed branches are learnt from the whole capture; leave the option out
! Try 'coretap graph --help'.
[2]
$ coretap live --to=5 -
! coretap live: --to cannot be applied here: a live run analyses all of its trace; use 'coretap ctl filter' to choose which events count
! Try 'coretap live --help'.
[2]
$ coretap info --core 0 examples/quickstart
! coretap info: --core cannot be applied here: 'info' describes the whole capture; use 'coretap stats', which can count a part of it
! Try 'coretap info --help'.
[2]
$ coretap decode --merge --index --from 5cyc examples/quickstart
! coretap decode: --index cannot be used with --merge, because --merge reads all timestamps from the beginning; leave one of them out
! Try 'coretap decode --help'.
[2]
$ coretap decode --function main examples/quickstart 2>&1 | head -1
| coretap decode: --function cannot be applied here: the events of 'decode' do not record their function or module; use 'coretap watch', which can select places
$ coretap wcet --entry main --function main examples/quickstart
! coretap wcet: --function cannot be applied here: the longest path needs the times of all functions that --entry reaches; use --module to select a program
! Try 'coretap wcet --help'.
[2]
$ coretap export --from 3ms examples/quickstart 2>&1 | head -1
| coretap export: --from cannot be applied here: perf.data gets the whole trace as it was recorded; use 'coretap decode', which can print a part of it

# Options that need or exclude each other say so, and what to do.
$ coretap cover --shard 1/2 examples/quickstart 2>&1
| coretap cover: --shard works only with --format data; add that, or leave --shard out
| Try 'coretap cover --help'.
[2]
$ coretap profile --each $T/d -f folded examples/quickstart 2>&1
| coretap profile: --each works only with --format autofdo, llvm and bolt, because folded has all programs in one file; leave --each out
| Try 'coretap profile --help'.
[2]
$ coretap profile --each $T/d -f bolt -o $T/x examples/quickstart 2>&1
| coretap profile: --each chooses the names of the files itself; leave --output out
| Try 'coretap profile --help'.
[2]
$ coretap profile --modules -f bolt examples/quickstart 2>&1
| coretap profile: --modules works only with --format folded, because bolt separates modules by itself; leave --modules out
| Try 'coretap profile --help'.
[2]
$ coretap watch --all-edges examples/quickstart examples/quickstart 2>&1
| coretap watch: --all-edges works only with one capture; name only one
| Try 'coretap watch --help'.
[2]
$ coretap wcet --entry main --source -f json examples/quickstart 2>&1
| coretap wcet: --source works only with --format text; choose that, or html, which always shows the source
| Try 'coretap wcet --help'.
[2]
$ coretap merge --shard 1/2 --weight 2 examples/quickstart 2>&1
| coretap merge: --weight cannot be used with --shard, because parts must be joined first; join the parts, then give --weight when merging the joined result
| Try 'coretap merge --help'.
[2]
$ coretap ctl --http 1 status x 2>&1
| coretap ctl: status: 'x' is not expected here, because status has no arguments
| Try 'coretap ctl --help'.
[2]
$ coretap ctl --control x 2>&1
| coretap ctl: ACTION is missing; give range, section, symbol, point, process or status
| Try 'coretap ctl --help'.
[2]
All spellings of help print the same.
$ for c in "" info "fractal run" fractal; do coretap help $c >$T/a; coretap $c --help >$T/b; coretap $c -h >$T/c; coretap help $c --help >$T/d; for f in b c d; do cmp $T/a $T/$f; done; head -1 $T/a; done; coretap fractal help run | head -1; coretap help help | head -1
| Usage: coretap COMMAND [OPTION]... CAPTURE
| Usage: coretap info [OPTION]... CAPTURE
| Usage: coretap fractal run -o LOG [OPTION]... -- PROGRAM [ARG]...
| Usage: coretap fractal COMMAND [OPTION]...
| Usage: coretap fractal run -o LOG [OPTION]... -- PROGRAM [ARG]...
| Usage: coretap COMMAND [OPTION]... CAPTURE
$ coretap help inof
! coretap: unknown command 'inof'; did you mean 'info'?
! Try 'coretap --help'.
[2]
$ coretap help info list
! coretap info: 'list' is one argument too many; leave it out
! Try 'coretap info --help'.
[2]
$ coretap hlep
! coretap: unknown command 'hlep'; did you mean 'help'?
! Try 'coretap --help'.
[2]
