/* SPDX-License-Identifier: Apache-2.0 */
/* Outputs for packets: callbacks, monitors and printers, and printers of elements and frames. */
#include "opencsd/api/api.h"

static ocsd_datapath_resp_t take(const void *context, const ocsd_datapath_op_t op,
                                 const ocsd_trc_index_t index, const void *packet)
{
    char text[256] = "";
    if (packet)
        ocsd_pkt_str(OCSD_PROTOCOL_ETMV4I, packet, text, sizeof text);
    printf("sink %s: operation %d at %u: %s\n", (const char *)context, (int)op, index, text);
    return OCSD_RESP_CONT;
}

static void see(const void *context, const ocsd_datapath_op_t op, const ocsd_trc_index_t index,
                const void *packet, const uint32_t size, const uint8_t *bytes)
{
    char text[256] = "";
    if (packet)
        ocsd_pkt_str(OCSD_PROTOCOL_ETMV4I, packet, text, sizeof text);
    printf("monitor %s: operation %d at %u: %s, %u bytes", (const char *)context, (int)op, index, text, size);
    for (uint32_t i = 0; bytes && i < size; i++)
        printf(" %02x", bytes[i]);
    printf("\n");
}

#define SINK(tree, id, context)                                                                              \
    SHOW(ocsd_dt_attach_packet_callback(tree, id, OCSD_C_API_CB_PKT_SINK, (void *)take, context))
#define MONITOR(tree, id, context)                                                                           \
    SHOW(ocsd_dt_attach_packet_callback(tree, id, OCSD_C_API_CB_PKT_MON, (void *)see, context))

/* Passes trace and each of the other operations to a tree. */
static void work(dcd_tree_handle_t tree)
{
    feed(tree);
    give(tree, OCSD_OP_FLUSH, 0, NULL, 0);
    give(tree, OCSD_OP_RESET, 0, NULL, 0);
    feed(tree);
    ocsd_destroy_dcd_tree(tree);
}

static void attach(void)
{
    dcd_tree_handle_t tree = single_tree();
    MONITOR(tree, TRACE_ID, "nowhere");
    add_decoder(tree, OCSD_CREATE_FLG_PACKET_PROC);
    SINK(tree, TRACE_ID, "first");
    SINK(tree, TRACE_ID, "second");
    MONITOR(tree, TRACE_ID, "first");
    MONITOR(tree, 0x33, "second");
    SHOW(ocsd_dt_attach_packet_callback(tree, TRACE_ID, (ocsd_c_api_cb_types)7, (void *)see, "x"));
    work(tree);
    tree = framed_tree();
    MONITOR(tree, TRACE_ID, "nowhere");
    add_decoder(tree, OCSD_CREATE_FLG_PACKET_PROC);
    MONITOR(tree, 0x33, "nowhere");
    MONITOR(tree, TRACE_ID, "framed");
    ocsd_destroy_dcd_tree(tree);
    print_last_error();
}

static void attach_to_decoder(void)
{
    dcd_tree_handle_t tree = single_tree();
    add_decoder(tree, OCSD_CREATE_FLG_FULL_DECODER);
    SINK(tree, TRACE_ID, "none");
    MONITOR(tree, TRACE_ID, "of a decoder");
    SHOW(ocsd_dt_set_gen_elem_outfn(tree, print_element, NULL));
    work(tree);
}

/* Prints where packets of any protocol are. */
static void see_place(const void *context, const ocsd_datapath_op_t op, const ocsd_trc_index_t index,
                      const void *packet, const uint32_t size, const uint8_t *bytes)
{
    (void)context;
    (void)packet;
    (void)bytes;
    printf("monitor: operation %d at %u, %u bytes\n", (int)op, index, size);
}

/* Shows that the last element of an STM comes before the operation that ends its trace. */
static void attach_to_stm(void)
{
    static const ocsd_stm_cfg config = {.reg_tcsr = TRACE_ID << 16};
    static const uint8_t trace[] = {0x12, 0x34, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                    0xff, 0xff, 0xff, 0x0f, 0x0f, 0x30, 0x44, 0x02};
    unsigned char id;
    dcd_tree_handle_t tree = single_tree();
    SHOW(ocsd_dt_create_decoder(tree, OCSD_BUILTIN_DCD_STM, OCSD_CREATE_FLG_FULL_DECODER, &config, &id));
    SHOW(ocsd_dt_attach_packet_callback(tree, id, OCSD_C_API_CB_PKT_MON, (void *)see_place, NULL));
    SHOW(ocsd_dt_set_gen_elem_outfn(tree, print_element, NULL));
    give(tree, OCSD_OP_DATA, 0, trace, sizeof trace);
    give(tree, OCSD_OP_FLUSH, 0, NULL, 0);
    give(tree, OCSD_OP_EOT, 0, NULL, 0);
    give(tree, OCSD_OP_RESET, 0, NULL, 0);
    ocsd_destroy_dcd_tree(tree);
}

static void attach_before_output(void)
{
    dcd_tree_handle_t tree = single_tree();
    add_decoder(tree, OCSD_CREATE_FLG_FULL_DECODER);
    MONITOR(tree, TRACE_ID, "alone");
    work(tree);
}

