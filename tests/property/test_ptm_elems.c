/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that random elements of a PTM survive encoding and decoding, in A32, T32, ThumbEE and Jazelle, with
 * and without cycle counts. CT_SEED sets the first seed, CT_COUNT the number of elements, CT_LONG=1 the long
 * tier. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/v7_config.h"
#include "support/elem_rows.h"
#include "support/pieces.h"
#include "support/ptm_stream.h"
#include "coretap/encode.h"
#include "support/seeds.h"

enum {
    ELEMS = 400,
    GOT = 8 * ELEMS,
    ROOM = 32 * ELEMS,
    KINDS = CT_ELEM_EVENT + 1, /* kinds that a PTM has, and some more */
    ENOUGH = 100000,           /* elements after which each case has occurred */
};

/* Number of encoded elements by kind, instruction set, and whether cycles are counted. */
static uint64_t seen[KINDS][4][2];

struct maker {
    struct rng *rng;
    struct ct_v7_config config;
    struct ct_elem *out;
    unsigned count;
    uint32_t address;
    unsigned isa, last_isa; /* of now and of the packet before; CT_IS_UNKNOWN at the start */
    uint8_t security;
    uint64_t ids;
    uint16_t known; /* CT_CONTEXT_CTXT and CT_CONTEXT_VMID */
};

static void add(struct maker *m, enum ct_elem_kind kind, unsigned n, unsigned aux, uint64_t v)
{
    m->out[m->count++] =
        (struct ct_elem){.kind = (uint8_t)kind, .n = (uint8_t)n, .aux = (uint16_t)aux, .v = v};
    if (m->isa < 4)
        seen[kind][m->isa][m->config.cycle_accurate]++;
}

static void add_cycles(struct maker *m)
{
    if (m->config.cycle_accurate)
        add(m, CT_ELEM_CYCLES, CT_CYCLES_ATTACHED, 0, rng_wide(m->rng, 32));
}

static void add_atoms(struct maker *m)
{
    unsigned n = m->config.cycle_accurate ? 1 : 1 + rng_below(m->rng, 32);
    add(m, CT_ELEM_ATOMS, n, 0, rng_next(m->rng) & ct_mask64(n));
    add_cycles(m);
}

/* Changes to another instruction set now and then. */
static void choose_isa(struct maker *m, unsigned count)
{
    m->last_isa = m->isa;
    if (m->isa >= count || rng_chance(m->rng, 50))
        m->isa = rng_below(m->rng, count);
}

/* Adds an address near the last one, or anywhere. */
static void add_place(struct maker *m, enum ct_elem_kind kind)
{
    static const uint8_t bits[] = {7, 13, 20, 27, 32}, align[] = {2, 1, 1, 0};
    uint32_t mask = (uint32_t)ct_mask64(bits[rng_below(m->rng, 5)]);
    m->address = ((m->address & ~mask) | ((uint32_t)rng_next(m->rng) & mask)) & ~0u << align[m->isa];
    add(m, kind, m->isa, 32, m->address);
}

static void add_context(struct maker *m, unsigned select, unsigned flags)
{
    add(m, CT_ELEM_CONTEXT, m->security, flags | m->known | select << CT_CONTEXT_IS_SHIFT, m->ids);
}

static void choose_security(struct maker *m)
{
    unsigned hyp = m->config.virtualization ? rng_below(m->rng, 2) * 2 : 0;
    m->security = (uint8_t)(rng_below(m->rng, 2) << 4 | hyp);
}

static void choose_ctxt(struct maker *m)
{
    m->ids = (m->ids & ~UINT64_C(0xffffffff)) | (rng_next(m->rng) & ct_mask64(8u * m->config.ctxt_bytes));
    m->known |= CT_CONTEXT_CTXT;
}

