/* SPDX-License-Identifier: Apache-2.0 */
#include "opencsd/api/reader.h"

#include <string.h>

static ocsd_extern_dcd_cb_fns library;

static ocsd_datapath_resp_t take_data(const void *handle, const ocsd_datapath_op_t op,
                                      const ocsd_trc_index_t index, const uint32_t size, const uint8_t *bytes,
                                      uint32_t *used)
{
    (void)handle;
    (void)op;
    (void)index;
    (void)bytes;
    if (used)
        *used = size;
    return OCSD_RESP_CONT;
}

static void update(const void *handle, const int flags)
{
    (void)handle;
    (void)flags;
}

static ocsd_err_t create(const int create_flags, const void *config, const ocsd_extern_dcd_cb_fns *callbacks,
                         ocsd_extern_dcd_inst_t *instance)
{
    static char name[] = "reader";
    (void)create_flags;
    library = *callbacks;
    instance->fn_data_in = take_data;
    instance->fn_update_pkt_mon = update;
    instance->decoder_handle = &library;
    instance->p_decoder_name = name;
    instance->cs_id = *(const uint8_t *)config;
    return OCSD_OK;
}

static ocsd_err_t destroy(const void *handle)
{
    (void)handle;
    return OCSD_OK;
}

static ocsd_err_t get_id(const void *config, unsigned char *id)
{
    *id = *(const uint8_t *)config;
    return OCSD_OK;
}

void reader_add(dcd_tree_handle_t tree)
{
    static const uint8_t config = TRACE_ID;
    static ocsd_extern_dcd_fact_t factory = {
        .createDecoder = create, .destroyDecoder = destroy, .csidFromConfig = get_id};
    unsigned char id;
    ocsd_register_custom_decoder("READER", &factory);
    SHOW(ocsd_dt_create_decoder(tree, "READER", OCSD_CREATE_FLG_FULL_DECODER, &config, &id));
}

void reader_read(uint64_t addr, ocsd_mem_space_acc_t space, uint32_t size)
{
    uint8_t bytes[1024];
    uint32_t got = size;
    uint32_t sum = 0;
    memset(bytes, 0xee, sizeof bytes);
    const int err = (int)library.fn_memory_access(library.lib_context, addr, TRACE_ID, space, &got, bytes);
    for (size_t i = 0; i < sizeof bytes; i++)
        sum = 31 * sum + bytes[i];
    printf("read %llx in %x, %u: %d, %u, %08x\n", (unsigned long long)addr, (unsigned)space, size, err, got,
           sum);
}
