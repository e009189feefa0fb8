/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a program built for OpenCSD 1.4 or later, where elements and packets of ETMv4 are longer: coretap's
 * library gives it these when the environment names such a version. The offsets come from the headers of
 * 1.5.5 on a 64-bit host.
 *
 * usage: test_layout CORETAP      with CORETAP_OPENCSD_VERSION=1.5.5 in the environment */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "opencsd/library.h"

enum {
    ELEMENT_PAYLOAD = 72,
    ELEMENT_POINTER = 88,
    ELEMENT_SIZE = 96,
    PACKET_VALID = 160,
    PACKET_VERSION = 169,
    PACKET_SIZE = 176,
    LATE_EOT = 7,        /* UNSYNC_EOT */
    TRACE_INFO_VALID = 6 /* bit in a packet's mask of valid members */
};

static const uint8_t stm_trace[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                    0xff, 0xff, 0x0f, 0x0f, 0x30, 0x44, 0x02};
static const uint8_t etm4_trace[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x01, 0x01, 0, 0x04};

static const ocsd_etmv4_cfg etm4_config = {.reg_idr0 = 0x28000ea1,
                                           .reg_idr1 = 0x4100f433,
                                           .reg_idr2 = 0x488,
                                           .reg_traceidr = 0x10,
                                           .arch_ver = ARCH_V8,
                                           .core_prof = profile_CortexA};

/* What a client got from the library. */
struct got {
    const struct library *library;
    uint64_t data; /* of software trace */
    int software, ends, infos, texts;
};

static ocsd_datapath_resp_t take(const void *context, const ocsd_trc_index_t index, const uint8_t id,
                                 const ocsd_generic_trace_elem *element)
{
    struct got *got = (struct got *)context;
    unsigned char e[ELEMENT_SIZE];
    char text[256] = "";
    const uint8_t *payload;
    uint32_t reason;
    (void)index;
    (void)id;
    memcpy(e, element, sizeof e);
    memcpy(&payload, e + ELEMENT_POINTER, sizeof payload);
    memcpy(&reason, e + ELEMENT_PAYLOAD, sizeof reason);
    got->library->ocsd_gen_elem_str(element, text, sizeof text);
    if (element->elem_type == OCSD_GEN_TRC_ELEM_SWTRACE) {
        got->software++;
        got->data = *payload;
        got->texts += strstr(text, "0x42") != NULL;
    }
    if (element->elem_type == OCSD_GEN_TRC_ELEM_EO_TRACE) {
        got->ends += reason == LATE_EOT;
        got->texts += strstr(text, "[end-of-trace]") != NULL;
    }
    return OCSD_RESP_CONT;
}

static ocsd_datapath_resp_t take_packet(const void *context, const ocsd_datapath_op_t op,
                                        const ocsd_trc_index_t index, const void *packet)
{
    struct got *got = (struct got *)context;
    unsigned char p[PACKET_SIZE];
    char text[256] = "";
    uint32_t valid;
    (void)index;
    if (op != OCSD_OP_DATA)
        return OCSD_RESP_CONT;
    memcpy(p, packet, sizeof p);
    memcpy(&valid, p + PACKET_VALID, sizeof valid);
    got->library->ocsd_pkt_str(OCSD_PROTOCOL_ETMV4I, packet, text, sizeof text);
    if (!strstr(text, "I_TRACE_INFO : Trace Info.; INFO=0x0"))
        return OCSD_RESP_CONT;
    got->infos += (valid >> TRACE_INFO_VALID & 1) && p[PACKET_VERSION] == 0x43;
    return OCSD_RESP_CONT;
}

static void run(const struct library *l, dcd_tree_handle_t tree, const uint8_t *bytes, uint32_t size)
{
    uint32_t done;
    l->ocsd_dt_process_data(tree, OCSD_OP_DATA, 0, size, bytes, &done);
    l->ocsd_dt_process_data(tree, OCSD_OP_EOT, 0, 0, NULL, &done);
    l->ocsd_destroy_dcd_tree(tree);
}

static bool elements_grew(const struct library *l)
{
    const ocsd_stm_cfg config = {.reg_tcsr = 0x100000};
    struct got got = {.library = l};
    unsigned char id;
    dcd_tree_handle_t tree = l->ocsd_create_dcd_tree(OCSD_TRC_SRC_SINGLE, 0);
    l->ocsd_dt_create_decoder(tree, OCSD_BUILTIN_DCD_STM, OCSD_CREATE_FLG_FULL_DECODER, &config, &id);
    l->ocsd_dt_set_gen_elem_outfn(tree, take, &got);
    run(l, tree, stm_trace, sizeof stm_trace);
    return got.software == 1 && got.data == 0x42 && got.ends == 1 && got.texts == 2;
}

static bool packets_grew(const struct library *l)
{
    struct got got = {.library = l};
    unsigned char id;
    dcd_tree_handle_t tree = l->ocsd_create_dcd_tree(OCSD_TRC_SRC_SINGLE, 0);
    l->ocsd_dt_create_decoder(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_PACKET_PROC, &etm4_config, &id);
    l->ocsd_dt_attach_packet_callback(tree, id, OCSD_C_API_CB_PKT_SINK, (void *)take_packet, &got);
    run(l, tree, etm4_trace, sizeof etm4_trace);
    return got.infos == 1;
}

static uint32_t read_nothing(const void *context, const ocsd_vaddr_t addr, const ocsd_mem_space_acc_t space,
                             const uint32_t size, uint8_t *bytes)
{
    (void)context;
    (void)addr;
    (void)space;
    (void)size;
    (void)bytes;
    return 0;
}

