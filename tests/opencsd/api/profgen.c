/* SPDX-License-Identifier: Apache-2.0 */
/* A client that calls the interface in the order of llvm-profgen for an ETM: a tree without frames, a decoder
 * for a Cortex-M, the executable segments of its program as regions of one file, and the callback for
 * elements. Then it resets, and passes data until all is consumed; it skips a byte that is no packet and
 * resets there. A monitor sees the packets. */

#include "opencsd/api/api.h"

#define PROGRAM "program.elf"

enum {
    FIRST = 0x1000, /* addresses of the segments, and their offsets in the file */
    SECOND = 0x8000,
    FIRST_OFFSET = 0x100,
    SECOND_OFFSET = 0x200,
    SEGMENT = 0x40,
};

/* Writes a program of NOPs with a branch to itself at the end of each segment. */
static void write_program(void)
{
    uint8_t bytes[0x300];
    FILE *file = fopen(PROGRAM, "wb");
    for (size_t i = 0; i < sizeof bytes; i += 2) {
        const int is_last = i == FIRST_OFFSET + 6 || i == SECOND_OFFSET + 10;
        bytes[i] = is_last ? 0xfe : 0x00;
        bytes[i + 1] = is_last ? 0xe7 : 0xbf;
    }
    if (file && fwrite(bytes, 1, sizeof bytes, file) == sizeof bytes)
        fclose(file);
}

static void see(const void *context, const ocsd_datapath_op_t op, const ocsd_trc_index_t index,
                const void *packet, const uint32_t size, const uint8_t *bytes)
{
    char text[256] = "";
    (void)context;
    (void)bytes;
    if (packet)
        ocsd_pkt_str(OCSD_PROTOCOL_ETMV4I, packet, text, sizeof text);
    printf("operation %d at %u: %s, %u bytes\n", (int)op, index, text, size);
}

/* Decodes a trace like llvm-profgen. */
static void decode(dcd_tree_handle_t tree, const uint8_t *trace, uint32_t size)
{
    SHOW(ocsd_dt_process_data(tree, OCSD_OP_RESET, 0, 0, NULL, NULL));
    for (uint32_t at = 0; at < size;) {
        uint32_t used = 0;
        const ocsd_datapath_resp_t resp =
            ocsd_dt_process_data(tree, OCSD_OP_DATA, at, size - at, trace + at, &used);
        printf("data at %u: %d, %u used\n", at, (int)resp, used);
        if (resp == OCSD_RESP_WAIT) {
            SHOW(ocsd_dt_process_data(tree, OCSD_OP_FLUSH, 0, 0, NULL, NULL));
        } else if (!used) {
            SHOW(ocsd_dt_process_data(tree, OCSD_OP_RESET, 0, 0, NULL, NULL));
            used = 1;
        }
        at += used;
        if (resp >= OCSD_RESP_FATAL_INVALID_DATA)
            return;
    }
    SHOW(ocsd_dt_process_data(tree, OCSD_OP_EOT, 0, 0, NULL, NULL));
}

static void profgen(void)
{
    static const ocsd_file_mem_region_t segments[] = {{FIRST_OFFSET, FIRST, SEGMENT},
                                                      {SECOND_OFFSET, SECOND, SEGMENT}};
    /* Synchronisation, trace info, trace on; then for each segment an address with a context and two atoms,
     * and between the two a byte that is no packet */
    static const uint8_t trace[] = {0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0x80,
                                    0x01, 0x00, 0x04, 0x83, 0x00, 0x08, 0x00, 0x00, 0x00, 0xf7, 0xf7, 0x9b,
                                    0x00, 0x40, 0x00, 0x00, 0xf7, 0xf6, 0x9b, 0x00, 0x50, 0x00, 0x00, 0xf7,
                                    0xaf, 0xf7, 0,    0,    0,    0,    0,    0,    0,    0,    0,    0,
                                    0,    0x80, 0x01, 0x00, 0x04, 0x83, 0x00, 0x40, 0x00, 0x00, 0x00, 0xf7};
    const ocsd_etmv4_cfg config = {
        .reg_traceidr = TRACE_ID, .arch_ver = ARCH_V8, .core_prof = profile_CortexM};
    unsigned char id = 0;
    write_program();
    dcd_tree_handle_t tree = single_tree();
    SHOW(ocsd_dt_create_decoder(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_FULL_DECODER, &config, &id));
    SHOW(ocsd_dt_add_binfile_region_mem_acc(tree, segments, 2, OCSD_MEM_SPACE_ANY, PROGRAM));
    SHOW(ocsd_dt_set_gen_elem_outfn(tree, print_element, NULL));
    decode(tree, trace, sizeof trace);
    SHOW(ocsd_dt_attach_packet_callback(tree, id, OCSD_C_API_CB_PKT_MON, (void *)see, NULL));
    decode(tree, trace, sizeof trace);
    ocsd_destroy_dcd_tree(tree);
}

static void profgen_one_segment(void)
{
    static const ocsd_file_mem_region_t segment = {0, FIRST, FIRST_OFFSET + SEGMENT};
    static const uint8_t trace[] = {0, 0,    0,    0,    0,    0,    0,    0,    0,   0,
                                    0, 0x80, 0x01, 0x00, 0x04, 0x83, 0x10, 0x08, 0,   0,
                                    0, 0xf7, 0xf7, 0x9b, 0x00, 0x70, 0,    0,    0xf7};
    const ocsd_etmv4_cfg config = {
        .reg_traceidr = TRACE_ID, .arch_ver = ARCH_V8, .core_prof = profile_CortexM};
    unsigned char id = 0;
    write_program();
    dcd_tree_handle_t tree = single_tree();
    SHOW(ocsd_dt_create_decoder(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_FULL_DECODER, &config, &id));
    SHOW(ocsd_dt_add_binfile_region_mem_acc(tree, &segment, 1, OCSD_MEM_SPACE_ANY, PROGRAM));
    SHOW(ocsd_dt_set_gen_elem_outfn(tree, print_element, NULL));
    decode(tree, trace, sizeof trace);
    ocsd_destroy_dcd_tree(tree);
}

const struct program profgen_programs[] = {
    {"llvm-profgen", profgen},
    {"llvm-profgen, headers in the segment", profgen_one_segment},
    {NULL, NULL},
};
