/* SPDX-License-Identifier: Apache-2.0 */
/* Invalid arguments, each in a process of its own, because 1.3.3 crashes at many of them. */
#include <sys/wait.h>
#include <unistd.h>

#include "opencsd/api/api.h"

/* Prints the last error and ends the process of a call. */
static void end_call(void)
{
    ocsd_trc_index_t index = 1;
    uint8_t id = 1;
    char text[256] = "";
    const int err = (int)ocsd_get_last_err(&index, &id, text, sizeof text);
    printf("; last error %d at %u of %02x: %s\n", err, index, id, text);
    fflush(stdout);
    _exit(0);
}

/* Starts a process for a call, which end_call is to end. Returns 1 in that process. Its output follows a line
 * with the call; a line "crashes" comes last when the process crashed. api.py relies on that. */
static int is_child(const char *what)
{
    int status;
    printf("> %s\n", what);
    fflush(stdout);
    const pid_t child = fork();
    if (child > 0 && waitpid(child, &status, 0) == child && !(WIFEXITED(status) && WEXITSTATUS(status) == 0))
        printf("crashes\n");
    if (!child && !freopen("/dev/null", "w", stderr)) /* there OpenCSD writes why it aborts */
        _exit(1);
    return child == 0;
}

/* Makes a call in a process of its own: with a result, or without. */
#define ALONE(call)                                                                                          \
    if (is_child(#call)) {                                                                                   \
        printf("%lld", (long long)(call));                                                                   \
        end_call();                                                                                          \
    }
#define ALONE_VOID(call)                                                                                     \
    if (is_child(#call)) {                                                                                   \
        call;                                                                                                \
        end_call();                                                                                          \
    }

static ocsd_datapath_resp_t take_packet(const void *context, const ocsd_datapath_op_t op,
                                        const ocsd_trc_index_t index, const void *packet)
{
    (void)context, (void)op, (void)index, (void)packet;
    return OCSD_RESP_CONT;
}

static void trees(void)
{
    uint32_t used = 77;
    dcd_tree_handle_t tree = single_tree();
    ALONE(ocsd_create_dcd_tree((ocsd_dcd_tree_src_t)7, 1) != NULL);
    ALONE(ocsd_create_dcd_tree(OCSD_TRC_SRC_FRAME_FORMATTED, UINT32_MAX) != NULL);
    ALONE_VOID(ocsd_destroy_dcd_tree(NULL));
    ALONE(ocsd_dt_process_data(NULL, OCSD_OP_EOT, 0, 0, NULL, NULL));
    ALONE(ocsd_dt_process_data(tree, OCSD_OP_EOT, 0, 0, NULL, NULL));
    ALONE(ocsd_dt_process_data(tree, OCSD_OP_RESET, 0, 0, NULL, NULL));
    ALONE(ocsd_dt_process_data(tree, OCSD_OP_DATA, 0, 4, code, NULL));
    ALONE(ocsd_dt_process_data(tree, OCSD_OP_DATA, 0, 4, NULL, &used));
    ALONE(ocsd_dt_process_data(tree, (ocsd_datapath_op_t)-1, 0, 4, code, &used));
    ALONE(ocsd_dt_set_gen_elem_outfn(NULL, print_element, NULL));
    ALONE(ocsd_dt_set_gen_elem_outfn(tree, NULL, NULL));
    ALONE(ocsd_dt_set_gen_elem_printer(NULL));
    ALONE(ocsd_dt_set_raw_frame_printer(NULL, 8));
    ALONE(ocsd_dt_set_raw_frame_printer(tree, 8));
    ALONE(ocsd_dt_set_raw_frame_printer(framed_tree(), -1));
}

static void no_elements_out(void)
{
    dcd_tree_handle_t tree = single_tree();
    add_decoder(tree, OCSD_CREATE_FLG_FULL_DECODER);
    SHOW(ocsd_dt_set_gen_elem_outfn(tree, NULL, NULL));
    ALONE_VOID(feed(tree));
}

static void decoders(void)
{
    unsigned char id;
    dcd_tree_handle_t tree = single_tree();
    const int full = OCSD_CREATE_FLG_FULL_DECODER;
    ALONE(ocsd_dt_create_decoder(NULL, OCSD_BUILTIN_DCD_ETMV4I, full, &etm4_config, &id));
    ALONE(ocsd_dt_create_decoder(tree, NULL, full, &etm4_config, &id));
    ALONE(ocsd_dt_create_decoder(tree, OCSD_BUILTIN_DCD_ETMV4I, full, NULL, &id));
    ALONE(ocsd_dt_create_decoder(tree, OCSD_BUILTIN_DCD_ETE, full, NULL, &id));
    ALONE(ocsd_dt_create_decoder(tree, OCSD_BUILTIN_DCD_PTM, full, NULL, &id));
    ALONE(ocsd_dt_create_decoder(tree, OCSD_BUILTIN_DCD_ETMV3, full, NULL, &id));
    ALONE(ocsd_dt_create_decoder(tree, OCSD_BUILTIN_DCD_STM, full, NULL, &id));
    ALONE(ocsd_dt_create_decoder(tree, OCSD_BUILTIN_DCD_ETMV4I, full, &etm4_config, NULL));
    ALONE(ocsd_dt_create_decoder(tree, "NOBODY", full, NULL, NULL));
    ALONE(ocsd_dt_create_decoder(tree, OCSD_BUILTIN_DCD_ETMV4I, -1, &etm4_config, &id));
    ALONE(ocsd_dt_remove_decoder(NULL, TRACE_ID));
    ALONE(ocsd_dt_remove_decoder(tree, TRACE_ID));
    ALONE(ocsd_register_custom_decoder(NULL, NULL));
    ALONE(ocsd_register_custom_decoder("A", NULL));
    ALONE(ocsd_register_custom_decoder(NULL, &(ocsd_extern_dcd_fact_t){0}));
    ALONE(ocsd_register_custom_decoder("A", &(ocsd_extern_dcd_fact_t){0}));
}

static void removed_decoder(void)
{
    dcd_tree_handle_t tree = single_tree();
    add_decoder(tree, OCSD_CREATE_FLG_FULL_DECODER);
    SHOW(ocsd_dt_set_gen_elem_outfn(tree, print_element, NULL));
    feed(tree);
    SHOW(ocsd_dt_remove_decoder(tree, TRACE_ID));
    ALONE_VOID(feed(tree));
    ALONE(ocsd_dt_set_pkt_protocol_printer(tree, TRACE_ID, 1));
    ALONE(ocsd_dt_attach_packet_callback(tree, TRACE_ID, OCSD_C_API_CB_PKT_SINK, (void *)take_packet, NULL));
    ALONE_VOID((add_decoder(tree, OCSD_CREATE_FLG_FULL_DECODER), feed(tree)));
}

static void packets(void)
{
    char text[64] = "";
    static ocsd_etmv4_i_pkt packet;
    dcd_tree_handle_t tree = single_tree();
    add_decoder(tree, OCSD_CREATE_FLG_PACKET_PROC);
    ALONE(ocsd_dt_attach_packet_callback(NULL, TRACE_ID, OCSD_C_API_CB_PKT_SINK, (void *)take_packet, NULL));
    ALONE(ocsd_dt_attach_packet_callback(tree, TRACE_ID, OCSD_C_API_CB_PKT_SINK, NULL, NULL));
    ALONE(ocsd_dt_attach_packet_callback(tree, TRACE_ID, OCSD_C_API_CB_PKT_MON, NULL, NULL));
    ALONE(ocsd_dt_attach_packet_callback(tree, TRACE_ID, (ocsd_c_api_cb_types)-1, NULL, NULL));
    ALONE(ocsd_dt_attach_packet_callback(tree, 0xff, OCSD_C_API_CB_PKT_SINK, (void *)take_packet, NULL));
    ALONE(ocsd_dt_set_pkt_protocol_printer(NULL, TRACE_ID, 1));
    ALONE(ocsd_dt_set_pkt_protocol_printer(framed_tree(), 0xff, 1));
    ALONE(ocsd_pkt_str(OCSD_PROTOCOL_ETMV4I, NULL, text, sizeof text));
    ALONE(ocsd_pkt_str(OCSD_PROTOCOL_PTM, NULL, text, sizeof text));
    ALONE(ocsd_pkt_str(OCSD_PROTOCOL_ETMV3, NULL, text, sizeof text));
    ALONE(ocsd_pkt_str(OCSD_PROTOCOL_STM, NULL, text, sizeof text));
    ALONE(ocsd_pkt_str(OCSD_PROTOCOL_ETE, NULL, text, sizeof text));
    ALONE(ocsd_pkt_str((ocsd_trace_protocol_t)-1, &packet, text, sizeof text));
    ALONE(ocsd_pkt_str(OCSD_PROTOCOL_ETMV4I, &packet, NULL, 0));
    ALONE(ocsd_gen_elem_str(NULL, text, sizeof text));
    ALONE_VOID(ocsd_gen_elem_init(NULL, OCSD_GEN_TRC_ELEM_NO_SYNC));
    ALONE(ocsd_cust_protocol_to_str(OCSD_PROTOCOL_CUSTOM_0, NULL, text, sizeof text));
    ALONE(ocsd_cust_protocol_to_str(OCSD_PROTOCOL_CUSTOM_0, &packet, NULL, 64));
    ALONE(ocsd_cust_protocol_to_str(OCSD_PROTOCOL_CUSTOM_0, &packet, text, 0));
}

static void memory(void)
{
    const ocsd_file_mem_region_t region = {0, 0x1000, 0x100};
    dcd_tree_handle_t tree = single_tree();
    ALONE(ocsd_dt_add_binfile_mem_acc(tree, 0x1000, OCSD_MEM_SPACE_ANY, NULL));
    ALONE(ocsd_dt_add_binfile_mem_acc(NULL, 0x1000, OCSD_MEM_SPACE_ANY, NULL));
    ALONE(ocsd_dt_add_binfile_region_mem_acc(tree, &region, 1, OCSD_MEM_SPACE_ANY, NULL));
    ALONE(ocsd_dt_add_binfile_region_mem_acc(tree, &region, -1, OCSD_MEM_SPACE_ANY, "none"));
    ALONE_VOID((SHOW(ocsd_dt_add_binfile_region_mem_acc(tree, &region, -1, OCSD_MEM_SPACE_ANY, "/bin/sh")),
                ocsd_tl_log_mapped_mem_ranges(tree)));
    ALONE(ocsd_dt_add_buffer_mem_acc(tree, 0x1000, (ocsd_mem_space_acc_t)-1, code, sizeof code));
    ALONE(ocsd_dt_add_buffer_mem_acc(tree, 0x1000, OCSD_MEM_SPACE_ANY, code, UINT32_MAX));
    ALONE(ocsd_dt_add_callback_mem_acc(tree, 0x1000, 0x1fff, OCSD_MEM_SPACE_ANY, NULL, NULL));
    ALONE(ocsd_dt_add_callback_trcid_mem_acc(NULL, 0, 0, OCSD_MEM_SPACE_ANY, NULL, NULL));
    ALONE(ocsd_dt_remove_mem_acc(NULL, 0, OCSD_MEM_SPACE_ANY));
    ALONE(ocsd_dt_remove_mem_acc(tree, UINT64_MAX, (ocsd_mem_space_acc_t)-1));
    ALONE_VOID(ocsd_tl_log_mapped_mem_ranges(NULL));
    ALONE_VOID(ocsd_tl_log_mapped_mem_ranges(tree));
}

static void messages(void)
{
    char text[256] = "";
    ocsd_trc_index_t index;
    uint8_t id;
    single_tree();
    ocsd_create_dcd_tree(OCSD_TRC_SRC_FRAME_FORMATTED, 0);
    ALONE(ocsd_def_errlog_init((ocsd_err_severity_t)-1, 0));
    ALONE(ocsd_def_errlog_init((ocsd_err_severity_t)99, 1));
    ALONE(ocsd_def_errlog_config_output(-1, NULL));
    ALONE(ocsd_def_errlog_set_strprint_cb(NULL, NULL, NULL));
    ALONE_VOID(ocsd_def_errlog_msgout(NULL));
    ALONE_VOID(ocsd_err_str(OCSD_OK, NULL, 0));
    ALONE_VOID(ocsd_err_str(OCSD_OK, text, 0));
    ALONE_VOID(ocsd_err_str(OCSD_OK, text, -1));
    ALONE_VOID((ocsd_err_str((ocsd_err_t)100000, text, sizeof text), printf(" %s", text)));
    ALONE(ocsd_get_last_err(NULL, NULL, NULL, 0));
    ALONE(ocsd_get_last_err(&index, NULL, text, sizeof text));
    ALONE(ocsd_get_last_err(NULL, &id, text, sizeof text));
    ALONE(ocsd_get_last_err(&index, &id, NULL, 40));
    ALONE(ocsd_get_last_err(&index, &id, text, 0));
    ALONE(ocsd_get_last_err(&index, &id, text, -1));
}

static void before_any_tree(void)
{
    ocsd_trc_index_t index;
    uint8_t id;
    char text[256] = "";
    dcd_tree_handle_t tree = ocsd_create_dcd_tree(OCSD_TRC_SRC_SINGLE, 0);
    ALONE(ocsd_get_last_err(&index, &id, text, sizeof text));
    ALONE(ocsd_def_errlog_config_output(C_API_MSGLOGOUT_FLG_STDOUT, NULL));
    ALONE(ocsd_def_errlog_set_strprint_cb(tree, NULL, print_text));
    ALONE_VOID(ocsd_def_errlog_msgout("to nobody"));
    ALONE_VOID(ocsd_tl_log_mapped_mem_ranges(tree));
    ALONE(ocsd_deregister_decoders());
    ALONE(ocsd_cust_protocol_to_str(OCSD_PROTOCOL_CUSTOM_0, text, text, sizeof text));
}

static void statistics(void)
{
    ocsd_decode_stats_t *block;
    dcd_tree_handle_t tree = single_tree();
    dcd_tree_handle_t framed = framed_tree();
    ALONE(ocsd_dt_get_decode_stats(NULL, TRACE_ID, &block));
    ALONE(ocsd_dt_get_decode_stats(tree, TRACE_ID, &block));
    ALONE(ocsd_dt_reset_decode_stats(NULL, TRACE_ID));
    ALONE(ocsd_dt_reset_decode_stats(tree, TRACE_ID));
    add_decoder(tree, OCSD_CREATE_FLG_FULL_DECODER);
    add_decoder(framed, OCSD_CREATE_FLG_PACKET_PROC);
    ALONE(ocsd_dt_get_decode_stats(tree, TRACE_ID, NULL));
    ALONE(ocsd_dt_get_decode_stats(tree, TRACE_ID, &block));
    ALONE(ocsd_dt_get_decode_stats(tree, 0x33, &block));
    ALONE(ocsd_dt_get_decode_stats(framed, 0x33, &block));
    ALONE(ocsd_dt_get_decode_stats(framed, 0xff, &block));
    ALONE(ocsd_dt_reset_decode_stats(tree, 0x33));
    ALONE(ocsd_dt_reset_decode_stats(framed, 0x33));
    ALONE(ocsd_dt_reset_decode_stats(framed, 0xff));
    ALONE(ocsd_dt_reset_decode_stats(framed, TRACE_ID));
}

const struct program argument_programs[] = {
    {"arguments of trees", trees},           {"no place for elements", no_elements_out},
    {"arguments of decoders", decoders},     {"a decoder that was removed", removed_decoder},
    {"arguments of packets", packets},       {"arguments of memory", memory},
    {"arguments of messages", messages},     {"before any logger", before_any_tree},
    {"arguments of statistics", statistics}, {NULL, NULL},
};
