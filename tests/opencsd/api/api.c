/* SPDX-License-Identifier: Apache-2.0 */
/* usage: api               lists the programs
 *        api NAME          runs one of them, in a folder that it may write files to */
#include "opencsd/api/api.h"

#include <string.h>

const uint8_t code[8] = {0x1f, 0x20, 0x03, 0xd5, 0x00, 0x00, 0x00, 0x14};

const ocsd_etmv4_cfg etm4_config = {.reg_idr0 = 0x28000ea1,
                                    .reg_idr1 = 0x4100f424,
                                    .reg_idr2 = 0x10001088,
                                    .reg_configr = 0x41,
                                    .reg_traceidr = TRACE_ID,
                                    .arch_ver = ARCH_V8,
                                    .core_prof = profile_CortexA};

const ocsd_ete_cfg ete_config = {.reg_idr0 = 0x28000ea1,
                                 .reg_idr1 = 0x4100fff3,
                                 .reg_idr2 = 0x10001088,
                                 .reg_configr = 0x41,
                                 .reg_traceidr = TRACE_ID,
                                 .reg_devarch = 0x47705a13,
                                 .arch_ver = ARCH_AA64,
                                 .core_prof = profile_CortexA};

const ocsd_ptm_cfg ptm_config = {.reg_idr = 0x411cf301,
                                 .reg_ccer = 0x000008ea,
                                 .reg_trc_id = TRACE_ID,
                                 .arch_ver = ARCH_V7,
                                 .core_prof = profile_CortexA};

const ocsd_etmv3_cfg etm3_config = {.reg_idr = 0x4104f253,
                                    .reg_ccer = 0x000008ea,
                                    .reg_trc_id = TRACE_ID,
                                    .arch_ver = ARCH_V7,
                                    .core_prof = profile_CortexA};

/* Synchronisation, trace info, trace on, an address (CODE) in context 1, two atoms. */
const uint8_t etm4_trace[27] = {0,    0,    0, 0, 0,    0, 0,    0, 0, 0, 0, 0x80, 0x01, 0x00,
                                0x04, 0x82, 0, 0, 0x40, 0, 0xb0, 1, 0, 0, 0, 0xf7, 0xf7};

void print_text(const void *context, const char *text, const int size)
{
    printf("text of %d%s%s: %.*s|\n", size, context ? " for " : "", context ? (const char *)context : "",
           size, text);
}

static dcd_tree_handle_t make_tree(ocsd_dcd_tree_src_t type, uint32_t flags)
{
    dcd_tree_handle_t tree = ocsd_create_dcd_tree(type, flags);
    ocsd_def_errlog_init(OCSD_ERR_SEV_INFO, 1);
    ocsd_def_errlog_config_output(C_API_MSGLOGOUT_FLG_NONE, NULL);
    ocsd_def_errlog_set_strprint_cb(tree, NULL, print_text);
    return tree;
}

dcd_tree_handle_t single_tree(void)
{
    return make_tree(OCSD_TRC_SRC_SINGLE, 0);
}

dcd_tree_handle_t framed_tree(void)
{
    return make_tree(OCSD_TRC_SRC_FRAME_FORMATTED, OCSD_DFRMTR_FRAME_MEM_ALIGN);
}

void add_decoder(dcd_tree_handle_t tree, int create_flags)
{
    unsigned char id;
    SHOW(ocsd_dt_create_decoder(tree, OCSD_BUILTIN_DCD_ETMV4I, create_flags, &etm4_config, &id));
    SHOW(ocsd_dt_add_buffer_mem_acc(tree, CODE, OCSD_MEM_SPACE_ANY, code, sizeof code));
}

void give(dcd_tree_handle_t tree, ocsd_datapath_op_t op, ocsd_trc_index_t index, const void *bytes,
          uint32_t size)
{
    uint32_t used = 77;
    const int resp = (int)ocsd_dt_process_data(tree, op, index, size, bytes, &used);
    printf("operation %d at %u with %u bytes: %d, %u used\n", (int)op, index, size, resp, used);
}

void feed(dcd_tree_handle_t tree)
{
    give(tree, OCSD_OP_DATA, 0, etm4_trace, sizeof etm4_trace);
    give(tree, OCSD_OP_EOT, 0, NULL, 0);
}

ocsd_datapath_resp_t print_element(const void *context, const ocsd_trc_index_t index, const uint8_t id,
                                   const ocsd_generic_trace_elem *e)
{
    char text[256];
    ocsd_gen_elem_str(e, text, sizeof text);
    printf("element%s at %u of %02x: %s\n", context ? (const char *)context : "", index, id, text);
    return OCSD_RESP_CONT;
}

void print_last_error(void)
{
    ocsd_trc_index_t index = 1;
    uint8_t id = 1;
    char text[256] = "";
    const int err = (int)ocsd_get_last_err(&index, &id, text, sizeof text);
    printf("last error %d at %u of %02x: %s\n", err, index, id, text);
}

int main(int argc, char **argv)
{
    static const struct program *const all[] = {
        tree_programs, decoder_programs, packet_programs,  memory_programs,   log_programs,
        text_programs, custom_programs,  profgen_programs, argument_programs,
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (const struct program *program = all[i]; program->name; program++) {
            if (argc < 2)
                printf("%s\n", program->name);
            else if (!strcmp(program->name, argv[1]))
                program->run();
        }
    return 0;
}