static void add_sync(struct maker *m, int start)
{
    unsigned reason = rng_below(m->rng, 4); /* 3: periodic */
    int uncounted = reason == 3;
    add(m, CT_ELEM_SYNC, start, 0, 0);
    if (start || reason < 3)
        add(m, CT_ELEM_TRACE_ON, reason % 3, !start && reason == CT_TRACE_ON_OVERFLOW, 0);
    if (!uncounted)
        add_cycles(m);
    choose_isa(m, 3);
    if (start || rng_chance(m->rng, 100))
        choose_security(m);
    if (m->config.ctxt_bytes)
        choose_ctxt(m);
    int told = (start || reason < 3) && (m->config.ctxt_bytes || m->isa != m->last_isa);
    add_context(m, m->isa, told ? 0 : CT_CONTEXT_SILENT);
    add_place(m, CT_ELEM_ADDRESS);
}

/* Adds the target of a branch or an exception, perhaps in another security state. */
static void add_target(struct maker *m)
{
    uint8_t before = m->security;
    add_cycles(m);
    choose_isa(m, 4);
    if (rng_below(m->rng, 4) == 0)
        choose_security(m);
    if (m->security != before)
        add_context(m, m->isa, CT_CONTEXT_SILENT);
    add_place(m, CT_ELEM_ADDRESS);
}

static void add_waypoint(struct maker *m)
{
    choose_isa(m, 4);
    add_place(m, CT_ELEM_WAYPOINT);
}

static void add_identifier(struct maker *m)
{
    uint64_t before = m->ids;
    uint16_t known = m->known;
    if (m->config.virtualization && rng_below(m->rng, 2)) {
        m->ids = (m->ids & 0xffffffff) | (uint64_t)rng_below(m->rng, 256) << 32;
        m->known |= CT_CONTEXT_VMID;
    } else if (m->config.ctxt_bytes) {
        choose_ctxt(m);
    }
    if (m->ids != before || m->known != known)
        add_context(m, CT_IS_SAME, 0);
}

static void add_any(struct maker *m)
{
    unsigned what = rng_below(m->rng, 100);
    if (what < 45) {
        add_atoms(m);
    } else if (what < 65) {
        add(m, CT_ELEM_ATOMS, 1, CT_ATOMS_TARGET, 1);
        add_target(m);
    } else if (what < 73) {
        add(m, CT_ELEM_EXCEPTION, CT_EXCEPTION_HERE, 1 + rng_below(m->rng, 511), 0);
        add_target(m);
    } else if (what < 79) {
        add_waypoint(m);
    } else if (what < 83) {
        add_sync(m, 0);
    } else if (what < 88) {
        add_identifier(m);
    } else if (what < 92) {
        add(m, CT_ELEM_TIMESTAMP, 0, 0, rng_wide(m->rng, m->config.ts_64bit ? 64 : 48));
        add_cycles(m);
    } else if (what < 96) {
        add(m, CT_ELEM_RETURN, 0, 0, 0);
    } else {
        add(m, CT_ELEM_EVENT, 0, 1, 0);
    }
}

static unsigned make(struct rng *rng, const struct ct_source *source, struct ct_elem *out)
{
    struct maker m = {.rng = rng, .out = out, .isa = CT_IS_UNKNOWN};
    ct_v7_config_init(NULL, source, &m.config);
    add(&m, CT_ELEM_GAP, CT_GAP_INIT, 0, 0);
    add_sync(&m, 1);
    while (m.count < ELEMS - 8)
        add_any(&m);
    add(&m, CT_ELEM_END, CT_GAP_END, 0, 0);
    return m.count;
}

