$ coretap list --packets --id 10 examples/quickstart | head -40
| 1 10 000000000000000000000080 i_async
| 19 10 01090110 i_trace_info info=1 ccthr=16 first=1
| 23 10 04 i_trace_on
| 35 10 854002080000000000b02a000000 i_addr_ctxt_l_64is0 addr=80500 sf=64 el=0 sec=ns ctxt=2a
| 50 10 db i_atom_f2 atoms=EE
| 51 10 954f i_addr_s_is0 addr=8053c
| 53 10 f6 i_atom_f1 atoms=N
| 55 10 0e00 i_ccnt_f1 cc=16
| 72 10 fa i_atom_f3 atoms=NEN
| 73 10 fa i_atom_f3 atoms=NEN
| 74 10 0e00 i_ccnt_f1 cc=16
| 76 10 fa i_atom_f3 atoms=NEN
| 77 10 fe i_atom_f3 atoms=NEE
| 78 10 0e03 i_ccnt_f1 cc=19
| 81 10 ff i_atom_f3 atoms=EEE
| 82 10 f6 i_atom_f1 atoms=N
| 83 10 0e01 i_ccnt_f1 cc=17
| 85 10 fb i_atom_f3 atoms=EEN
| 86 10 db i_atom_f2 atoms=EE
| 87 10 0e03 i_ccnt_f1 cc=19
| 89 10 fc i_atom_f3 atoms=NNE
| 90 10 fc i_atom_f3 atoms=NNE
| 91 10 0e00 i_ccnt_f1 cc=16
| 93 10 fb i_atom_f3 atoms=EEN
| 94 10 0605 i_except exc=2 ea=1
| 97 10 9564 i_addr_s_is0 addr=80590
| 120 10 850002080000000000b12a000000 i_addr_ctxt_l_64is0 addr=80400 sf=64 el=1 sec=ns ctxt=2a
| 141 10 f7 i_atom_f1 atoms=E
| 142 10 0e02 i_ccnt_f1 cc=18
| 145 10 f7 i_atom_f1 atoms=E
| 146 10 07 i_except_rtn
| 147 10 856402080000000000b02a000000 i_addr_ctxt_l_64is0 addr=80590 sf=64 el=0 sec=ns ctxt=2a
| 173 10 fb i_atom_f3 atoms=EEN
| 174 10 0e04 i_ccnt_f1 cc=20
| 177 10 f7 i_atom_f1 atoms=E
| 178 10 9557 i_addr_s_is0 addr=8055c
| 180 10 fe i_atom_f3 atoms=NEE
| 181 10 0e00 i_ccnt_f1 cc=16
| 183 10 fc i_atom_f3 atoms=NNE
| 184 10 fe i_atom_f3 atoms=NEE
$ coretap list --packets --id 11 examples/quickstart | tail -20
| 3399 11 fa i_atom_f3 atoms=NEN
| 3400 11 db i_atom_f2 atoms=EE
| 3401 11 061d i_except exc=e ea=1
| 3403 11 9558 i_addr_s_is0 addr=80560
| 3405 11 852002080000000000b12a000000 i_addr_ctxt_l_64is0 addr=80480 sf=64 el=1 sec=ns ctxt=2a
| 3420 11 fd i_atom_f3 atoms=ENE
| 3421 11 855802080000000000b02a000000 i_addr_ctxt_l_64is0 addr=80560 sf=64 el=0 sec=ns ctxt=2a
| 3436 11 fe i_atom_f3 atoms=NEE
| 3437 11 fc i_atom_f3 atoms=NNE
| 3438 11 fc i_atom_f3 atoms=NNE
| 3440 11 db i_atom_f2 atoms=EE
| 3441 11 9562 i_addr_s_is0 addr=80588
| 3443 11 db i_atom_f2 atoms=EE
| 3444 11 954b i_addr_s_is0 addr=8052c
| 3446 11 f6 i_atom_f1 atoms=N
| 3447 11 0605 i_except exc=2 ea=1
| 3449 11 954e i_addr_s_is0 addr=80538
| 3451 11 850002080000000000b12a000000 i_addr_ctxt_l_64is0 addr=80400 sf=64 el=1 sec=ns ctxt=2a
| 3466 11 db i_atom_f2 atoms=EE
| 3467 11 854e02080000000000b02a000000 i_addr_ctxt_l_64is0 addr=80538 sf=64 el=0 sec=ns ctxt=2a
$ coretap list --elements --id 10 examples/quickstart | head -60
| 1 10 no_sync reason=init_decoder
| 23 10 trace_on reason=begin_or_filter
| 35 10 pe_context isa=a64 el=0 sec=ns bits=64 ctxt=2a
| 50 10 instr_range start=80500 end=8051c n=7 last_sz=4 isa=a64 exec=E type=br sub=none cond=1
| 50 10 instr_range start=80520 end=80524 n=1 last_sz=4 isa=a64 exec=E type=ibr sub=link cond=0
| 53 10 instr_range start=8053c end=80544 n=2 last_sz=4 isa=a64 exec=N type=br sub=none cond=1
| 55 10 cycle_count cc=16
| 72 10 instr_range start=80544 end=80548 n=1 last_sz=4 isa=a64 exec=N type=br sub=none cond=1
| 72 10 instr_range start=80548 end=80550 n=2 last_sz=4 isa=a64 exec=E type=br sub=none cond=0
| 72 10 instr_range start=8053c end=80544 n=2 last_sz=4 isa=a64 exec=N type=br sub=none cond=1
| 73 10 instr_range start=80544 end=80548 n=1 last_sz=4 isa=a64 exec=N type=br sub=none cond=1
| 73 10 instr_range start=80548 end=80550 n=2 last_sz=4 isa=a64 exec=E type=br sub=none cond=0
| 73 10 instr_range start=8053c end=80544 n=2 last_sz=4 isa=a64 exec=N type=br sub=none cond=1
| 74 10 cycle_count cc=16
| 76 10 instr_range start=80544 end=80548 n=1 last_sz=4 isa=a64 exec=N type=br sub=none cond=1
| 76 10 instr_range start=80548 end=80550 n=2 last_sz=4 isa=a64 exec=E type=br sub=none cond=0
| 76 10 instr_range start=8053c end=80544 n=2 last_sz=4 isa=a64 exec=N type=br sub=none cond=1
| 77 10 instr_range start=80544 end=80548 n=1 last_sz=4 isa=a64 exec=N type=br sub=none cond=1
| 77 10 instr_range start=80548 end=80550 n=2 last_sz=4 isa=a64 exec=E type=br sub=none cond=0
| 77 10 instr_range start=8053c end=80544 n=2 last_sz=4 isa=a64 exec=E type=br sub=none cond=1
| 78 10 cycle_count cc=19
| 81 10 instr_range start=80558 end=8055c n=1 last_sz=4 isa=a64 exec=E type=ibr sub=ret cond=0
| 81 10 instr_range start=80524 end=8052c n=2 last_sz=4 isa=a64 exec=E type=br sub=link cond=0
| 81 10 instr_range start=8057c end=80588 n=3 last_sz=4 isa=a64 exec=E type=br sub=link cond=0
| 82 10 instr_range start=8055c end=80564 n=2 last_sz=4 isa=a64 exec=N type=br sub=none cond=1
| 83 10 cycle_count cc=17
| 85 10 instr_range start=80564 end=80568 n=1 last_sz=4 isa=a64 exec=E type=br sub=none cond=1
| 85 10 instr_range start=8056c end=80574 n=2 last_sz=4 isa=a64 exec=E type=br sub=none cond=0
| 85 10 instr_range start=80560 end=80564 n=1 last_sz=4 isa=a64 exec=N type=br sub=none cond=1
| 86 10 instr_range start=80564 end=80568 n=1 last_sz=4 isa=a64 exec=E type=br sub=none cond=1
| 86 10 instr_range start=8056c end=80574 n=2 last_sz=4 isa=a64 exec=E type=br sub=none cond=0
| 87 10 cycle_count cc=19
| 89 10 instr_range start=80560 end=80564 n=1 last_sz=4 isa=a64 exec=N type=br sub=none cond=1
| 89 10 instr_range start=80564 end=80568 n=1 last_sz=4 isa=a64 exec=N type=br sub=none cond=1
| 89 10 instr_range start=80568 end=80574 n=3 last_sz=4 isa=a64 exec=E type=br sub=none cond=0
| 90 10 instr_range start=80560 end=80564 n=1 last_sz=4 isa=a64 exec=N type=br sub=none cond=1
| 90 10 instr_range start=80564 end=80568 n=1 last_sz=4 isa=a64 exec=N type=br sub=none cond=1
| 90 10 instr_range start=80568 end=80574 n=3 last_sz=4 isa=a64 exec=E type=br sub=none cond=0
| 91 10 cycle_count cc=16
| 93 10 instr_range start=80560 end=80564 n=1 last_sz=4 isa=a64 exec=E type=br sub=none cond=1
| 93 10 instr_range start=80574 end=8057c n=2 last_sz=4 isa=a64 exec=E type=ibr sub=ret cond=0
| 93 10 instr_range start=80588 end=8058c n=1 last_sz=4 isa=a64 exec=N type=br sub=none cond=1
| 94 10 instr_range start=8058c end=80590 n=1 last_sz=4 isa=a64 exec=E type=other sub=none cond=0
| 94 10 exception exc=2 ret=80590
| 120 10 pe_context isa=a64 el=1 sec=ns bits=64 ctxt=2a
| 141 10 instr_range start=80400 end=80404 n=1 last_sz=4 isa=a64 exec=E type=br sub=none cond=0
| 142 10 cycle_count cc=18
| 145 10 instr_range start=80598 end=805a0 n=2 last_sz=4 isa=a64 exec=E type=ibr sub=eret cond=0
| 146 10 exception_ret
| 147 10 pe_context isa=a64 el=0 sec=ns bits=64 ctxt=2a
| 173 10 instr_range start=80590 end=80598 n=2 last_sz=4 isa=a64 exec=E type=ibr sub=ret cond=0
| 173 10 instr_range start=8052c end=80534 n=2 last_sz=4 isa=a64 exec=E type=br sub=none cond=1
| 173 10 instr_range start=80508 end=8051c n=5 last_sz=4 isa=a64 exec=N type=br sub=none cond=1
| 174 10 cycle_count cc=20
| 177 10 instr_range start=8051c end=80524 n=2 last_sz=4 isa=a64 exec=E type=ibr sub=link cond=0
| 180 10 instr_range start=8055c end=80564 n=2 last_sz=4 isa=a64 exec=N type=br sub=none cond=1
| 180 10 instr_range start=80564 end=80568 n=1 last_sz=4 isa=a64 exec=E type=br sub=none cond=1
| 180 10 instr_range start=8056c end=80574 n=2 last_sz=4 isa=a64 exec=E type=br sub=none cond=0
| 181 10 cycle_count cc=16
| 183 10 instr_range start=80560 end=80564 n=1 last_sz=4 isa=a64 exec=N type=br sub=none cond=1
$ coretap list --elements examples/quickstart | cut -d' ' -f2,3 | sort | uniq -c
|     107 10 cycle_count
|       1 10 eo_trace
|       9 10 exception
|       8 10 exception_ret
|     551 10 instr_range
|       1 10 no_sync
|      18 10 pe_context
|       9 10 timestamp
|       1 10 trace_on
|       1 11 eo_trace
|      33 11 exception
|      33 11 exception_ret
|    2202 11 instr_range
|       1 11 no_sync
|      70 11 pe_context
|       7 11 timestamp
|       1 11 trace_on
|       1 buffer ETB_0
|       1 id 10
|       1 id 11
$ coretap list examples/quickstart
! coretap list: --packets or --elements is needed, but not both; give one of them
! Try 'coretap list --help'.
[2]

