$ coretap info examples/quickstart
| examples/quickstart: snapshot, 1 trace buffer
|
| buffer ETB_0: examples/quickstart/trace.bin, 3488 bytes, framing frames
|   frames                     218
|   padding bytes              4
|
|   ID 10: ETM_0, ETMv4.0 (etmv4i), traces cpu_0 (Cortex-A53)
|     addresses                64 bits
|     branch broadcast         off
|     return stack             on: returns to where a call came from carry no address
|     context ID               32 bits
|     virtual context ID       off
|     cycle counts             on: counter of 12 bits; a count commits everything before it (COMMOPT)
|     timestamps               on: 64 bits
|     speculation              none: what is traced was executed
|     loads and stores         off
|     conditional instructions off
|     Q elements               off
|     data trace               off
|     WFI and WFE              no waypoints
|     trace                    802 bytes
|     decoded                  389 packets, 406 elements, 544 atoms
|     instructions             939, 316 of them branches that were taken
|     trace per instruction    0.854 bytes, 6.83 bits
|     losses                   none
|     packets
|       i_atom_f3                     127   32.6 %
|       i_ccnt_f1                     107   27.5 %
|       i_atom_f2                      36    9.3 %
|       i_atom_f1                      35    9.0 %
|       i_addr_s_is0                   21    5.4 %
|       i_addr_ctxt_l_64is0            19    4.9 %
|       i_atom_f6                      14    3.6 %
|       i_timestamp                     9    2.3 %
|       i_except                        9    2.3 %
|       i_except_rtn                    9    2.3 %
|       i_async                         1    0.3 %
|       i_trace_info                    1    0.3 %
|       i_trace_on                      1    0.3 %
|
|   ID 11: ETE_1, ETEv1.0 (ete), traces cpu_1 (ARMv9.0-A)
|     addresses                64 bits
|     branch broadcast         off
|     return stack             off
|     context ID               32 bits
|     virtual context ID       off
|     cycle counts             off
|     timestamps               on: 64 bits
|     speculation              none: what is traced was executed
|     loads and stores         off
|     conditional instructions off
|     Q elements               off
|     data trace               off
|     WFI and WFE              no waypoints
|     trace                    2361 bytes
|     decoded                  1128 packets, 1162 elements, 2179 atoms
|     instructions             3671, 1243 of them branches that were taken
|     trace per instruction    0.643 bytes, 5.15 bits
|     losses                   none
|     packets
|       i_atom_f3                     641   56.8 %
|       i_addr_s_is0                  193   17.1 %
|       i_atom_f1                      88    7.8 %
|       i_atom_f2                      84    7.4 %
|       i_addr_ctxt_l_64is0            71    6.3 %
|       i_except                       33    2.9 %
|       i_timestamp                     7    0.6 %
|       i_async                         5    0.4 %
|       i_trace_info                    5    0.4 %
|       i_trace_on                      1    0.1 %
|
|   images
|     examples/quickstart/firmware.bin at 0x80000, 1536 bytes
|
| losses: none
$ coretap info --id 11 --format json examples/quickstart
| {
|   "capture": "examples/quickstart",
|   "kind": "snapshot",
|   "missing": [],
|   "buffers": [
|     {
|       "name": "ETB_0",
|       "path": "examples/quickstart/trace.bin",
|       "bytes": 3488,
|       "framing": "frames",
|       "frames": {
|         "frames": 218,
|         "fsyncs": 0,
|         "hsyncs": 0,
|         "resets": 0,
|         "footer_bytes": 0,
|         "null_bytes": 4,
|         "trigger_bytes": 0,
|         "reserved_bytes": 0,
|         "no_id_bytes": 0,
|         "lost_bytes": 0,
|         "id_bytes": {
|           "00": 4,
|           "10": 802,
|           "11": 2361
|         }
|       },
|       "sources": [
|         {
|           "name": "ETM_0",
|           "id": "10",
|           "protocol": "etmv4i",
|           "version": "ETMv4.0",
|           "core": "cpu_0",
|           "model": "Cortex-A53",
|           "configuration": {
|             "addresses": "64 bits",
|             "branch broadcast": "off",
|             "return stack": "on: returns to where a call came from carry no address",
|             "context ID": "32 bits",
|             "virtual context ID": "off",
|             "cycle counts": "on: counter of 12 bits; a count commits everything before it (COMMOPT)",
|             "timestamps": "on: 64 bits",
|             "speculation": "none: what is traced was executed",
|             "loads and stores": "off",
|             "conditional instructions": "off",
|             "Q elements": "off",
|             "data trace": "off",
|             "WFI and WFE": "no waypoints"
|           },
|           "bytes": 802,
|           "decoded": false
|         },
|         {
|           "name": "ETE_1",
|           "id": "11",
|           "protocol": "ete",
|           "version": "ETEv1.0",
|           "core": "cpu_1",
|           "model": "ARMv9.0-A",
|           "configuration": {
|             "addresses": "64 bits",
|             "branch broadcast": "off",
|             "return stack": "off",
|             "context ID": "32 bits",
|             "virtual context ID": "off",
|             "cycle counts": "off",
|             "timestamps": "on: 64 bits",
|             "speculation": "none: what is traced was executed",
|             "loads and stores": "off",
|             "conditional instructions": "off",
|             "Q elements": "off",
|             "data trace": "off",
|             "WFI and WFE": "no waypoints"
|           },
|           "bytes": 2361,
|           "decoded": true,
|           "packets": 1128,
|           "elements": 1162,
|           "atoms": 2179,
|           "instructions": 3671,
|           "branches": 1243,
|           "bytes_per_instruction": 0.643149,
|           "gaps": 0,
|           "overflows": 0,
|           "contradictions": 0,
|           "bad_packets": 0,
|           "lost_bytes": 0,
|           "no_access": 0,
|           "packet_types": {
|             "i_async": 5,
|             "i_trace_info": 5,
|             "i_trace_on": 1,
|             "i_timestamp": 7,
|             "i_addr_s_is0": 193,
|             "i_addr_ctxt_l_64is0": 71,
|             "i_atom_f1": 88,
|             "i_atom_f2": 84,
|             "i_atom_f3": 641,
|             "i_except": 33
|           }
|         }
|       ],
|       "images": [
|         {
|           "path": "examples/quickstart/firmware.bin",
|           "address": 524288,
|           "offset": 0,
|           "size": 1536,
|           "space": 255,
|           "elf": false
|         }
|       ]
|     }
|   ],
|   "losses": {
|     "gaps": 0,
|     "overflows": 0,
|     "contradictions": 0,
|     "bad_packets": 0,
|     "lost_bytes": 0,
|     "no_access": 0
|   }
| }

Code that changed while it ran: states of memory, in text and in JSON. The sources are those of before.
$ cp -r examples/quickstart $T/states; printf '%s\n' '[coretap.image0]' file=firmware.bin address=0x100000 length=8 '[coretap.image1]' file=firmware.bin address=0x100000 offset=8 length=8 '[coretap.state0]' image=0 '[coretap.state1]' image=1 '[coretap.piece0]' buffer=ETB_0 from=1600 state=1 >> $T/states/trace.ini
$ coretap info $T/states | grep -e memory -e traces
| memory changes: 2 states in 2 pieces of trace
|   ID 10: ETM_0, ETMv4.0 (etmv4i), traces cpu_0 (Cortex-A53)
|   ID 11: ETE_1, ETEv1.0 (ete), traces cpu_1 (ARMv9.0-A)
$ coretap info --format json $T/states | sed -n '/memory_states/,/^  ]/p' | tr -d ' \n'
| "memory_states":[{"images":[{"path":"$T/states/firmware.bin","address":1048576,"offset":0,"size":8,"space":255,"elf":false}]},{"images":[{"path":"$T/states/firmware.bin","address":1048576,"offset":8,"size":8,"space":255,"elf":false}]}],