static int check(uint64_t seed)
{
    static struct ct_elem want[ELEMS + 8], got[GOT];
    static uint8_t bytes[ROOM];
    struct rng rng = {seed};
    struct ct_source source = ptm_source(&rng);
    size_t size, count = make(&rng, &source, want);
    if (ptm_encode(&rng, &source, want, count, bytes, ROOM, &size))
        return 0;
    size_t have = elem_rows(got, pieces_elems(&source, bytes, size, got, GOT), ELEM_ROWS_ALL);
    count = elem_rows(want, count, ELEM_ROWS_ALL);
    for (size_t i = 0; i < count || i < have; i++)
        if (i >= count || i >= have || memcmp(&want[i], &got[i], sizeof(want[i]))) {
            printf("# element %zu of %zu (%zu came back): kind %u n %u aux %x v %" PRIx64
                   " became kind %u n %u aux %x v %" PRIx64 "\n# etmcr %x etmccer %x\n",
                   i, count, have, want[i].kind, want[i].n, want[i].aux, want[i].v, got[i].kind, got[i].n,
                   got[i].aux, got[i].v, source.regs.etmcr, source.regs.etmccer);
            return 0;
        }
    return 1;
}

/* Checks that the random elements included each kind of a PTM in A32, T32, ThumbEE and Jazelle, with and
 * without counts. */
static int check_seen(void)
{
    static const uint8_t kinds[] = {CT_ELEM_ATOMS,     CT_ELEM_ADDRESS, CT_ELEM_WAYPOINT,  CT_ELEM_CONTEXT,
                                    CT_ELEM_EXCEPTION, CT_ELEM_RETURN,  CT_ELEM_TIMESTAMP, CT_ELEM_EVENT,
                                    CT_ELEM_SYNC,      CT_ELEM_TRACE_ON};
    int ok = 1;
    for (unsigned i = 0; i < sizeof(kinds) * 8; i++) {
        unsigned kind = kinds[i / 8], isa = i / 2 % 4, counted = i % 2;
        if (!seen[kind][isa][counted]) {
            printf("# no element of kind %u in instruction set %u, %s\n", kind, isa,
                   counted ? "cycle-accurate" : "not cycle-accurate");
            ok = 0;
        }
    }
    return ok;
}

