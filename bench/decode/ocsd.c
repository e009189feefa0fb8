/* SPDX-License-Identifier: Apache-2.0 */
/* libopencsd on the bytes of an input. What it gives is counted and thrown away. */
#include "oracle/ocsd.h"

#include "bench.h"
#include "oracle/v7/v7_ocsd.h"

static ocsd_datapath_resp_t take_packet(const void *context, const ocsd_datapath_op_t op,
                                        const ocsd_trc_index_t index, const void *packet)
{
    (void)op, (void)index, (void)packet;
    ++*(uint64_t *)(uintptr_t)context;
    return OCSD_RESP_CONT;
}

static ocsd_datapath_resp_t take_elem(const void *context, const ocsd_trc_index_t index, const uint8_t id,
                                      const ocsd_generic_trace_elem *elem)
{
    (void)index, (void)id, (void)elem;
    ++*(uint64_t *)(uintptr_t)context;
    return OCSD_RESP_CONT;
}

static int add_decoder(dcd_tree_handle_t tree, const struct ct_source *source, bool packets, uint64_t *count)
{
    const bool v7 = source->protocol == CT_PROTOCOL_PTM || source->protocol == CT_PROTOCOL_ETM3;
    const int flags = packets ? OCSD_CREATE_FLG_PACKET_PROC : OCSD_CREATE_FLG_FULL_DECODER;
    unsigned char id;
    int err = v7 ? v7_ocsd_create(tree, source, flags, &id) : ocsd_create(tree, source, flags, packets, &id);
    if (!err && packets)
        err =
            (int)ocsd_dt_attach_packet_callback(tree, id, OCSD_C_API_CB_PKT_SINK, (void *)take_packet, count);
    return err;
}

static int fill_tree(dcd_tree_handle_t tree, const struct bench_input *input, enum bench_level level,
                     uint64_t *count)
{
    const struct ct_buffer *b = input->buffer;
    const bool packets = level == BENCH_PACKET;
    int err = 0;
    for (size_t i = 0; !err && level != BENCH_FRAME && i < b->source_count; i++)
        err = add_decoder(tree, &b->sources[i], packets, count);
    if (!err && !packets && level != BENCH_FRAME)
        err = (int)ocsd_dt_set_gen_elem_outfn(tree, take_elem, count);
    for (size_t i = 0; !err && !packets && level != BENCH_FRAME && i < b->image_count; i++)
        err = (int)ocsd_dt_add_buffer_mem_acc(tree, b->images[i].addr, OCSD_MEM_SPACE_ANY, input->images[i],
                                              (uint32_t)b->images[i].size);
    return err;
}

static int feed(dcd_tree_handle_t tree, const struct bench_input *input)
{
    uint32_t done = 0;
    for (size_t used = 0; used < input->size; used += done) {
        const ocsd_datapath_resp_t resp =
            ocsd_dt_process_data(tree, OCSD_OP_DATA, (ocsd_trc_index_t)used, (uint32_t)(input->size - used),
                                 input->bytes + used, &done);
        if (OCSD_DATA_RESP_IS_FATAL(resp) || !done)
            return -1;
    }
    ocsd_dt_process_data(tree, OCSD_OP_EOT, 0, 0, NULL, &done);
    return 0;
}

const char *bench_ocsd_missing(void)
{
    return "";
}

double bench_ocsd(const struct bench_input *input, enum bench_level level)
{
    const bool framed = input->buffer->framing != CT_FRAMING_NONE;
    uint64_t count = 0;
    if (level == BENCH_ELEMENT || level == BENCH_EVENTS)
        return 0;
    ocsd_def_errlog_init(OCSD_ERR_SEV_NONE, 0);
    const double begin = bench_now();
    dcd_tree_handle_t tree = ocsd_create_dcd_tree(framed ? OCSD_TRC_SRC_FRAME_FORMATTED : OCSD_TRC_SRC_SINGLE,
                                                  framed ? OCSD_DFRMTR_FRAME_MEM_ALIGN : 0);
    int err = fill_tree(tree, input, level, &count);
    if (!err)
        err = feed(tree, input);
    ocsd_destroy_dcd_tree(tree);
    const double seconds = bench_now() - begin;
    return err || (!count && level != BENCH_FRAME) ? 0 : seconds;
}