# Threads print the same.
$ coretap list --elements --threads 3 examples/quickstart | cut -d' ' -f2,3 | sort | uniq -c | head -3
|     107 10 cycle_count
|       1 10 eo_trace
|       9 10 exception
$ for t in 1 4; do coretap list --packets --threads $t examples/quickstart | cksum; done | uniq | wc -l
| 1
$ for t in 1 4; do coretap list --elements --threads $t examples/quickstart | cksum; done | uniq | wc -l
| 1
$ for t in 1 4; do coretap decode --threads $t examples/quickstart | cksum; done | uniq | wc -l
| 1
$ coretap list --packets --core cpu_1 examples/quickstart | head -2
| # buffer ETB_0
| # id 11

Lines of code, of memory that is in no ELF file, stand below the others, which stay.
needs capstone
$ coretap list --elements --symbols --disasm --id 10 examples/quickstart | sed -n 4,7p
| 50 10 instr_range start=80500 end=8051c n=7 last_sz=4 isa=a64 exec=E type=br sub=none cond=1
| 	80500	firmware.bin+0x500		nop
| 	80504	firmware.bin+0x504		movz    x20, #0
| 	80508	firmware.bin+0x508		add     x0, x19, x19
$ coretap list --elements --symbols --id 10 examples/quickstart | sed -n 4,6p
| 50 10 instr_range start=80500 end=8051c n=7 last_sz=4 isa=a64 exec=E type=br sub=none cond=1
| 	80500	firmware.bin+0x500
| 50 10 instr_range start=80520 end=80524 n=1 last_sz=4 isa=a64 exec=E type=ibr sub=link cond=0
$ coretap list --elements --symbols --disasm examples/quickstart | grep -v '^	' | cksum
| 2610906348 271588
$ coretap list --elements examples/quickstart | cksum
| 2610906348 271588
$ coretap list --packets --symbols examples/quickstart
! coretap list: --symbols works only with --elements, because packets are listed without the program; use --elements, or leave it out
! Try 'coretap list --help'.
[2]
$ coretap list --packets --disasm examples/quickstart
! coretap list: --disasm works only with --elements, because packets are listed without the program; use --elements, or leave it out
! Try 'coretap list --help'.
[2]
$ coretap list --packets --elf /bin/true examples/quickstart
! coretap list: --elf works only with --elements, because packets are listed without the program; use --elements, or leave it out
! Try 'coretap list --help'.
[2]

