/* SPDX-License-Identifier: Apache-2.0 */
#include "support/code_gen.h"

static void store(uint8_t *p, uint32_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        p[i] = (uint8_t)(value >> 8 * i);
}

/* Returns a random distance from `at` to a place inside 0..size, in units of `unit` bytes. It is mostly
 * short. */
static int32_t distance(struct rng *rng, uint32_t at, uint32_t size, unsigned unit, unsigned bits)
{
    int32_t most = (1 << (bits - 1)) - 1;
    int32_t to = (int32_t)rng_below(rng, size / unit), d = to - (int32_t)(at / unit);
    if (rng_chance(rng, 160))
        d = (int32_t)rng_below(rng, 40) - 16;
    return d > most || d < -most ? (int32_t)rng_below(rng, 8) - 4 : d;
}

static uint32_t a64(struct rng *rng, uint32_t at, uint32_t size)
{
    uint32_t reg = rng_below(rng, 31), what = rng_below(rng, 100);
    uint32_t near = (uint32_t)distance(rng, at, size, 4, 19) & 0x7ffff;
    uint32_t far = (uint32_t)distance(rng, at, size, 4, 26) & 0x3ffffff;
    if (what < 58)
        return 0x91000000 | (uint32_t)(rng_next(rng) & 0x3fffff); /* ADD */
    if (what < 66)
        return 0x54000000 | near << 5 | rng_below(rng, 15); /* B.cond */
    if (what < 70)
        return 0x14000000 | far; /* B */
    if (what < 76)
        return 0x94000000 | far; /* BL */
    if (what < 80)
        return 0x34000000 | rng_below(rng, 2) << 31 | rng_below(rng, 2) << 24 | near << 5 |
               reg; /* CBZ, CBNZ */
    if (what < 83)
        return 0x36000000 | rng_below(rng, 2) << 24 | rng_below(rng, 32) << 19 |
               ((uint32_t)distance(rng, at, size, 4, 14) & 0x3fff) << 5 | reg; /* TBZ, TBNZ */
    if (what < 88)
        return 0xd65f0000 | 30 << 5; /* RET */
    if (what < 90)
        return 0xd61f0000 | reg << 5; /* BR */
    if (what < 93)
        return 0xd63f0000 | reg << 5; /* BLR */
    switch (rng_below(rng, 11)) {
    case 8:
        return 0x74000000 | rng_below(rng, 4) << 21 | rng_below(rng, 2) << 24 |
               ((uint32_t)distance(rng, at, size, 4, 9) & 0x1ff) << 5 | reg; /* CB<cc> */
    case 9:
        return 0xd65f0be0 | reg; /* RETAASPPCR */
    case 10:
        return 0xd6ff03e0 | rng_below(rng, 2) << 10; /* TEXIT */
    case 0:
        return 0xd69f03e0; /* ERET */
    case 1:
        return 0xd5033fdf; /* ISB */
    case 2:
        return 0xd5033f9f; /* DSB SY */
    case 3:
        return 0xd5033fbf; /* DMB SY */
    case 4:
        return 0xd503207f; /* WFI */
    case 5:
        return 0xd503205f; /* WFE */
    case 6:
        return 0xd65f0bff; /* RETAA */
    default:
        return 0xd4000001 | rng_below(rng, 16) << 5; /* SVC */
    }
}

static uint32_t a32(struct rng *rng, uint32_t at, uint32_t size)
{
    uint32_t cond = rng_chance(rng, 128) ? 0xe0000000 : rng_below(rng, 15) << 28, what = rng_below(rng, 100);
    uint32_t far = (uint32_t)distance(rng, at, size, 4, 24) & 0xffffff, reg = rng_below(rng, 15);
    if (what < 60)
        return cond | 0x02800000 | (uint32_t)(rng_next(rng) & 0xfefff); /* ADD, never to the PC */
    if (what < 72)
        return cond | 0x0a000000 | far; /* B */
    if (what < 79)
        return cond | 0x0b000000 | far; /* BL */
    if (what < 86)
        return cond | 0x012fff1e; /* BX LR */
    if (what < 88)
        return cond | 0x012fff10 | reg; /* BX */
    if (what < 90)
        return cond | 0x012fff30 | reg; /* BLX */
    switch (rng_below(rng, 8)) {
    case 0:
        return cond | 0x01a0f00e; /* MOV PC, LR */
    case 1:
        return cond | 0x08bd8000 | rng_below(rng, 256); /* POP {…, PC} */
    case 2:
        return cond | 0x049df004; /* LDR PC, [SP], #4 */
    case 3:
        return cond | 0x059ff000 | rng_below(rng, 4096); /* LDR PC, [PC, …] */
    case 4:
        return 0xf57ff06f; /* ISB */
    case 5:
        return 0xf57ff04f; /* DSB */
    case 6:
        return cond | 0x0320f003; /* WFI */
    default:
        return cond | 0x0f000000 | rng_below(rng, 256); /* SVC */
    }
}

