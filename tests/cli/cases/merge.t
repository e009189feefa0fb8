Two ITM sources, each in a buffer of its own, with global timestamps. Port 0 of the first writes "hey\n" and "!", of the
second "do\n", its port 1 "?".

$ mkdir $T/two; printf '[snapshot]\nversion=1.0\n[device_list]\nd0=itm0.ini\nd1=itm1.ini\n[trace]\nmetadata=trace.ini\n' > $T/two/snapshot.ini
$ for i in 0 1; do printf '[device]\nname=ITM_%s\nclass=trace_source\ntype=ITM\n[regs]\nITMTCR(0x3a0)=0x2%s0001\n' $i $i > $T/two/itm$i.ini; done
$ printf '[trace_buffers]\nbuffers=b0,b1\n[b0]\nname=port0\nfile=0.bin\nformat=source_data\n[b1]\nname=port1\nfile=1.bin\nformat=source_data\n[source_buffers]\nITM_0=port0\nITM_1=port1\n' > $T/two/trace.ini
$ printf '\0\0\0\0\0\200\001h\001e\224\012\264\200\200\200\0\001y\001\012\224\036\001!\224\050' > $T/two/0.bin
$ printf '\0\0\0\0\0\200\001d\224\017\264\200\200\200\0\011?\001o\001\012\224\024' > $T/two/1.bin

The single writes, in the order of their timestamps.

$ coretap decode --quiet --merge --format csv $T/two | grep Sw
| 10,"port0",00,6,Sw,0,0x68,"port 0"
| 10,"port0",00,8,Sw,0,0x65,"port 0"
| 15,"port1",00,6,Sw,0,0x64,"port 0"
| 20,"port1",00,15,Sw,0,0x3f,"port 1"
| 20,"port1",00,17,Sw,0,0x6f,"port 0"
| 20,"port1",00,19,Sw,0,0xa,"port 0"
| 30,"port0",00,17,Sw,0,0x79,"port 0"
| 30,"port0",00,19,Sw,0,0xa,"port 0"
| 40,"port0",00,23,Sw,0,0x21,"port 0"

A line of text has the time of the write that ends it; one that is never ended comes with the end of its source.

$ coretap decode --quiet --merge --text-ports --format csv $T/two
| time,buffer,id,offset,type,cycle,value,note
| 10,"port0",00,12,Ts,0,0xa,
| 15,"port1",00,10,Ts,0,0xf,
| 20,"port1",00,19,Txt,0,0x0,"do"
| 20,"port1",00,21,Ts,0,0x14,
| 20,"port1",00,15,Txt,0,0x1,"?"
| 20,"port1",00,21,End,0,,"end of trace"
| 30,"port0",00,19,Txt,0,0x0,"hey"
| 30,"port0",00,21,Ts,0,0x1e,
| 40,"port0",00,25,Ts,0,0x28,
| 40,"port0",00,23,Txt,0,0x0,"!"
| 40,"port0",00,25,End,0,,"end of trace"
$ coretap decode --quiet --merge --text-ports $T/two | grep Txt
| 20	00	Txt	0	0x0	do
| 20	00	Txt	0	0x1	?
| 30	00	Txt	0	0x0	hey
| 40	00	Txt	0	0x0	!
$ coretap decode --quiet --merge --text-ports --format jsonl $T/two | grep Txt
| {"time":"20","buffer":"port1","id":"00","offset":19,"type":"Txt","cycle":0,"value":"0x0","note":"do"}
| {"time":"20","buffer":"port1","id":"00","offset":15,"type":"Txt","cycle":0,"value":"0x1","note":"?"}
| {"time":"30","buffer":"port0","id":"00","offset":19,"type":"Txt","cycle":0,"value":"0x0","note":"hey"}
| {"time":"40","buffer":"port0","id":"00","offset":23,"type":"Txt","cycle":0,"value":"0x0","note":"!"}
