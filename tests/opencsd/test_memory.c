/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the memory of a client of coretap's libopencsd. It depends on the context that the client got last,
 * and it may change between two calls. The library must not ask for code before the client knows its context,
 * and must not reuse code of another context or of an earlier call. Also checks allocations in the library:
 * when one fails, the client gets an error and nothing leaks.
 *
 * usage: test_memory LIBRARY */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "opencsd/failing.h"
#include "opencsd/library.h"

enum {
    ADDRESS = 0x400000,
    BORDER = 1024, /* a page of the library's cache ends at a multiple of this */
    PLACES = 8,    /* number of ranges that are recorded */
};

/* Code of two contexts at one address. The last instruction is a branch to itself. */
static const uint32_t long_code[] = {0xd503201f, 0xd503201f, 0x14000000};
static const uint32_t short_code[] = {0xd503201f, 0x14000000};

/* Code across a page border, which is after the second instruction, and what replaces it. */
static const uint32_t wide_code[] = {0xd503201f, 0xd503201f, 0xd503201f, 0x14000000};
static const uint32_t other_wide_code[] = {0xd503201f, 0xd503201f, 0x14000000, 0x14000000};

struct client {
    uint64_t addr;        /* address of its code; 0: ADDRESS */
    uint32_t context;     /* context ID of the last context element */
    bool short_before;    /* memory of context 1 is short_code, too */
    const uint32_t *code; /* its memory in any context, or NULL */
    size_t code_size;
    uint32_t counts[PLACES];
    unsigned ranges;
    unsigned total; /* number of ranges, with those not recorded */
    unsigned early; /* calls for memory before the first context */
    unsigned calls; /* calls for memory */
};

static ocsd_datapath_resp_t take(const void *context, const ocsd_trc_index_t index, const uint8_t id,
                                 const ocsd_generic_trace_elem *e)
{
    struct client *client = (struct client *)context;
    (void)index;
    (void)id;
    if (e->elem_type == OCSD_GEN_TRC_ELEM_PE_CONTEXT)
        client->context = e->context.context_id;
    client->total += e->elem_type == OCSD_GEN_TRC_ELEM_INSTR_RANGE;
    if (e->elem_type == OCSD_GEN_TRC_ELEM_INSTR_RANGE && client->ranges < PLACES)
        client->counts[client->ranges++] = e->num_instr_range;
    return OCSD_RESP_CONT;
}

static uint32_t read_code(const void *context, const ocsd_vaddr_t addr, const ocsd_mem_space_acc_t space,
                          const uint8_t id, const uint32_t size, uint8_t *bytes)
{
    struct client *client = (struct client *)context;
    (void)space;
    (void)id;
    client->early += client->context == 0;
    client->calls++;
    const bool is_short = client->context == 2 || client->short_before;
    const uint8_t *code = (const uint8_t *)(client->code ? client->code : is_short ? short_code : long_code);
    const uint64_t there = client->code ? client->code_size : is_short ? sizeof short_code : sizeof long_code;
    const uint64_t at = addr - (client->addr ? client->addr : ADDRESS);
    if (at >= there)
        return 0;
    const uint32_t n = there - at < size ? (uint32_t)(there - at) : size;
    memcpy(bytes, code + at, n);
    return n;
}

static dcd_tree_handle_t make_tree(const struct library *l, struct client *client)
{
    const ocsd_etmv4_cfg config = {.reg_idr0 = 0x28000ea1,
                                   .reg_idr1 = 0x4100f424,
                                   .reg_idr2 = 0x10001088,
                                   .reg_configr = 0x41,
                                   .reg_traceidr = 0x10,
                                   .arch_ver = ARCH_V8,
                                   .core_prof = profile_CortexA};
    unsigned char id;
    dcd_tree_handle_t tree = l->ocsd_create_dcd_tree(OCSD_TRC_SRC_SINGLE, 0);
    if (!tree || (!l->ocsd_dt_create_decoder(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_FULL_DECODER,
                                             &config, &id) &&
                  !l->ocsd_dt_add_callback_trcid_mem_acc(tree, 0, UINT64_MAX / 2, OCSD_MEM_SPACE_ANY,
                                                         read_code, client) &&
                  !l->ocsd_dt_set_gen_elem_outfn(tree, take, client)))
        return tree;
    l->ocsd_destroy_dcd_tree(tree);
    return NULL;
}