/* Returns a random T32 instruction: one of 16 bits, or, with *wide set, one of 32 bits with its first
 * halfword in 31:16. */
static uint32_t t32(struct rng *rng, uint32_t at, uint32_t size, int *wide)
{
    uint32_t what = rng_below(rng, 100), reg = rng_below(rng, 15);
    *wide = 0;
    if (what < 46)
        return 0x3000 | (uint32_t)(rng_next(rng) & 0xfff); /* ADDS */
    if (what < 56)
        return 0xd000 | rng_below(rng, 14) << 8 |
               ((uint32_t)distance(rng, at, size, 2, 8) & 0xff); /* B<cond> */
    if (what < 60)
        return 0xe000 | ((uint32_t)distance(rng, at, size, 2, 11) & 0x7ff); /* B */
    if (what < 64)
        return 0xb100 | rng_below(rng, 2) << 11 | rng_below(rng, 2) << 9 | rng_below(rng, 32) << 3 |
               rng_below(rng, 8); /* CBZ, CBNZ */
    if (what < 68)
        return 0x4770; /* BX LR */
    if (what < 70)
        return 0x4700 | reg << 3; /* BX */
    if (what < 72)
        return 0x4780 | reg << 3; /* BLX */
    if (what < 75)
        return 0xbd00 | rng_below(rng, 256); /* POP {…, PC} */
    if (what < 77)
        return 0x46f7; /* MOV PC, LR */
    if (what < 80)
        return 0xbf00 | rng_below(rng, 14) << 4 | (1 + rng_below(rng, 15)); /* IT */
    *wide = 1;
    if (what < 90) { /* BL to a nearby place: bits 24:12 of the offset are copies of its sign */
        uint32_t d = (uint32_t)distance(rng, at, size, 2, 11), sign = d >> 31;
        return 0xf000d000 | 0x2800 | sign << 26 | (sign ? 0x3ffu << 16 : 0) | (d & 0x7ff);
    }
    switch (rng_below(rng, 6)) {
    case 0:
        return 0xf3bf8f6f; /* ISB */
    case 1:
        return 0xf8d0f000 | rng_below(rng, 4096); /* LDR PC */
    case 2:
        return 0xe8bd8000 | rng_below(rng, 256); /* POP.W {…, PC} */
    case 3:
        return 0xf3bf8f4f; /* DSB */
    default:
        return 0xf1000000 | rng_below(rng, 16) << 8 | rng_below(rng, 256); /* ADD.W */
    }
}

void code_fill(struct rng *rng, enum ct_isa isa, uint8_t *bytes, uint32_t size)
{
    uint32_t at = 0, block = 0; /* instructions that may be left in the block of an IT */
    while (at < size) {
        int wide = 1;
        if (isa == CT_ISA_T32) {
            uint32_t insn = t32(rng, at, size, &wide);
            int is_it = !wide && insn >> 8 == 0xbf;
            if (is_it && block)
                insn = 0xbf00; /* NOP: an IT in the block of another IT is unpredictable */
            block = is_it && !block ? 4 : block ? block - 1 : 0;
            if (wide && size - at < 4)
                insn = 0xbf00, wide = 0; /* NOP */
            store(bytes + at, wide ? insn >> 16 | insn << 16 : insn, wide ? 4 : 2);
        } else {
            store(bytes + at, isa == CT_ISA_A64 ? a64(rng, at, size) : a32(rng, at, size), 4);
        }
        at += wide ? 4 : 2;
    }
}
