/* Code that a program makes itself and runs, first at ever new addresses and then again and again at one.
 *
 *   generated */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

typedef int function(int);

/* Writes x + n and a return, for A64 or A32. Returns the size in bytes. */
static size_t assemble(unsigned *code, unsigned n)
{
#ifdef __aarch64__
    code[0] = 0x11000000u | n << 10; /* ADD W0, W0, #n */
    code[1] = 0xd65f03c0u;           /* RET */
#else
    code[0] = 0xe2800000u | n; /* ADD R0, R0, #n */
    code[1] = 0xe12fff1eu;     /* BX LR */
#endif
    return 8;
}

int main(void)
{
    unsigned char *page =
        mmap(NULL, 8192, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int sum = 0;
    for (unsigned i = 0; i < 64; i++) {
        unsigned char *at = page + (i < 48 ? 64 * i : 0); /* the last functions replace the first one */
        const size_t size = assemble((unsigned *)(void *)at, i + 1);
        __builtin___clear_cache((char *)at, (char *)at + size);
        function *made;
        memcpy(&made, &(void *){at}, sizeof made);
        for (int k = 0; k < 4; k++)
            sum = made(sum);
    }
    printf("%d\n", sum);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