/* Checks sequences that no PTM emits: their last element is refused, all others are accepted. */
static int check_refusals(void)
{
    enum {
        COUNTED = 1u << 12,
        SYNC = CT_ELEM_SYNC,
        ON = CT_ELEM_TRACE_ON,
        CTX = CT_ELEM_CONTEXT,
        ADDR = CT_ELEM_ADDRESS,
        CYCLES = CT_ELEM_CYCLES,
        ATOMS = CT_ELEM_ATOMS,
        EXC = CT_ELEM_EXCEPTION,
        SAME = CT_IS_SAME << CT_CONTEXT_IS_SHIFT,
        T32 = CT_IS1 << CT_CONTEXT_IS_SHIFT
    };
    static const struct {
        const char *what;
        uint32_t etmcr;
        int synced; /* 1: after an i-sync */
        struct ct_elem elems[4];
        unsigned count;
    } cases[] = {
        {"atoms before a SYNC", 0, 0, {{.kind = ATOMS, .n = 1}}, 1},
        {"a periodic SYNC at the beginning", 0, 0, {{.kind = SYNC}}, 1},
        {"a beginning without TRACE_ON", 0, 0, {{SYNC, .n = 1}, {.kind = CTX}, {.kind = ADDR}}, 3},
        {"a SYNC without context", 0, 0, {{SYNC, .n = 1}, {.kind = ON}, {.kind = ADDR}}, 3},
        {"a beginning without a GAP", 0, 1, {{.kind = SYNC, .n = 1}}, 1},
        {"another instruction set", 0, 1, {{.kind = SYNC}, {.kind = CTX, .aux = T32}, {.kind = ADDR}}, 3},
        {"cycles of a periodic SYNC", COUNTED, 1, {{.kind = SYNC}, {.kind = CYCLES, .n = 1}}, 2},
        {"a lost overflow", 0, 1, {{.kind = CT_ELEM_GAP, .n = CT_GAP_OVERFLOW}}, 1},
        {"33 atoms", 0, 1, {{.kind = ATOMS, .n = 33}}, 1},
        {"two atoms counted", COUNTED, 1, {{.kind = ATOMS, .n = 2}}, 1},
        {"an atom without its cycles", COUNTED, 1, {{.kind = ATOMS, .n = 1}, {.kind = ATOMS, .n = 1}}, 2},
        {"cycles counted twice", COUNTED, 1, {{ATOMS, 1, 1, 0, 1}, {CYCLES, .n = 1}, {CYCLES, .n = 1}}, 3},
        {"cycles not counted", 0, 1, {{ATOMS, 1, 1, 0, 1}, {CYCLES, .n = 1}, {.kind = ADDR}}, 3},
        {"cycles of nothing", COUNTED, 1, {{.kind = CYCLES, .n = 1}}, 1},
        {"a target of an N atom", 0, 1, {{ATOMS, 1, CT_ATOMS_TARGET, 0, 0}}, 1},
        {"atoms of instructions", 0, 1, {{ATOMS, 1, CT_ATOMS_INSN, 0, 1}}, 1},
        {"an address alone", 0, 1, {{.kind = ADDR}}, 1},
        {"an address off its alignment", 0, 1, {{ATOMS, 1, 1, 0, 1}, {.kind = ADDR, .v = 2}}, 2},
        {"an identifier in a branch", 0, 1, {{ATOMS, 1, 1, 0, 1}, {CTX, .aux = 2, .v = 1}}, 2},
        {"exception number 0", 0, 1, {{.kind = EXC, .n = 16}}, 1},
        {"a return address", 0, 1, {{EXC, .n = CT_EXCEPTION_HAS_RET, .aux = 1}}, 1},
        {"an identifier in an exception", 0, 1, {{EXC, .n = 16, .aux = 1}, {CTX, .aux = 4, .v = 1}}, 2},
        {"security alone", 0, 1, {{.kind = CTX, .n = 0x10, .aux = SAME}}, 1},
        {"an instruction set alone", 0, 1, {{.kind = CTX, .aux = T32}}, 1},
        {"a VMID without virtualization", 0, 1, {{CTX, .aux = SAME | CT_CONTEXT_VMID}}, 1},
        {"64-bit state", 0, 1, {{CTX, .aux = SAME | CT_CONTEXT_SF}}, 1},
        {"event bits", 0, 1, {{.kind = CT_ELEM_EVENT, .n = 1}}, 1},
        {"a Q element", 0, 1, {{.kind = CT_ELEM_Q}}, 1},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        static const struct ct_elem begin[] = {{SYNC, .n = 1}, {.kind = ON}, {.kind = CTX}, {.kind = ADDR}};
        struct ct_source source = {.name = "case", .protocol = CT_PROTOCOL_PTM};
        struct ct_ptm_emitter *emitter;
        uint8_t bytes[4 * CT_PTM_EMIT_MAX];
        size_t taken = 0, len;
        source.regs.etmcr = cases[i].etmcr;
        if (ct_ptm_emitter_new(NULL, &source, &emitter))
            return 0;
        int ok = !cases[i].synced || !ct_ptm_emit(emitter, begin, 4, 0, &taken, bytes, sizeof(bytes), &len);
        ok = ok && ct_ptm_emit(emitter, cases[i].elems, cases[i].count, 1, &taken, bytes, sizeof(bytes),
                               &len) == CT_ERR_ARG;
        ok = ok && taken == cases[i].count - 1;
        ct_ptm_emitter_free(emitter);
        if (!ok) {
            printf("# %s: element %zu was the first that was not taken\n", cases[i].what, taken);
            return 0;
        }
    }
    return 1;
}

static int report(int number, int ok, const char *name)
{
    printf("%sok %d - %s\n", ok ? "" : "not ", number, name);
    return ok;
}

int main(void)
{
    const struct seeds seeds = seeds_begin(3, 400000, 20000000);
    const int ok = seeds_hold(seeds, ELEMS, check, 1, "resolve(decode(encode(elements))) == elements");
    const int all = report(2, seeds.cases < ENOUGH || check_seen(),
                           "every kind, in every instruction set, counted or not");
    const int refused = report(3, check_refusals(), "what cannot be said is refused");
    return ok && all && refused ? 0 : 1;
}
