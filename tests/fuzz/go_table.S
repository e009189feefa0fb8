/* SPDX-License-Identifier: Apache-2.0 */
/* A program with the table of functions and lines of Go 1.20, for seeds of the fuzz targets. */
    .text
    .globl main
main:
    nop
    ret
add:
    ret
end:

    .section .gopclntab, "a"
table:
    .long 0xfffffff1
    .byte 0, 0, 4, 8
    .quad 2, 1, main, names - table, units - table, files - table, values - table, records - table
names:
    .asciz "main.main"
name_of_add:
    .asciz "main.add"
    .balign 4
units:
    .long 0
files:
    .asciz "/go/main.go"
values:
lines_of_main:
    .byte 22, 1, 4, 1, 0
line_of_add:
    .byte 16, 1, 0
file_of_all:
    .byte 2, 2, 0
    .balign 4
records:
    .long 0, of_main - records, add - main, of_add - records, end - main
of_main:
    .long 0, 0, 0, 0, 0, file_of_all - values, lines_of_main - values, 0, 0, 0, 0
of_add:
    .long add - main, name_of_add - names, 0, 0, 0, file_of_all - values, line_of_add - values, 0, 0, 0, 0
