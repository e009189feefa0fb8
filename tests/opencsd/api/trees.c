/* SPDX-License-Identifier: Apache-2.0 */
/* Trees: which flags create what, what they do with data and other operations, and where elements go. */
#include <string.h>

#include "opencsd/api/api.h"

static void create(void)
{
    single_tree();
    for (uint32_t flags = 0; flags < 0x90; flags++) {
        const uint32_t layout = flags & 7;
        if (layout == 4 || layout > 4 || !(flags & 0x3f) || flags & ~UINT32_C(0x3f)) {
            const int made = ocsd_create_dcd_tree(OCSD_TRC_SRC_FRAME_FORMATTED, flags) != NULL;
            printf("frames with %02x: %d\n", flags, made);
        }
        if (!ocsd_create_dcd_tree(OCSD_TRC_SRC_SINGLE, flags))
            printf("no frames with %02x: none\n", flags);
    }
    print_last_error();
}

static void destroy(void)
{
    dcd_tree_handle_t tree = single_tree();
    dcd_tree_handle_t other = single_tree();
    add_decoder(tree, OCSD_CREATE_FLG_FULL_DECODER);
    add_decoder(other, OCSD_CREATE_FLG_FULL_DECODER);
    SHOW(ocsd_dt_set_gen_elem_outfn(tree, print_element, NULL));
    SHOW(ocsd_dt_set_gen_elem_outfn(other, print_element, NULL));
    ocsd_destroy_dcd_tree(NULL);
    ocsd_destroy_dcd_tree(tree);
    feed(other);
    ocsd_destroy_dcd_tree(other);
}

static void process_without_decoder(void)
{
    uint32_t used = 77;
    dcd_tree_handle_t tree = single_tree();
    SHOW(ocsd_dt_process_data(NULL, OCSD_OP_DATA, 0, 1, etm4_trace, &used));
    give(tree, OCSD_OP_DATA, 0, etm4_trace, sizeof etm4_trace);
    print_last_error();
}

static void process(void)
{
    uint32_t used = 77;
    dcd_tree_handle_t tree = single_tree();
    add_decoder(tree, OCSD_CREATE_FLG_FULL_DECODER);
    SHOW(ocsd_dt_set_gen_elem_outfn(tree, print_element, NULL));
    give(tree, OCSD_OP_DATA, 0, NULL, 4);
    give(tree, OCSD_OP_DATA, 0, etm4_trace, 0);
    SHOW(ocsd_dt_process_data(tree, OCSD_OP_DATA, 0, 4, etm4_trace, NULL));
    give(tree, (ocsd_datapath_op_t)9, 0, NULL, 0);
    give(tree, OCSD_OP_FLUSH, 0, NULL, 0);
    feed(tree);
    give(tree, OCSD_OP_EOT, 0, NULL, 0);
    feed(tree);
    give(tree, OCSD_OP_FLUSH, 0, NULL, 0);
    give(tree, OCSD_OP_RESET, 0, NULL, 0);
    feed(tree);
    SHOW(ocsd_dt_process_data(tree, OCSD_OP_RESET, 0, 0, NULL, NULL));
    for (uint32_t i = 0; i < sizeof etm4_trace; i++)
        give(tree, OCSD_OP_DATA, 1000 + i, etm4_trace + i, 1);
    SHOW(ocsd_dt_process_data(tree, OCSD_OP_EOT, 0, 0, NULL, &used));
    print_last_error();
}

static void process_frames(void)
{
    /* IDs 0x10 and 0x21, then a frame that continues the second */
    static const uint8_t frames[32] = {0x21, 1, 2, 3, 0x43, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 0,
                                       0x02, 1, 2, 3, 0x04, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 0};
    dcd_tree_handle_t tree = framed_tree();
    give(tree, OCSD_OP_EOT, 0, NULL, 0);
    give(tree, OCSD_OP_DATA, 0, frames, 32);
    give(tree, OCSD_OP_DATA, 32, frames, 15);
    give(tree, OCSD_OP_DATA, 32, frames, 16);
    give(tree, OCSD_OP_DATA, 100, frames, 16);
    give(tree, OCSD_OP_DATA, 48, NULL, 16);
    give(tree, OCSD_OP_DATA, 48, frames, 0);
    give(tree, OCSD_OP_RESET, 0, NULL, 0);
    give(tree, OCSD_OP_DATA, 100, frames, 16);
    give(tree, OCSD_OP_FLUSH, 0, NULL, 0);
    give(tree, (ocsd_datapath_op_t)9, 0, NULL, 0);
    print_last_error();
}

/* ---- answers of the client ---- */

static ocsd_datapath_resp_t answer;