/* Adds an address with context ID `context`, and an atom for the code there. */
static size_t add_run_at(uint8_t *trace, uint32_t addr, uint8_t context)
{
    /* I_ADDR_CTXT_L_32IS0, AArch64 EL0 non-secure, with a context ID; I_ATOM_F1 E */
    const uint8_t packets[] = {0x82,
                               addr >> 2 & 0x7f,
                               addr >> 9 & 0x7f,
                               (uint8_t)(addr >> 16),
                               (uint8_t)(addr >> 24),
                               0xb0,
                               context,
                               0,
                               0,
                               0,
                               0xf7};
    memcpy(trace, packets, sizeof packets);
    return sizeof packets;
}

static size_t add_run(uint8_t *trace, uint8_t context)
{
    return add_run_at(trace, ADDRESS, context);
}

static const uint8_t head[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x01, 0x00, 0x04};

/* Checks two contexts in one call, each of them twice. */
static bool contexts_differ(const struct library *l)
{
    struct client client = {0};
    uint8_t trace[128];
    uint32_t done = 0;
    size_t size = sizeof head;
    dcd_tree_handle_t tree = make_tree(l, &client);
    memcpy(trace, head, sizeof head);
    for (uint8_t i = 0; i < 4; i++)
        size += add_run(trace + size, (uint8_t)(1 + i % 2));
    if (tree)
        l->ocsd_dt_process_data(tree, OCSD_OP_DATA, 0, (uint32_t)size, trace, &done);
    l->ocsd_destroy_dcd_tree(tree);
    printf("# %u ranges of %u %u %u %u instructions, %u early\n", client.ranges, client.counts[0],
           client.counts[1], client.counts[2], client.counts[3], client.early);
    return done == size && client.ranges == 4 && !client.early && client.counts[0] == 3 &&
           client.counts[1] == 2 && client.counts[2] == 3 && client.counts[3] == 2;
}

static void to_short_code(struct client *client)
{
    client->short_before = true;
}

static void to_other_page(struct client *client)
{
    client->code = other_wide_code;
}

/* Runs code of one context in two calls, and changes the code in between. Returns whether there was a range
 * of `first` instructions and one of `second`. */
static bool runs_change(const struct library *l, struct client *client, void (*change)(struct client *client),
                        uint32_t first, uint32_t second)
{
    uint8_t trace[128];
    uint32_t done = 0;
    const uint32_t addr = client->addr ? (uint32_t)client->addr : ADDRESS;
    dcd_tree_handle_t tree = make_tree(l, client);
    memcpy(trace, head, sizeof head);
    const size_t part = sizeof head + add_run_at(trace + sizeof head, addr, 1);
    const size_t size = part + add_run_at(trace + part, addr, 1);
    if (tree)
        l->ocsd_dt_process_data(tree, OCSD_OP_DATA, 0, (uint32_t)part, trace, &done);
    change(client);
    if (tree)
        l->ocsd_dt_process_data(tree, OCSD_OP_DATA, (ocsd_trc_index_t)part, (uint32_t)(size - part),
                                trace + part, &done);
    l->ocsd_destroy_dcd_tree(tree);
    printf("# %u ranges of %u %u instructions\n", client->ranges, client->counts[0], client->counts[1]);
    return client->ranges == 2 && client->counts[0] == first && client->counts[1] == second;
}

static bool memory_changes(const struct library *l)
{
    return runs_change(l, &(struct client){0}, to_short_code, 3, 2);
}

