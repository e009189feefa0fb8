/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel module for 64-bit or 32-bit Arm: calls in it and out of it, sections that the kernel fills, data.
 * See make-corpus-elf. */
    .section .modinfo,"a"
    .string "name=m"
    .section .plt,"ax"
    .byte 0
    .section .init.plt,"ax"
    .byte 0
    .text
    .global work
    .type work, %function
work:
    bl outside
    bl work
    b further
    .size work, . - work
    .section .init.text,"ax"
begin:
    bl work
    bl outside
    .data
    .word work - .
#ifdef __aarch64__
    .xword outside
    .text
    adrp x0, work
    add x0, x0, :lo12:work
    ret
#else
    .word outside
    .text
    movw r0, #:lower16:work
    movt r0, #:upper16:work
    .thumb
    bl outside
    bx lr
#endif