static ocsd_datapath_resp_t answer_element(const void *context, const ocsd_trc_index_t index,
                                           const uint8_t id, const ocsd_generic_trace_elem *e)
{
    print_element(context, index, id, e);
    return answer;
}

static void process_with_answers(void)
{
    for (answer = OCSD_RESP_CONT; answer <= OCSD_RESP_FATAL_SYS_ERR; answer++) {
        dcd_tree_handle_t tree = single_tree();
        add_decoder(tree, OCSD_CREATE_FLG_FULL_DECODER);
        SHOW(ocsd_dt_set_gen_elem_outfn(tree, answer_element, NULL));
        printf("answer %d\n", (int)answer);
        give(tree, OCSD_OP_DATA, 0, etm4_trace, sizeof etm4_trace);
        if (!OCSD_DATA_RESP_IS_FATAL(answer))
            for (int i = 0; i < 6; i++)
                give(tree, OCSD_OP_FLUSH, 0, NULL, 0);
        ocsd_destroy_dcd_tree(tree);
    }
}

/* Shows an atom without memory behind other atoms: the atom after it makes no element. */
static void process_with_answers_before(void)
{
    static const uint8_t more[] = {0x9d, 0, 0, 0x50, 0, 0, 0, 0, 0, 0xf7, 0xf7};
    uint8_t trace[sizeof etm4_trace + sizeof more];
    memcpy(trace, etm4_trace, sizeof etm4_trace);
    memcpy(trace + sizeof etm4_trace, more, sizeof more);
    for (answer = OCSD_RESP_CONT; answer <= OCSD_RESP_ERR_CONT; answer++) {
        dcd_tree_handle_t tree = single_tree();
        add_decoder(tree, OCSD_CREATE_FLG_FULL_DECODER);
        SHOW(ocsd_dt_set_gen_elem_outfn(tree, answer_element, NULL));
        give(tree, OCSD_OP_DATA, 0, trace, sizeof trace);
        ocsd_destroy_dcd_tree(tree);
    }
}

/* ---- elements ---- */

static void set_outfn(void)
{
    dcd_tree_handle_t tree = single_tree();
    add_decoder(tree, OCSD_CREATE_FLG_FULL_DECODER);
    SHOW(ocsd_dt_set_gen_elem_outfn(tree, print_element, " one"));
    SHOW(ocsd_dt_set_gen_elem_outfn(tree, print_element, " two"));
    feed(tree);
}

static void set_outfn_before(void)
{
    dcd_tree_handle_t tree = single_tree();
    SHOW(ocsd_dt_set_gen_elem_outfn(tree, print_element, NULL));
    add_decoder(tree, OCSD_CREATE_FLG_FULL_DECODER);
    give(tree, OCSD_OP_FLUSH, 0, NULL, 0);
    give(tree, OCSD_OP_RESET, 0, NULL, 0);
    feed(tree);
    print_last_error();
}

static void set_no_memory(void)
{
    unsigned char id;
    dcd_tree_handle_t tree = single_tree();
    SHOW(ocsd_dt_create_decoder(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_FULL_DECODER, &etm4_config,
                                &id));
    SHOW(ocsd_dt_set_gen_elem_outfn(tree, print_element, NULL));
    feed(tree);
    SHOW(ocsd_dt_add_buffer_mem_acc(tree, CODE, OCSD_MEM_SPACE_ANY, code, 2));
    give(tree, OCSD_OP_RESET, 0, NULL, 0);
    feed(tree);
}

static void set_outfn_of_packets(void)
{
    dcd_tree_handle_t tree = single_tree();
    add_decoder(tree, OCSD_CREATE_FLG_PACKET_PROC);
    SHOW(ocsd_dt_set_gen_elem_outfn(tree, print_element, NULL));
    feed(tree);
}

const struct program tree_programs[] = {
    {"ocsd_create_dcd_tree", create},
    {"ocsd_destroy_dcd_tree", destroy},
    {"ocsd_dt_process_data", process},
    {"ocsd_dt_process_data, no decoder", process_without_decoder},
    {"ocsd_dt_process_data, frames", process_frames},
    {"ocsd_dt_process_data, answers", process_with_answers},
    {"ocsd_dt_process_data, answers before the end", process_with_answers_before},
    {"ocsd_dt_set_gen_elem_outfn", set_outfn},
    {"ocsd_dt_set_gen_elem_outfn, before the decoder", set_outfn_before},
    {"ocsd_dt_set_gen_elem_outfn, no memory", set_no_memory},
    {"ocsd_dt_set_gen_elem_outfn, packets alone", set_outfn_of_packets},
    {NULL, NULL},
};
