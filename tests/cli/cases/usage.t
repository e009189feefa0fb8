# The command by itself.
$ coretap --version
| coretap 0.1.0
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
| capstone    missing: reports show instructions as numbers (Debian: libcapstone-dev)
needs live
$ CORETAP_MICROHTTPD=/nowhere/libmicrohttpd.so coretap --version | grep ^live
| live        missing: live only writes its reports to files, and ctl has nobody to talk to (Debian: libmicrohttpd-dev)
needs cbc
$ CORETAP_CBC=/nowhere/libCbcSolver.so coretap --version | grep cbc
| cbc         missing: wcet and report find no longest path; wcet --lp writes the model for another solver (Debian: coinor-libcbc-dev)
$ coretap --help
| Usage: coretap COMMAND [OPTION]... CAPTURE
|        coretap --help | --version
|
| Decodes and analyses the trace that Arm processors emit about themselves.
|
| --version prints the version, and for each optional part whether this coretap
| has it and what cannot be done without.
|
| Commands:
|   info           what a capture holds: sources, their configuration in words, and how much each traced
|   list           list packets or elements, one line each
|   decode         print the trace as events with a running cycle count
|   stats          how much trace there is, what it says, and how fast it was decoded
|   export         write a capture in the format of another program
|   export-results write results as tables that data engines read
|   perf-env       run perf, or another user of libopencsd, with the decoders of coretap
|   record         run an Arm program and write the trace of what it did
|   volume         how much trace a program makes, by the settings of the trace unit
|   graph          print the control flow of a program
|   watch          print an event each time execution comes by a watchpoint
|   timing         print how long edges, functions and ways between watchpoints take
|   wcet           bound the time that a function can take
|   cover          which functions, lines, instructions and branches ran
|   merge          add up results: saved files, and captures
|   manifest       list the captures in folders, for map and coretap-mpi
|   map            one command over many captures, whose results add up
|   profile        profiles for compilers, flame graphs and viewers
|   report         all that is known of a capture, as one page
|   monitor        check specifications along a trace
|   spec           write a specification of measured times
|   live           analyse trace while it comes, and show it on a page
|   ctl            ask a live run, and exchange what it watches and checks
|   tessla         run a TeSSLa specification on a textual trace
|   fractal        memory accesses of one process, seen from the coherent interconnect
|
| Environment:
|   CORETAP_SIMD            none, avx2 or neon: do without vector instructions,
|                           or with no more than those of AVX2 on x86-64 and NEON
|                           on arm64, to compare. The result is the same.
|   CORETAP_TOKEN           What a live run asks for, where --token does not say
|                           it.
|   CORETAP_TRACE_PLUGIN    The plugin for QEMU with which record makes trace,
|                           where it is not beside the command or installed.
|   CORETAP_ACCESS_PLUGIN   The same for fractal run.
|   CORETAP_GCCJIT          The libgccjit that monitor and tessla compile with.
|   CORETAP_MICROHTTPD      The libmicrohttpd that live shows its page with.
|   CORETAP_CAPSTONE        The Capstone that reports show instructions in words
|                           with.
|   CORETAP_CRYPTO          The libcrypto that fleet knows captures by their
|                           contents with.
|   CORETAP_CURL            The libcurl that live tells a URL of violations with.
|   CORETAP_CBC             The solver (libCbcSolver) that wcet and report find
|                           the longest path with.
|   DEBUGINFOD_URLS         perf.data: servers that are asked for files by their
|                           build id.
|   PERF_BUILDID_DIR        perf.data: perf's cache of files by build id, where
|                           --buildid-dir does not say it.
|   SOURCE_DATE_EPOCH       cover -f cobertura: the time of the file, in seconds
|                           since 1970, in place of now, so that the same
|                           coverage gives the same file.
|   QEMU_LD_PREFIX          record: the folder with the interpreter and libraries
|                           of the target.
|
| 'coretap COMMAND --help' says more about each.
$ coretap
! Usage: coretap COMMAND [OPTION]... CAPTURE
!        coretap --help | --version
!
! Decodes and analyses the trace that Arm processors emit about themselves.
!
! --version prints the version, and for each optional part whether this coretap
! has it and what cannot be done without.
!
! Commands:
!   info           what a capture holds: sources, their configuration in words, and how much each traced
!   list           list packets or elements, one line each
!   decode         print the trace as events with a running cycle count
!   stats          how much trace there is, what it says, and how fast it was decoded
!   export         write a capture in the format of another program
!   export-results write results as tables that data engines read
!   perf-env       run perf, or another user of libopencsd, with the decoders of coretap
!   record         run an Arm program and write the trace of what it did
!   volume         how much trace a program makes, by the settings of the trace unit
!   graph          print the control flow of a program
!   watch          print an event each time execution comes by a watchpoint
!   timing         print how long edges, functions and ways between watchpoints take
!   wcet           bound the time that a function can take
!   cover          which functions, lines, instructions and branches ran
!   merge          add up results: saved files, and captures
!   manifest       list the captures in folders, for map and coretap-mpi
!   map            one command over many captures, whose results add up
!   profile        profiles for compilers, flame graphs and viewers
!   report         all that is known of a capture, as one page
!   monitor        check specifications along a trace
!   spec           write a specification of measured times
!   live           analyse trace while it comes, and show it on a page
!   ctl            ask a live run, and exchange what it watches and checks
!   tessla         run a TeSSLa specification on a textual trace
!   fractal        memory accesses of one process, seen from the coherent interconnect
!
! Environment:
!   CORETAP_SIMD            none, avx2 or neon: do without vector instructions,
!                           or with no more than those of AVX2 on x86-64 and NEON
!                           on arm64, to compare. The result is the same.
!   CORETAP_TOKEN           What a live run asks for, where --token does not say
!                           it.
!   CORETAP_TRACE_PLUGIN    The plugin for QEMU with which record makes trace,
!                           where it is not beside the command or installed.
!   CORETAP_ACCESS_PLUGIN   The same for fractal run.
!   CORETAP_GCCJIT          The libgccjit that monitor and tessla compile with.
!   CORETAP_MICROHTTPD      The libmicrohttpd that live shows its page with.
!   CORETAP_CAPSTONE        The Capstone that reports show instructions in words
!                           with.
!   CORETAP_CRYPTO          The libcrypto that fleet knows captures by their
!                           contents with.
!   CORETAP_CURL            The libcurl that live tells a URL of violations with.
!   CORETAP_CBC             The solver (libCbcSolver) that wcet and report find
!                           the longest path with.
!   DEBUGINFOD_URLS         perf.data: servers that are asked for files by their
!                           build id.
!   PERF_BUILDID_DIR        perf.data: perf's cache of files by build id, where
!                           --buildid-dir does not say it.
!   SOURCE_DATE_EPOCH       cover -f cobertura: the time of the file, in seconds
!                           since 1970, in place of now, so that the same
!                           coverage gives the same file.
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
! coretap: CORETAP_SIMD in the environment is 'avx-2', which is no way to decode; make it 'avx2', 'neon' or 'none', or take it out
[2]
$ export CORETAP_SIMD=avx2; coretap --version | head -n 1
| coretap 0.1.0