static uint32_t read_no_code(const void *context, const ocsd_vaddr_t addr, const ocsd_mem_space_acc_t space,
                             const uint8_t id, const uint32_t size, uint8_t *bytes)
{
    (void)id;
    return read_nothing(context, addr, space, size, bytes);
}

static ocsd_datapath_resp_t take_no_access(const void *context, const ocsd_trc_index_t index,
                                           const uint8_t id, const ocsd_generic_trace_elem *element)
{
    struct got *got = (struct got *)context;
    char text[256] = "";
    (void)index;
    (void)id;
    got->library->ocsd_gen_elem_str(element, text, sizeof text);
    if (element->elem_type == OCSD_GEN_TRC_ELEM_ADDR_NACC)
        got->texts +=
            !strcmp(text, "OCSD_GEN_TRC_ELEM_ADDR_NACC( 0x1000; Memspace [0x10:EL2S] )"); /* text of 1.5.5 */
    return OCSD_RESP_CONT;
}

static bool spaces_are_told(const struct library *l)
{
    static const uint8_t trace[] = {0, 0, 0,    0, 0, 0, 0, 0, 0, 0, 0, 0x80, 1,   1,
                                    0, 4, 0x85, 0, 8, 0, 0, 0, 0, 0, 0, 0x12, 0xf7};
    struct got got = {.library = l};
    unsigned char id;
    dcd_tree_handle_t tree = l->ocsd_create_dcd_tree(OCSD_TRC_SRC_SINGLE, 0);
    l->ocsd_dt_create_decoder(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_FULL_DECODER, &etm4_config, &id);
    l->ocsd_dt_add_callback_trcid_mem_acc(tree, 0, UINT64_MAX, OCSD_MEM_SPACE_ANY, read_no_code, NULL);
    l->ocsd_dt_set_gen_elem_outfn(tree, take_no_access, &got);
    run(l, tree, trace, sizeof trace);
    return got.texts == 1;
}

/* Checks that a new decoder sends elements to the output that the tree already has, as since 1.4. */
static bool output_comes_first(const struct library *l)
{
    const ocsd_stm_cfg config = {.reg_tcsr = 0x100000};
    struct got got = {.library = l};
    unsigned char id;
    dcd_tree_handle_t tree = l->ocsd_create_dcd_tree(OCSD_TRC_SRC_SINGLE, 0);
    l->ocsd_dt_set_gen_elem_outfn(tree, take, &got);
    l->ocsd_dt_add_callback_mem_acc(tree, 0, 0xfff, OCSD_MEM_SPACE_ANY, read_nothing, NULL);
    l->ocsd_dt_create_decoder(tree, OCSD_BUILTIN_DCD_STM, OCSD_CREATE_FLG_FULL_DECODER, &config, &id);
    run(l, tree, stm_trace, sizeof stm_trace);
    return got.software == 1 && got.ends == 1;
}

/* Checks the function that 1.3.3 does not have, which configures the memory cache. */
static bool memory_is_kept(const struct library *l, ocsd_err_t (*keep)(dcd_tree_handle_t, int, uint16_t, int))
{
    dcd_tree_handle_t tree = l->ocsd_create_dcd_tree(OCSD_TRC_SRC_SINGLE, 0);
    const bool early =
        keep(NULL, 1, 2048, 16) == OCSD_ERR_INVALID_PARAM_VAL && keep(tree, 1, 2048, 16) == OCSD_ERR_NOT_INIT;
    l->ocsd_dt_add_callback_mem_acc(tree, 0, 0xfff, OCSD_MEM_SPACE_ANY, read_nothing, NULL);
    const bool good = early && keep(tree, 1, 2048, 16) == OCSD_OK && keep(tree, 0, 0, 0) == OCSD_OK &&
                      keep(tree, 1, 63, 16) == OCSD_ERR_INVALID_PARAM_VAL &&
                      keep(tree, 1, 2048, 257) == OCSD_ERR_INVALID_PARAM_VAL;
    l->ocsd_destroy_dcd_tree(tree);
    return good;
}

static bool version_is_told(const struct library *l)
{
    return l->ocsd_get_version() == 0x010505 && !strcmp(l->ocsd_get_version_str(), "1.5.5");
}

static int say(int number, bool good, const char *what)
{
    printf("%sok %d - %s\n", good ? "" : "not ", number, what);
    return !good;
}

int main(int argc, char **argv)
{
    struct library l;
    ocsd_err_t (*keep)(dcd_tree_handle_t, int, uint16_t, int);
    if (argc < 2 || library_load(argv[1], &l))
        return 2;
    void *symbol = dlsym(dlopen(argv[1], RTLD_NOW), "ocsd_dt_set_mem_acc_cacheing");
    memcpy(&keep, &symbol, sizeof keep);
    printf("TAP version 13\n1..6\n");
    int failed = say(1, elements_grew(&l), "elements of 96 bytes");
    failed |= say(2, packets_grew(&l), "packets of 176 bytes");
    failed |= say(3, symbol && memory_is_kept(&l, keep), "ocsd_dt_set_mem_acc_cacheing");
    failed |= say(4, version_is_told(&l), "the version that was named");
    failed |= say(5, spaces_are_told(&l), "the memory space of what cannot be read");
    failed |= say(6, output_comes_first(&l), "an output that is there before the decoder");
    return failed;
}