/* Checks code across two pages of memory, of which the second one changes. There is no memory before its
 * first instruction. */
static bool second_page_changes(const struct library *l)
{
    struct client client = {.addr = ADDRESS + BORDER - 8, .code = wide_code, .code_size = sizeof wide_code};
    return runs_change(l, &client, to_other_page, 4, 3);
}

/* Checks memory that begins at a page border in one call, while in another call the page is missing. */
static bool page_comes(const struct library *l)
{
    struct client client = {.addr = ADDRESS, .code = wide_code};
    uint8_t trace[128];
    uint32_t done = 0;
    dcd_tree_handle_t tree = make_tree(l, &client);
    memcpy(trace, head, sizeof head);
    size_t size = sizeof head;
    for (unsigned i = 0; tree && i < 4; i++) {
        const size_t before = i ? size : 0;
        client.code_size = i % 2 ? sizeof wide_code : 0;
        size += add_run_at(trace + size, (uint32_t)client.addr, 1);
        l->ocsd_dt_process_data(tree, OCSD_OP_DATA, (ocsd_trc_index_t)before, (uint32_t)(size - before),
                                trace + before, &done);
    }
    l->ocsd_destroy_dcd_tree(tree);
    printf("# %u ranges of %u %u instructions\n", client.ranges, client.counts[0], client.counts[1]);
    return client.ranges == 2 && client.counts[0] == 4 && client.counts[1] == 4;
}

/* Checks that the library asks for a page once per call, when its code runs from branch to branch in it. */
static bool page_is_asked_once(const struct library *l)
{
    static uint32_t branches[BORDER / 4];
    struct client client = {.code = branches, .code_size = sizeof branches};
    uint8_t trace[sizeof head + 2048];
    uint32_t done = 0;
    unsigned calls[3] = {0};
    for (size_t i = 0; i < BORDER / 4; i++)
        branches[i] = 0x14000001;          /* B to the next one */
    branches[BORDER / 4 - 1] = 0x17ffff01; /* B to the first one */
    dcd_tree_handle_t tree = make_tree(l, &client);
    memcpy(trace, head, sizeof head);
    size_t size = sizeof head + add_run(trace + sizeof head, 1);
    for (unsigned i = 0; tree && i < 3; i++) {
        const size_t before = i ? size : 0;
        const unsigned asked = client.calls;
        memset(trace + size, 0xf7, 400);
        size += 400;
        l->ocsd_dt_process_data(tree, OCSD_OP_DATA, (ocsd_trc_index_t)before, (uint32_t)(size - before),
                                trace + before, &done);
        calls[i] = client.calls - asked;
    }
    l->ocsd_destroy_dcd_tree(tree);
    printf("# %u ranges, asked %u, %u, %u times\n", client.total, calls[0], calls[1], calls[2]);
    return client.total == 1201 && calls[0] <= 1 && calls[1] <= 1 && calls[2] <= 1;
}

/* Decodes code of many contexts. Returns whether the library reported success; the output must be complete
 * then, and incomplete otherwise. */
static bool decode(const struct library *l, struct client *client)
{
    static uint8_t trace[1 << 12];
    uint32_t done = 0;
    size_t size = sizeof head;
    memcpy(trace, head, sizeof head);
    for (uint8_t i = 0; i < 200; i++)
        size += add_run(trace + size, (uint8_t)(1 + i % 50));
    dcd_tree_handle_t tree = make_tree(l, client);
    if (!tree)
        return false;
    const bool fine =
        !l->ocsd_dt_add_buffer_mem_acc(tree, UINT64_C(1) << 63, OCSD_MEM_SPACE_ANY, head, sizeof head - 1) &&
        l->ocsd_dt_process_data(tree, OCSD_OP_DATA, 0, (uint32_t)size, trace, &done) == OCSD_RESP_CONT &&
        l->ocsd_dt_process_data(tree, OCSD_OP_EOT, 0, 0, NULL, NULL) == OCSD_RESP_CONT;
    l->ocsd_destroy_dcd_tree(tree);
    return fine;
}