static void print_packets(void)
{
    for (int flags = OCSD_CREATE_FLG_PACKET_PROC; flags <= OCSD_CREATE_FLG_FULL_DECODER; flags++)
        for (int monitor = 0; monitor < 3; monitor++) {
            dcd_tree_handle_t tree = single_tree();
            printf("flags %d, monitor %d\n", flags, monitor);
            SHOW(ocsd_dt_set_pkt_protocol_printer(tree, TRACE_ID, monitor));
            add_decoder(tree, flags);
            SHOW(ocsd_dt_set_pkt_protocol_printer(tree, TRACE_ID, monitor));
            SHOW(ocsd_dt_set_pkt_protocol_printer(tree, TRACE_ID, monitor));
            SHOW(ocsd_dt_set_pkt_protocol_printer(tree, 0x33, monitor));
            SHOW(ocsd_dt_set_gen_elem_outfn(tree, print_element, NULL));
            work(tree);
        }
    SHOW(ocsd_dt_set_pkt_protocol_printer(NULL, TRACE_ID, 0));
    SHOW(ocsd_dt_set_pkt_protocol_printer(framed_tree(), 5, 0));
}

static void print_both(void)
{
    dcd_tree_handle_t tree = single_tree();
    add_decoder(tree, OCSD_CREATE_FLG_PACKET_PROC);
    SHOW(ocsd_dt_set_pkt_protocol_printer(tree, TRACE_ID, 1));
    SHOW(ocsd_dt_set_pkt_protocol_printer(tree, TRACE_ID, 0));
    work(tree);
    tree = single_tree();
    add_decoder(tree, OCSD_CREATE_FLG_PACKET_PROC);
    SHOW(ocsd_dt_set_pkt_protocol_printer(tree, TRACE_ID, 0));
    SINK(tree, TRACE_ID, "behind the printer");
    MONITOR(tree, TRACE_ID, "before the printer");
    SHOW(ocsd_dt_set_pkt_protocol_printer(tree, TRACE_ID, 1));
    work(tree);
    tree = single_tree();
    add_decoder(tree, OCSD_CREATE_FLG_PACKET_PROC);
    SHOW(ocsd_dt_set_pkt_protocol_printer(tree, TRACE_ID, 1));
    MONITOR(tree, TRACE_ID, "behind the printer");
    work(tree);
}

static void print_elements(void)
{
    dcd_tree_handle_t tree = single_tree();
    SHOW(ocsd_dt_set_gen_elem_printer(NULL));
    add_decoder(tree, OCSD_CREATE_FLG_FULL_DECODER);
    SHOW(ocsd_dt_set_gen_elem_outfn(tree, print_element, NULL));
    SHOW(ocsd_dt_set_gen_elem_printer(tree));
    SHOW(ocsd_dt_set_gen_elem_printer(tree));
    SHOW(ocsd_dt_set_pkt_protocol_printer(tree, TRACE_ID, 1));
    work(tree);
    tree = single_tree();
    add_decoder(tree, OCSD_CREATE_FLG_FULL_DECODER);
    SHOW(ocsd_dt_set_gen_elem_printer(tree));
    SHOW(ocsd_dt_set_gen_elem_outfn(tree, print_element, NULL));
    work(tree);
    tree = single_tree();
    SHOW(ocsd_dt_set_gen_elem_printer(tree));
    add_decoder(tree, OCSD_CREATE_FLG_FULL_DECODER);
    work(tree);
}

static void print_frames(void)
{
    static const uint8_t frames[32] = {0x21, 1, 2, 3, 0x43, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 0,
                                       0x02, 1, 2, 3, 0x04, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 0};
    SHOW(ocsd_dt_set_raw_frame_printer(NULL, OCSD_DFRMTR_PACKED_RAW_OUT));
    for (uint32_t made = 0; made < 32; made += 8)
        for (int set = -8; set < 32; set += 8) {
            framed_tree();
            dcd_tree_handle_t tree =
                ocsd_create_dcd_tree(OCSD_TRC_SRC_FRAME_FORMATTED, OCSD_DFRMTR_FRAME_MEM_ALIGN | made);
            printf("made with %u, set %d\n", made, set);
            if (set >= 0)
                SHOW(ocsd_dt_set_raw_frame_printer(tree, set));
            give(tree, OCSD_OP_DATA, 0, frames, sizeof frames);
            give(tree, OCSD_OP_RESET, 0, NULL, 0);
            if (set >= 0)
                SHOW(ocsd_dt_set_raw_frame_printer(tree, 8));
            give(tree, OCSD_OP_DATA, 0, frames, sizeof frames);
        }
}

const struct program packet_programs[] = {
    {"ocsd_dt_attach_packet_callback", attach},
    {"ocsd_dt_attach_packet_callback, a decoder", attach_to_decoder},
    {"ocsd_dt_attach_packet_callback, an STM", attach_to_stm},
    {"ocsd_dt_attach_packet_callback, no output", attach_before_output},
    {"ocsd_dt_set_pkt_protocol_printer", print_packets},
    {"ocsd_dt_set_pkt_protocol_printer, and callbacks", print_both},
    {"ocsd_dt_set_gen_elem_printer", print_elements},
    {"ocsd_dt_set_raw_frame_printer", print_frames},
    {NULL, NULL},
};