JSON: one object a line, with its code.
needs capstone
$ coretap list -e -f jsonl --symbols --disasm --id 10 examples/quickstart | sed -n 3,5p
| {"offset":35,"buffer":"ETB_0","id":"10","kind":"pe_context","isa":"a64","el":0,"sec":"ns","bits":64,"ctxt":"2a"}
| {"offset":50,"buffer":"ETB_0","id":"10","kind":"instr_range","start":"80500","end":"8051c","n":7,"last_sz":4,"isa":"a64","exec":"E","type":"br","sub":"none","cond":"1","code":[{"addr":"80500","name":"firmware.bin+0x500","instruction":"nop"},{"addr":"80504","name":"firmware.bin+0x504","instruction":"movz    x20, #0"},{"addr":"80508","name":"firmware.bin+0x508","instruction":"add     x0, x19, x19"},{"addr":"8050c","name":"firmware.bin+0x50c","instruction":"add     x0, x0, #0x24"},{"addr":"80510","name":"firmware.bin+0x510","instruction":"movz    x1, #0xc"},{"addr":"80514","name":"firmware.bin+0x514","instruction":"adr     x9, #0x8053c"},{"addr":"80518","name":"firmware.bin+0x518","instruction":"tbz     w19, #0, #0x80520"}]}
| {"offset":50,"buffer":"ETB_0","id":"10","kind":"instr_range","start":"80520","end":"80524","n":1,"last_sz":4,"isa":"a64","exec":"E","type":"ibr","sub":"link","cond":"0","code":[{"addr":"80520","name":"firmware.bin+0x520","instruction":"blr     x9"}]}
$ coretap list -p -f jsonl --id 10 examples/quickstart | sed -n 2,3p
| {"offset":19,"buffer":"ETB_0","id":"10","bytes":"01090110","type":"i_trace_info","info":"1","ccthr":16,"first":"1"}
| {"offset":23,"buffer":"ETB_0","id":"10","bytes":"04","type":"i_trace_on"}
$ for f in text jsonl; do coretap list -e -f $f examples/quickstart | grep -vc '^#'; done
| 3053
| 3053