/* Decodes the start of a trace of another protocol, which makes some elements. */
static void decode_other(const struct library *l, const char *name, const void *config, struct client *client)
{
    static const uint8_t trace[] = {0, 0, 0, 0, 0, 0x80, 0x08, 0, 0x10, 0, 0, 0x21, 0x84, 0x66};
    uint32_t done = 0;
    unsigned char id;
    dcd_tree_handle_t tree = l->ocsd_create_dcd_tree(OCSD_TRC_SRC_SINGLE, 0);
    if (!tree)
        return;
    if (!l->ocsd_dt_create_decoder(tree, name, OCSD_CREATE_FLG_FULL_DECODER, config, &id) &&
        !l->ocsd_dt_add_callback_trcid_mem_acc(tree, 0, UINT64_MAX / 2, OCSD_MEM_SPACE_ANY, read_code,
                                               client) &&
        !l->ocsd_dt_set_gen_elem_outfn(tree, take, client)) {
        l->ocsd_dt_process_data(tree, OCSD_OP_DATA, 0, sizeof trace, trace, &done);
        l->ocsd_dt_process_data(tree, OCSD_OP_EOT, 0, 0, NULL, NULL);
    }
    l->ocsd_destroy_dcd_tree(tree);
}

/* Decodes with each protocol. Returns the result of `decode`. */
static bool decode_all(const struct library *l, struct client *client)
{
    static const ocsd_ptm_cfg ptm = {.reg_trc_id = 0x10};
    static const ocsd_etmv3_cfg etm3 = {.reg_trc_id = 0x10};
    static const ocsd_stm_cfg stm = {.reg_tcsr = 0x100000};
    static const uint32_t itm = 0x100000; /* ITM_TCR, the only register of its configuration */
    struct client other = {0};
    decode_other(l, OCSD_BUILTIN_DCD_PTM, &ptm, &other);
    decode_other(l, OCSD_BUILTIN_DCD_ETMV3, &etm3, &other);
    decode_other(l, OCSD_BUILTIN_DCD_STM, &stm, &other);
    decode_other(l, "ITM", &itm, &other);
    return decode(l, client);
}

/* Checks that each allocation may fail. */
static bool allocations_fail(const struct library *l)
{
    struct client all = {0};
    long left;
    bool fine, good;
    failing_begin(-1);
    fine = decode_all(l, &all);
    const long count = failing_end(&left);
    good = fine && !left && all.total == 200;
    for (long i = 0; i < count; i++) {
        struct client client = {0};
        failing_begin(i);
        fine = decode_all(l, &client);
        failing_end(&left);
        if (left || (fine && client.total != all.total) || client.total > all.total) {
            printf("# allocation %ld fails: %ld left, %s, %u ranges\n", i, left,
                   fine ? "all is fine" : "an error", client.total);
            good = false;
        }
    }
    printf("# %ld allocations, %u ranges\n", count, all.total);
    return good && count > 0;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        bool (*test)(const struct library *l);
    } tests[] = {{"code of two contexts at one address", contexts_differ},
                 {"memory that changes between two calls", memory_changes},
                 {"the second page of code that changes", second_page_changes},
                 {"memory that comes and goes", page_comes},
                 {"a page of code is asked for once", page_is_asked_once},
                 {"allocations that fail", allocations_fail}};
    struct library library;
    int failed = 0;
    if (argc < 2 || library_load(argv[1], &library))
        return 2;
    printf("TAP version 13\n1..%zu\n", sizeof tests / sizeof *tests);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        const bool fine = tests[i].test(&library);
        printf("%sok %zu - %s\n", fine ? "" : "not ", i + 1, tests[i].name);
        failed |= !fine;
    }
    return failed;
}
