# Recording: what is wrong with a command line is said before anything runs.
$ coretap record -o x
! coretap record: PROGRAM is missing; name it behind --
! Try 'coretap record --help'.
[2]
$ coretap record -- /bin/true
! coretap record: -o DIR is missing; it names the capture to write
! Try 'coretap record --help'.
[2]
$ coretap record -o x -- /nowhere/program
! coretap: /nowhere/program: cannot be run: No such file or directory; give the path of an Arm Linux program
[2]
$ coretap record -o x -- /etc/passwd
! coretap: /etc/passwd: cannot be run: it is not an ELF program for Arm; give the path of an Arm Linux program
[2]
$ printf '\177ELF\1\2\1' > $T/big-endian; coretap record -o $T/none -- $T/big-endian
! coretap: $T/big-endian: cannot be run: it is a big-endian program; give the path of an Arm Linux program
[2]
$ PYTHONPATH=tests/support python3 -c 'import small_elf, sys; sys.stdout.buffer.write(small_elf.make(bytes(16), 0x1000, [(b"main", 0x1000, 16)]))' >$T/demo; coretap record -o $T/none -- $T/demo
! coretap: $T/demo: cannot be run: Permission denied; make it executable with 'chmod +x'
[2]
# A function of --start or --stop is looked up before the program runs.
$ chmod +x $T/demo; coretap record -o $T/none --start mian -- $T/demo; coretap record -o $T/none --start main --stop 'nowhere()' -- $T/demo
! coretap: 'mian': this is neither a hexadecimal address nor a function of $T/demo; nothing is recorded; correct the name
! coretap: 'nowhere()': this is neither a hexadecimal address nor a function of $T/demo; nothing is recorded; correct the name
[2]
# A file of another format is not given to the shell.
$ echo 'echo from the shell' > $T/machine; chmod +x $T/machine; coretap record --system -o $T/boot -- $T/machine -M virt
! coretap: $T/machine: cannot be run: Exec format error; name the QEMU that emulates the machine, such as qemu-system-aarch64 (Debian: qemu-system-arm), and its arguments
! coretap: $T/machine: ran no instruction, so there is no capture
[2]
$ coretap record -o x --range 10 -- /bin/true
! coretap record: --range: '10' does not have the form LO..HI in hexadecimal
! Try 'coretap record --help'.
[2]
$ coretap record -o x --protocol stm -- /bin/true
! coretap record: --protocol: 'stm' is not one of etm4, ete, ptm; did you mean 'ptm'?
! Try 'coretap record --help'.
[2]
$ coretap record -o x --cycle-count=0 -- /bin/true
! coretap record: --cycle-count: '0' is not a number from 1 to 4095
! Try 'coretap record --help'.
[2]
$ coretap record -o x --padding 4 -- /bin/true
! coretap record: --padding works only with --framed; add that, or leave --padding out
! Try 'coretap record --help'.
[2]
$ coretap record --recrod
! coretap record: unknown option '--recrod'
! Try 'coretap record --help'.
[2]
