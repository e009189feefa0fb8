# Seconds are never the same twice.
$ coretap stats examples/quickstart | grep -v '^seconds=\|^mb_per_s='
| bytes=3488
| packets=1517
| elements=1568
| atoms=2723
| branches=1559
| instructions=4610
| gaps=0
| overflows=0
| contradictions=0
| bad_packets=0
| lost_bytes=0
| no_access=0
$ coretap stats --threads 4 examples/quickstart | grep -v '^seconds=\|^mb_per_s='
| bytes=3488
| packets=1517
| elements=1568
| atoms=2723
| branches=1559
| instructions=4610
| gaps=0
| overflows=0
| contradictions=0
| bad_packets=0
| lost_bytes=0
| no_access=0
$ coretap stats --level frame examples/quickstart | grep -v '^seconds=\|^mb_per_s='
| bytes=3488
| lost_bytes=0
$ coretap stats --level packet examples/quickstart | grep -v '^seconds=\|^mb_per_s='
| bytes=3488
| packets=1517
| gaps=0
| overflows=0
| bad_packets=0
| lost_bytes=0
$ coretap stats --level element --id 10 examples/quickstart | grep -v '^seconds=\|^mb_per_s='
| bytes=3488
| packets=389
| elements=406
| atoms=544
| gaps=0
| overflows=0
| bad_packets=0
| lost_bytes=0
$ coretap stats examples/quickstart | cut -d= -f1 | tail -2
| seconds
| mb_per_s

# The trace from standard input.
$ coretap stats --config examples/quickstart - <examples/quickstart/trace.bin | head -1
| bytes=3488
$ coretap stats --config examples/quickstart --threads 2 - <examples/quickstart/trace.bin | head -4
| bytes=3488
| packets=1517
| elements=1568
| atoms=2723

# Edges of the program, by either engine.
$ coretap stats --level coverage examples/quickstart | grep -v '^seconds=\|^mb_per_s='
| bytes=3488
| packets=1517
| elements=1568
| atoms=2723
| branches=1559
| instructions=4610
| edges=99
| steps=2753
| gaps=0
| overflows=0
| contradictions=0
| bad_packets=0
| lost_bytes=0
| no_access=0
$ coretap stats --level timing --engine fast examples/quickstart | grep -v '^seconds=\|^mb_per_s='
| bytes=3488
| packets=1517
| elements=1568
| atoms=2723
| branches=1559
| instructions=4610
| edges=99
| steps=2753
| cycles=1897
| unplaced_cycles=0
| gaps=0
| overflows=0
| contradictions=0
| bad_packets=0
| lost_bytes=0
| no_access=0
$ coretap stats --level timing --engine plain examples/quickstart | grep -v '^seconds=\|^mb_per_s='
| bytes=3488
| packets=1517
| elements=1568
| atoms=2723
| branches=1559
| instructions=4610
| edges=99
| steps=2753
| cycles=1897
| unplaced_cycles=0
| gaps=0
| overflows=0
| contradictions=0
| bad_packets=0
| lost_bytes=0
| no_access=0
$ coretap stats --level timing --to 500insn --core cpu_0 examples/quickstart | grep -v '^seconds=\|^mb_per_s='
| bytes=3488
| instructions=500
| edges=38
| steps=293
| cycles=1018
| unplaced_cycles=0
| gaps=0
| overflows=0
| contradictions=0
| bad_packets=0
| lost_bytes=0
| no_access=0
$ coretap stats --level timing --from 500insn --core cpu_0 examples/quickstart | grep -v '^seconds=\|^mb_per_s='
| bytes=3488
| instructions=439
| edges=36
| steps=258
| cycles=879
| unplaced_cycles=0
| gaps=0
| overflows=0
| contradictions=0
| bad_packets=0
| lost_bytes=0
| no_access=0
$ coretap stats --core cpu_0 examples/quickstart | grep -v '^seconds=\|^mb_per_s='
| bytes=3488
| packets=389
| elements=406
| atoms=544
| branches=316
| instructions=939
| gaps=0
| overflows=0
| contradictions=0
| bad_packets=0
| lost_bytes=0
| no_access=0
$ coretap stats --level timing --to 500insn --engine plain examples/quickstart
! coretap stats: --engine cannot be used for a part of a capture, which only the fast engine can follow; leave --engine out
! Try 'coretap stats --help'.
[2]
$ coretap merge -q --kind statistics examples/quickstart > $T/one && coretap stats $T/one
| atoms=2723
| branches=1559
| bytes=3163
| elements=1568
| instructions=4610
| packets=1517
| ranges=2753
| streams=2
| gaps=0
| overflows=0
| contradictions=0
| bad_packets=0
| lost_bytes=0
| no_access=0
$ coretap merge -q --kind events examples/quickstart > $T/two && coretap stats $T/two | head -3
| branch=1559
| context=88
| end=2
$ coretap stats --level timing $T/one
! coretap stats: --level works only with one capture, because only sums are printed for several and for saved files; leave it out, or name one capture
! Try 'coretap stats --help'.
[2]
