/* SPDX-License-Identifier: Apache-2.0 */
/* A program for a bare machine in A32 that jumps to an address which is not aligned. The handler of that
 * fault ends QEMU by the debugger's function SYS_EXIT. */
__asm__(".arm\n.balign 32\n"
        "vectors: b reset\n b .\n b .\n b on_prefetch\n b .\n nop\n b .\n b .\n"
        ".globl reset\nreset: ldr r0, =vectors\n mcr p15, 0, r0, c12, c0, 0\n isb\n"
        " add r1, r0, #2\n bx r1\n b .\n"
        "on_prefetch: mov r0, #0x18\n ldr r1, =0x20026\n svc 0x123456\n b .\n");