# Output that cannot be written.
$ coretap --version >/dev/full
! coretap: standard output: No space left on device; what was printed is not complete
[2]
$ coretap --version >&-
! coretap: standard output is closed: there is nowhere to print to; redirect it to a file or /dev/null
[2]

# Options that say which part of a capture is wanted: where they cannot be applied they are refused by their own
# name, also where another option begins with it.
$ coretap graph --elf x --el 0
! coretap graph: --el cannot be applied here: where computed branches go holds whenever they ran, so a capture is learnt from as a whole
! Try 'coretap graph --help'.
[2]
$ coretap live --to=5 -
! coretap live: --to cannot be applied here: of trace that comes all is analysed; 'coretap ctl filter' says which events count
! Try 'coretap live --help'.
[2]
$ coretap info --core 0 examples/quickstart
! coretap info: --core cannot be applied here: it says what is in the capture, all of it; 'coretap stats' counts a part of it
! Try 'coretap info --help'.
[2]
$ coretap decode --merge --index --from 5cyc examples/quickstart
! coretap decode: --index cannot be applied with --merge: the time of an event follows from the timestamps before it, so that all of them are read
! Try 'coretap decode --help'.
[2]
$ coretap decode --function main examples/quickstart 2>&1 | head -1
| coretap decode: --function cannot be applied here: events do not say in which function or module they are; 'coretap watch' looks at places
$ coretap wcet --entry main --function main examples/quickstart
! coretap wcet: --function cannot be applied here: the longest path is made of the times of all functions that --entry comes to; --module keeps those of a program
! Try 'coretap wcet --help'.
[2]
$ coretap export --from 3ms examples/quickstart 2>&1 | head -1
| coretap export: --from cannot be applied here: perf.data has the trace as it was recorded, which is not cut; 'coretap decode' prints a part of it
