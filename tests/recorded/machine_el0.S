/* SPDX-License-Identifier: Apache-2.0 */
/* A machine with a processor for A64 (QEMU's virt), in two programs. The kernel in A64, at EL1, runs a task in
 * A64 and a program in A32 and T32 at EL0, in turn. The latter makes system calls, executes undefined
 * instructions and reads where nothing is. A timer interrupts all of them. */
#ifdef __aarch64__
#define ROUNDS  40
#define PERIOD  500 /* of the timer */
#define PROGRAM 0x40100000

        .text
        .global reset
        .balign 2048
vectors:
        .macro entry to
        .balign 128
        b       \to
        .endm
        entry   quit
        entry   quit
        entry   quit
        entry   quit
        entry   from_kernel
        entry   irq
        entry   quit
        entry   quit
        entry   from_task
        entry   irq
        entry   quit
        entry   quit
        entry   from_program
        entry   irq
        entry   quit
        entry   quit

from_kernel:
        eret

/* An SVC of the program makes another one in the kernel, which can be interrupted. SVC 1 is the end of its turn.
 * Other exceptions continue behind the instruction. */
from_program:
        mrs     x28, elr_el1
        mrs     x29, spsr_el1
        stp     x28, x29, [sp, #-16]!
        mrs     x28, esr_el1
        ubfx    x29, x28, #26, #6
        cmp     x29, #0x11
        b.eq    1f
        ldp     x28, x29, [sp], #16
        add     x28, x28, #2
        tbnz    x29, #5, 2f
        add     x28, x28, #2
2:      msr     elr_el1, x28
        eret
1:      uxth    x28, w28
        cbnz    x28, to_task
        msr     daifclr, #2
        mov     x28, #10
3:      subs    x28, x28, #1
        b.ne    3b
        svc     #1
        msr     daifset, #2
        ldp     x28, x29, [sp], #16
        msr     elr_el1, x28
        msr     spsr_el1, x29
        eret

to_task:
        add     sp, sp, #16
        adr     x28, task
        msr     elr_el1, x28
        msr     spsr_el1, xzr
        eret

from_task:
        ldr     x20, =rounds
        ldr     w21, [x20]
        subs    w21, w21, #1
        b.eq    quit
        str     w21, [x20]
        ldr     x22, =PROGRAM
        msr     elr_el1, x22
        mov     x22, #0x10
        msr     spsr_el1, x22
        eret

irq:    stp     x28, x29, [sp, #-16]!
        ldr     x28, =0x08010000
        ldr     w29, [x28, #0xc]
        mov     x27, #PERIOD
        msr     cntv_tval_el0, x27
        str     w29, [x28, #0x10]
        ldp     x28, x29, [sp], #16
        eret

quit:   adr     x1, reason
        mov     w0, #0x18
        hlt     #0xf000
        b       quit
        .balign 8
reason: .quad   0x20026, 0

reset:  ldr     x0, =stack
        mov     sp, x0
        adr     x0, vectors
        msr     vbar_el1, x0
        isb
        ldr     x0, =0x08000000         /* interrupt controller; the timer's interrupt is 27 */
        mov     w1, #1
        str     w1, [x0]
        mov     w1, #1 << 27
        str     w1, [x0, #0x100]
        ldr     x0, =0x08010000
        mov     w1, #0xff
        str     w1, [x0, #4]
        mov     w1, #1
        str     w1, [x0]
        mov     x0, #PERIOD
        msr     cntv_tval_el0, x0
        mov     x0, #1
        msr     cntv_ctl_el0, x0
        adr     x0, task
        msr     elr_el1, x0
        msr     spsr_el1, xzr
        eret

task:   mov     x0, #30
1:      subs    x0, x0, #1
        b.ne    1b
        svc     #0
        b       task
        .ltorg

        .data
rounds: .word   ROUNDS
        .bss
        .balign 16
        .skip   1024
stack:

#else
        .syntax unified
        .arm
        .global reset
reset:  ldr     sp, =stack
        mov     r4, #30
1:      add     r5, r5, r4
        tst     r5, #3
        bleq    leaf
        subs    r4, r4, #1
        bne     1b
        svc     0
        udf     #0
        blx     thumb
        ldr     r1, =0x0fff0000         /* nothing is there */
        ldr     r2, [r1]
        svc     1
        b       reset
leaf:   add     r5, r5, #1
        bx      lr
        .ltorg

        .thumb
        .thumb_func
thumb:  push    {r4, lr}
        movs    r4, #20
1:      lsrs    r6, r4, #1
        itte    cs
        addcs   r5, #3
        svccs   0
        addcc   r5, #1
        subs    r4, #1
        bne     1b
        udf     #0
        ldr     r1, =0x0fff0000
        ldr     r2, [r1]
        ldr     r3, =leaf
        blx     r3
        pop     {r4, pc}
        .ltorg

        .bss
        .skip   256
stack:
#endif
