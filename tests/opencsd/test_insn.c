/* SPDX-License-Identifier: Apache-2.0 */
/* Checks random words as instructions: coretap's library classifies them like OpenCSD's, even where the
 * architecture leaves their meaning open. Each library is asked through a decoder of this test. CT_SEED sets
 * the seed, CT_COUNT the number of words of each kind, CT_LONG=1 the long tier.
 *
 * usage: test_insn OPENCSD CORETAP */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "opencsd/library.h"
#include "support/rng.h"

enum {
    LIBRARIES = 2,
    MOST_SHOWN = 5,
    ADDRESS = 0x400000,
};

static const struct kind {
    const char *what;
    ocsd_isa isa;
    ocsd_arch_profile_t core;
} kinds[] = {
    {"A64 of Armv8", ocsd_isa_aarch64, {ARCH_V8, profile_CortexA}},
    {"A64 of the newest cores", ocsd_isa_aarch64, {ARCH_AA64, profile_CortexA}},
    {"A32 of Armv7", ocsd_isa_arm, {ARCH_V7, profile_CortexA}},
    {"A32 of Armv8", ocsd_isa_arm, {ARCH_V8, profile_CortexA}},
    {"T32 of Armv7", ocsd_isa_thumb2, {ARCH_V7, profile_CortexA}},
    {"T32 of Armv8", ocsd_isa_thumb2, {ARCH_V8, profile_CortexA}},
    {"T32 of Armv7-M", ocsd_isa_thumb2, {ARCH_V7, profile_CortexM}},
};

enum {
    KINDS = sizeof kinds / sizeof *kinds,
};

/* Callbacks that a library offered to the decoder created last. */
static ocsd_extern_dcd_cb_fns offer;

static ocsd_datapath_resp_t take_data(const void *handle, const ocsd_datapath_op_t op,
                                      const ocsd_trc_index_t index, const uint32_t size, const uint8_t *bytes,
                                      uint32_t *used)
{
    (void)handle;
    (void)op;
    (void)index;
    (void)size;
    (void)bytes;
    (void)used;
    return OCSD_RESP_CONT;
}

static void update(const void *handle, const int flags)
{
    (void)handle;
    (void)flags;
}

static ocsd_err_t create(const int flags, const void *config, const ocsd_extern_dcd_cb_fns *callbacks,
                         ocsd_extern_dcd_inst_t *instance)
{
    static char name[] = "asker";
    (void)flags;
    (void)config;
    offer = *callbacks;
    *instance = (ocsd_extern_dcd_inst_t){take_data, update, name, name, 1};
    return OCSD_OK;
}

static ocsd_err_t destroy(const void *handle)
{
    (void)handle;
    return OCSD_OK;
}

static ocsd_err_t get_id(const void *config, unsigned char *id)
{
    (void)config;
    *id = 1;
    return OCSD_OK;
}

/* Creates a decoder in the library at `path` and copies its callbacks to *out. Returns 0, or -1. */
static int ask(const char *path, ocsd_extern_dcd_cb_fns *out)
{
    static ocsd_extern_dcd_fact_t factories[LIBRARIES];
    static unsigned count;
    ocsd_extern_dcd_fact_t *factory = &factories[count++];
    struct library l;
    unsigned char id;
    if (library_load(path, &l))
        return -1;
    *factory = (ocsd_extern_dcd_fact_t){
        .createDecoder = create, .destroyDecoder = destroy, .csidFromConfig = get_id};
    dcd_tree_handle_t tree = l.ocsd_create_dcd_tree(OCSD_TRC_SRC_SINGLE, 0);
    if (l.ocsd_register_custom_decoder("ASKER", factory) ||
        l.ocsd_dt_create_decoder(tree, "ASKER", OCSD_CREATE_FLG_FULL_DECODER, factory, &id))
        return -1;
    *out = offer;
    return 0;
}

static void decode(const ocsd_extern_dcd_cb_fns *library, const struct kind *kind, uint32_t opcode,
                   uint8_t waypoints, ocsd_instr_info *info)
{
    memset(info, 0, sizeof *info);
    info->pe_type = kind->core;
    info->isa = kind->isa;
    info->instr_addr = ADDRESS;
    info->opcode = opcode;
    info->dsb_dmb_waypoints = waypoints & 1;
    info->wfi_wfe_branch = waypoints >> 1;
    library->fn_arm_instruction_decode(library->lib_context, info);
}

static void print(const char *who, const ocsd_instr_info *info)
{
    printf("#   %s type %d.%d to %" PRIx64 " in %d, %u bytes, conditional %u, link %u, IT %u\n", who,
           (int)info->type, (int)info->sub_type, info->branch_addr, (int)info->next_isa, info->instr_size,
           info->is_conditional, info->is_link, info->thumb_it_conditions);
}

static bool is_same(const ocsd_instr_info *a, const ocsd_instr_info *b)
{
    return a->type == b->type && a->sub_type == b->sub_type && a->branch_addr == b->branch_addr &&
           a->next_isa == b->next_isa && a->instr_size == b->instr_size && a->opcode == b->opcode &&
           a->is_conditional == b->is_conditional && a->is_link == b->is_link &&
           a->thumb_it_conditions == b->thumb_it_conditions;
}

/* Returns a random word. Half of those for T32 are 32 bits wide, and some of them are an MCR to the barriers
 * in CP15, which are too rare among random words. */
static uint32_t random_word(const struct kind *kind, struct rng *rng, uint64_t number)
{
    const uint32_t word = (uint32_t)(rng_next(rng) >> 32);
    if (kind->isa != ocsd_isa_thumb2 || !(number % 2))
        return word;
    return number % 64 == 1 ? (word & 0xf0ff0000) | 0x0f00ee07
                            : (word & 0xffff0000) | 0xe800 | rng_below(rng, 0x1800);
}

/* Compares `count` words. Returns how many differ. */
static uint64_t compare(const ocsd_extern_dcd_cb_fns *libraries, const struct kind *kind, struct rng *rng,
                        uint64_t count)
{
    uint64_t differ = 0;
    for (uint64_t i = 0; i < count; i++) {
        ocsd_instr_info infos[LIBRARIES];
        const uint8_t waypoints = (uint8_t)rng_below(rng, 4);
        const uint32_t opcode = random_word(kind, rng, i);
        for (int k = 0; k < LIBRARIES; k++)
            decode(&libraries[k], kind, opcode, waypoints, &infos[k]);
        if (is_same(&infos[0], &infos[1]))
            continue;
        if (differ++ < MOST_SHOWN) {
            printf("# %s %08x\n", kind->what, opcode);
            print("OpenCSD", &infos[0]);
            print("coretap", &infos[1]);
        }
    }
    return differ;
}

int main(int argc, char **argv)
{
    ocsd_extern_dcd_cb_fns libraries[LIBRARIES];
    if (argc < 3 || ask(argv[1], &libraries[0]) || ask(argv[2], &libraries[1]))
        return 2;
    struct rng rng = {test_number("CT_SEED", 1)};
    const uint64_t count = test_count(500000, 20000000);
    int failed = 0;
    printf("TAP version 13\n1..%d\n", KINDS);
    for (int i = 0; i < KINDS; i++) {
        const uint64_t differ = compare(libraries, &kinds[i], &rng, count);
        printf("# %" PRIu64 " words, %" PRIu64 " differ\n", count, differ);
        printf("%sok %d - %s\n", differ ? "not " : "", i + 1, kinds[i].what);
        failed |= differ != 0;
    }
    return failed;
}
