/* SPDX-License-Identifier: Apache-2.0 */
#include "format/disasm.h"
#include "coretap/program.h"
#include "format/a64_words.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef CT_HAVE_CAPSTONE
#include <capstone/capstone.h>
#include <malloc.h>
#include <string.h>

#include "base/library.h"

#define TEXT(number)  #number
#define SONAME(major) "libcapstone.so." TEXT(major)

/* names another file to load as the library */
#define VARIABLE "CORETAP_CAPSTONE"

/* Functions of Capstone, which is loaded when instructions are to be disassembled. */
#define ENTRIES(X)                                                                                           \
    X(cs_option)                                                                                             \
    X(cs_open)                                                                                               \
    X(cs_close)                                                                                              \
    X(cs_disasm)                                                                                             \
    X(cs_free)

CT_LIBRARY(capstone, ENTRIES);

#define KINDS 3 /* A64, A32, T32, as in enum ct_isa */

/* ---- memory ---- */

/* Reserve memory for Capstone when memory runs out, because it would write through null pointers. The reserve
 * is enough for Capstone to return; errno then tells what happened, and Capstone is not called again. The
 * reserve is used once and never returned. */
static _Alignas(max_align_t) unsigned char reserve[64 << 10];
static size_t reserve_used;

static void *from_reserve(size_t size)
{
    size = (size + _Alignof(max_align_t) - 1) & ~(_Alignof(max_align_t) - 1);
    const size_t at = __atomic_fetch_add(&reserve_used, size, __ATOMIC_RELAXED);
    return at < sizeof reserve && size <= sizeof reserve - at ? reserve + at : NULL;
}

static bool is_reserve(const void *p)
{
    return (const unsigned char *)p >= reserve && (const unsigned char *)p < reserve + sizeof reserve;
}

static void *take(size_t size)
{
    void *p = malloc(size);
    return p ? p : from_reserve(size);
}

static void *take_zeros(size_t count, size_t size)
{
    void *p = calloc(count, size);
    return p || (size && count > sizeof reserve / size) ? p : from_reserve(count * size);
}

static void give_back(void *p)
{
    if (!is_reserve(p))
        free(p);
}

/* Resizes a block. A block that becomes smaller may stay where it is. */
static void *resize(void *p, size_t size)
{
    if (!is_reserve(p)) {
        const size_t room = malloc_usable_size(p);
        void *moved = realloc(p, size ? size : 1); /* realloc with 0 bytes would free the block */
        return moved || room < size ? moved : p;
    }
    void *moved = from_reserve(size);
    if (moved) {
        const size_t left = (size_t)(reserve + sizeof reserve - (unsigned char *)moved);
        memcpy(moved, p, size < left ? size : left);
    }
    return moved;
}

/* ---- instructions ---- */

struct ct_disasm {
    csh handles[KINDS];
    bool open[KINDS]; /* false without Capstone: instructions are then shown as numbers */
    bool lacked_memory;
    union capstone capstone;
};

static void open_all(struct ct_disasm *disasm)
{
    static const struct {
        cs_arch arch;
        cs_mode mode;
    } kinds[KINDS] = {[CT_ISA_A64] = {CS_ARCH_ARM64, CS_MODE_ARM},
                      [CT_ISA_A32] = {CS_ARCH_ARM, CS_MODE_ARM},
                      [CT_ISA_T32] = {CS_ARCH_ARM, CS_MODE_THUMB}};
    const struct capstone_functions *f = &disasm->capstone.f;
    const cs_opt_mem memory = {take, take_zeros, resize, give_back, vsnprintf};
    (void)f->cs_option(0, CS_OPT_MEM, (size_t)(uintptr_t)&memory);
    for (unsigned i = 0; i < KINDS; i++)
        disasm->open[i] = f->cs_open(kinds[i].arch, kinds[i].mode, &disasm->handles[i]) == CS_ERR_OK;
}

struct ct_disasm *ct_disasm_new(void)
{
    struct ct_disasm *disasm = calloc(1, sizeof *disasm);
    if (!disasm)
        return NULL;
    const char *named = getenv(VARIABLE);
    errno = 0;
    if (CT_LIBRARY_FIND(named ? named : SONAME(CS_API_MAJOR), &disasm->capstone, ENTRIES))
        open_all(disasm);
    if (errno == ENOMEM) {
        ct_disasm_free(disasm);
        return NULL;
    }
    return disasm;
}

void ct_disasm_free(struct ct_disasm *disasm)
{
    for (size_t i = 0; disasm && i < KINDS; i++)
        if (disasm->open[i])
            disasm->capstone.f.cs_close(&disasm->handles[i]);
    free(disasm);
}

/* Puts an IT instruction with one condition before the bytes of a conditional T32 instruction, because
 * Capstone only sees these bytes. Returns the number of added bytes. */
static size_t put_condition(uint8_t it, const uint8_t *bytes, size_t size, uint8_t out[6])
{
    if (!it || size > 4)
        return 0;
    out[0] = (it & 0xf0) | 8;
    out[1] = 0xbf;
    memcpy(out + 2, bytes, size);
    return 2;
}

static bool in_words(struct ct_disasm *disasm, uint8_t isa, uint8_t it, uint64_t addr, const uint8_t *bytes,
                     size_t size, char text[192])
{
    cs_insn *insn;
    uint8_t block[6];
    const size_t before = put_condition(it, bytes, size, block);
    const size_t wanted = before ? 2 : 1;
    if (isa >= KINDS || !disasm->open[isa] || disasm->lacked_memory)
        return false;
    errno = 0;
    const size_t count = disasm->capstone.f.cs_disasm(disasm->handles[isa], before ? block : bytes,
                                                      before + size, addr - before, wanted, &insn);
    disasm->lacked_memory = errno == ENOMEM;
    if (count == wanted)
        snprintf(text, 192, "%-7s %s", insn[count - 1].mnemonic, insn[count - 1].op_str);
    if (count)
        disasm->capstone.f.cs_free(insn, count);
    return count == wanted;
}
#else
struct ct_disasm {
    bool lacked_memory;
};

struct ct_disasm *ct_disasm_new(void)
{
    return calloc(1, sizeof(struct ct_disasm));
}

void ct_disasm_free(struct ct_disasm *disasm)
{
    free(disasm);
}

static bool in_words(struct ct_disasm *disasm, uint8_t isa, uint8_t it, uint64_t addr, const uint8_t *bytes,
                     size_t size, char text[192])
{
    (void)disasm, (void)isa, (void)it, (void)addr, (void)bytes, (void)size, (void)text;
    return false;
}
#endif

void ct_disasm_text(struct ct_disasm *disasm, uint8_t isa, uint8_t it, uint64_t addr, const uint8_t *bytes,
                    size_t size, char text[192])
{
    uint32_t opcode = 0;
    for (size_t i = 0; i < size && i < 4; i++)
        opcode |= (uint32_t)bytes[i] << (8 * i);
    if (isa == CT_ISA_A64 && ct_a64_words(opcode, text, 192))
        return;
    if (in_words(disasm, isa, it, addr, bytes, size, text))
        return;
    snprintf(text, 192, ".inst   0x%0*" PRIx32, (int)(2 * size), opcode);
}

bool ct_disasm_lacked_memory(const struct ct_disasm *disasm)
{
    return disasm->lacked_memory;
}
