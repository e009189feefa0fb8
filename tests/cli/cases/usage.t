# The command by itself.
$ coretap --version
| coretap 0.1.0
$ coretap --help
| Usage: coretap COMMAND [OPTION]... CAPTURE
|        coretap --help | --version
|
| Decodes and analyses the trace that Arm processors emit about themselves.
|
| Commands:
|   info       what a capture holds: sources, their configuration in words, and how much each traced
|   list       list packets or elements, one line each
|   decode     print the trace as events with a running cycle count
|   stats      how much trace there is, what it says, and how fast it was decoded
|   export     write a capture in the format of another program
|   record     run an Arm program and write the trace of what it did
|   graph      print the control flow of a program
|   watch      print an event each time execution comes by a watchpoint
|   timing     print how long edges, functions and ways between watchpoints take
|   wcet       bound the time that a function can take
|   cover      which functions, lines, instructions and branches ran
|   merge      add up coverage files
|   profile    profiles for compilers, flame graphs and viewers
|   report     all that is known of a capture, as one page
|   monitor    check specifications along a trace
|   spec       write a specification of measured times
|   live       analyse trace while it comes, and show it on a page
|   ctl        ask a live run, and exchange what it watches and checks
|   tessla     run a TeSSLa specification on a textual trace
|   fractal    memory accesses of one process, seen from the coherent interconnect
|
| 'coretap COMMAND --help' says more about each.
$ coretap
! Usage: coretap COMMAND [OPTION]... CAPTURE
!        coretap --help | --version
!
! Decodes and analyses the trace that Arm processors emit about themselves.
!
! Commands:
!   info       what a capture holds: sources, their configuration in words, and how much each traced
!   list       list packets or elements, one line each
!   decode     print the trace as events with a running cycle count
!   stats      how much trace there is, what it says, and how fast it was decoded
!   export     write a capture in the format of another program
!   record     run an Arm program and write the trace of what it did
!   graph      print the control flow of a program
!   watch      print an event each time execution comes by a watchpoint
!   timing     print how long edges, functions and ways between watchpoints take
!   wcet       bound the time that a function can take
!   cover      which functions, lines, instructions and branches ran
!   merge      add up coverage files
!   profile    profiles for compilers, flame graphs and viewers
!   report     all that is known of a capture, as one page
!   monitor    check specifications along a trace
!   spec       write a specification of measured times
!   live       analyse trace while it comes, and show it on a page
!   ctl        ask a live run, and exchange what it watches and checks
!   tessla     run a TeSSLa specification on a textual trace
!   fractal    memory accesses of one process, seen from the coherent interconnect
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

# Output that cannot be written.
$ coretap --version >/dev/full
! coretap: standard output: No space left on device; what was printed is not complete
[2]
$ coretap --version >&-
! coretap: standard output is closed: there is nowhere to print to; redirect it to a file or /dev/null
[2]
