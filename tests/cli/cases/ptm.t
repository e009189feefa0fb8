A raw trace of a Cortex-A15 with branch broadcast and cycle counts, no image: a return to non-secure state, an IRQ, trigger,
timestamp, VMID, the return from it, an exception into Hyp mode, a branch to T32.

$ printf '[capture]\nfile=p.bin\nframing=none\n[source ptm]\nprotocol=ptm\nid=0x10\ncore=Cortex-A15\nETMCR=0x10001100\nETMIDR=0x411cf312\nETMCCER=0x34c01ac2\n' > $T/p.ini
$ printf '\0\0\0\0\0\200\010\0\200\0\0\041\204\166\201\100\001\004\201\100\035\004\014\102\005\004\074\001\166\201\100\203\041\010\203\200\200\200\030\004' > $T/p.bin
$ coretap list --packets --id 00 $T/p.ini
| 0 00 000000000080 async
| 6 00 08008000002184 isync reason=trace_enable addr=8000 isa=a32 sec=s cc=1
| 13 00 76 eret
| 14 00 81400104 branch_address addr=8000 sec=ns exc=0 cc=1
| 18 00 81401d04 branch_address addr=8000 sec=ns exc=e cc=1
| 22 00 0c trigger
| 23 00 420504 timestamp ts=5 cc=1
| 26 00 3c01 vmid vmid=1
| 28 00 76 eret
| 29 00 8140832108 branch_address addr=8000 sec=ns hyp=1 exc=11 cc=2
| 34 00 838080801804 branch_address addr=80000002 isa=t32 cc=1
$ coretap decode $T/p.ini
| type	cycle	value	note
| # buffer trace
| # id 00
| On	1		filter
| Ctx	1		s 32-bit
| Go	1	0x8000
| Ret	1
| Ctx	2		ns 32-bit
| Br	2	0x8000
| Exc	4	0xe	IRQ
| Go	4	0x8000
| Evt	4		trigger
| Ts	4	0x5
| Ctx	4		ns 32-bit vmid=0x1
| Ret	4
| Exc	6	0x11	exception 0x11
| Ctx	6		Hyp ns 32-bit vmid=0x1
| Go	6	0x8000
| Br	7	0x80000002
| End	7		end of trace