Q packets: with a count, without one, with the address before, with a new one (IHI 0064H 6.4.15).
$ printf '[capture]\nfile = q.bin\nframing = none\n[source etm]\nprotocol = etmv4i\nTRCCONFIGR = 0x6001\nTRCIDR0 = 0x28018ea1\nTRCIDR1 = 0x4100f402\nTRCIDR2 = 0x488\n' > $T/q.ini
$ printf '\0\0\0\0\0\0\0\0\0\0\0\200\1\0\4\235\100\2\10\0\0\0\0\0\254\5\225\100\257\225\100\240\3\245\21\7\252\100\2\10\0\211\1\246\22\1' > $T/q.bin
$ coretap list -p $T/q.ini | sed -n '/ 9d/,$p'
| 15 00 9d4002080000000000 i_addr_l_64is0 addr=80500
| 24 00 ac05 i_q count=5
| 26 00 9540 i_addr_s_is0 addr=80500
| 28 00 af i_q count=unknown
| 29 00 9540 i_addr_s_is0 addr=80500
| 31 00 a003 i_q count=3 addr=80500 idx=0
| 33 00 a51107 i_q count=7 addr=80444
| 36 00 aa400208008901 i_q count=137 addr=80500
| 43 00 a61201 i_q count=1 addr=80524

A run without synchronisation has its number of bytes alone.
$ printf 'abcdefgh' | coretap list -q -p -f jsonl -c examples/raw/itm.ini -
| {"offset":0,"buffer":"trace","id":"00","type":"itm_notsync","bytes":8}
! coretap: warning: source itm (ID 00): none of its 8 bytes is decoded, because there is no synchronisation packet to begin with; record with these packets (SYNCENA of ITM_TCR, SYNCTAP and CYCCNTENA of DWT_CTRL), or add sync=none to the source in the .ini of a raw trace, to decode from the first byte on
! coretap: -: losses: 8 bytes that could not be used
[1]

Software trace has no instructions.
$ coretap list -e --symbols examples/raw/itm.ini
! coretap list: --symbols needs an instruction trace, but no source of examples/raw/itm.ini traces instructions; leave the option out
! Try 'coretap list --help'.
[2]
$ coretap decode --disasm examples/raw/itm.ini
! coretap decode: --disasm needs an instruction trace, but no source of examples/raw/itm.ini traces instructions; leave the option out
! Try 'coretap decode --help'.
[2]
$ coretap decode --merge --symbols examples/raw/itm.ini
! coretap decode: --symbols needs an instruction trace, but no source of examples/raw/itm.ini traces instructions; leave the option out
! Try 'coretap decode --help'.
[2]
