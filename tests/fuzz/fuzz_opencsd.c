/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of OpenCSD's C interface in any order: 24 bytes of configuration (source.h), one for the first tree,
 * then calls, a byte each with its operands behind it. What must hold: the library writes and reads nothing
 * that is not its own; texts end where they should; a FLUSH whose answer is WAIT gave something to the
 * client; of data no more is taken than there is; and the same calls give the same again. */
#define _GNU_SOURCE /* memfd_create */
#include <opencsd/c_api/opencsd_c_api.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "opencsd/itm_types.h"
#include "opencsd/layout.h"
#include "source.h"

#define MOST_BYTES 8192
#define IDS        128
#define CODE_BASE  0x400000u
#define CODE_SIZE  0x1000u
#define TEXT       512
#define CALLS      4096 /* to FLUSH, until nothing waits */

enum call {
    CREATE,
    REMOVE,
    DATA,
    MORE_DATA,
    END,
    FLUSH,
    RESET,
    OTHER,
    ELEMENTS,
    PACKETS,
    PRINTER,
    FRAMES,
    MEMORY,
    FORGET_MEMORY,
    ANSWER,
    STATS,
    TREE,
    DRAIN,
    JUMP,
    SAY,
    CALL_COUNT
};

struct client;

/* Who takes the packets of a decoder. */
struct watcher {
    struct client *client;
    ocsd_trace_protocol_t protocol;
};

struct client {
    const uint8_t *at, *end; /* what is left of the input */
    struct ct_source source; /* of all decoders, but for protocol and trace ID */
    dcd_tree_handle_t tree;
    bool framed;
    struct watcher watchers[IDS];
    ocsd_trc_index_t index; /* of the data that comes next */
    uint8_t pause;          /* every so many outputs are answered with `answer`; 0: none */
    ocsd_datapath_resp_t answer;
    uint32_t outputs;
    uint64_t digest; /* over all that was given */
};

/* NOPs of A64 and a branch to the next word, then T32: NOPs and a BLX. */
static const uint32_t code[] = {0xd503201f, 0xd503201f, 0xd503201f, 0x54000020, 0xd65f03c0, 0xd503201f,
                                0xbf00bf00, 0xe802f000, 0xbf00bf00, 0x4770bf00, 0xe1a00000, 0xe12fff1e};

static uint8_t take(struct client *c)
{
    return c->at < c->end ? *c->at++ : 0;
}

/* ---- what the library gives ---- */

static void mix(struct client *c, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        c->digest = (c->digest ^ ((const uint8_t *)bytes)[i]) * UINT64_C(0x100000001b3);
}

/* Mixes in a text in memory of `size` bytes. */
static void mix_text(struct client *c, const char *text, size_t size)
{
    const char *zero = memchr(text, 0, size);
    require(zero != NULL);
    mix(c, text, (size_t)(zero - text));
}

static ocsd_datapath_resp_t answer(struct client *c)
{
    c->outputs++;
    return c->pause && c->outputs % c->pause == 0 ? c->answer : OCSD_RESP_CONT;
}

static ocsd_datapath_resp_t on_element(const void *context, const ocsd_trc_index_t index, const uint8_t id,
                                       const ocsd_generic_trace_elem *element)
{
    struct client *c = (struct client *)context;
    char text[TEXT];
    mix(c, &index, sizeof index);
    mix(c, &id, sizeof id);
    require(ocsd_gen_elem_str(element, text, c->outputs % 16 ? (int)sizeof text : 24) == OCSD_OK);
    mix_text(c, text, c->outputs % 16 ? sizeof text : 24);
    return answer(c);
}

static void mix_packet(const struct watcher *w, ocsd_datapath_op_t op, ocsd_trc_index_t index,
                       const void *packet)
{
    char text[TEXT];
    mix(w->client, &op, sizeof op);
    mix(w->client, &index, sizeof index);
    if (op == OCSD_OP_DATA && ocsd_pkt_str(w->protocol, packet, text, sizeof text) == OCSD_OK)
        mix_text(w->client, text, sizeof text);
}

static ocsd_datapath_resp_t on_packet(const void *context, const ocsd_datapath_op_t op,
                                      const ocsd_trc_index_t index, const void *packet)
{
    const struct watcher *w = context;
    mix_packet(w, op, index, packet);
    return answer(w->client);
}

static void on_packet_bytes(const void *context, const ocsd_datapath_op_t op, const ocsd_trc_index_t index,
                            const void *packet, const uint32_t size, const uint8_t *bytes)
{
    const struct watcher *w = context;
    mix_packet(w, op, index, packet);
    if (op == OCSD_OP_DATA)
        mix(w->client, bytes, size);
}

static void on_text(const void *context, const char *text, const int size)
{
    require(size >= 0 && !text[size]);
    mix((struct client *)context, text, (size_t)size);
}

/* Memory has an end: in one without branches nobody finds one. */
static uint32_t on_memory(const void *context, const ocsd_vaddr_t address, const ocsd_mem_space_acc_t space,
                          const uint8_t id, const uint32_t size, uint8_t *bytes)
{
    const uint32_t at = (uint32_t)(address % sizeof code), left = (uint32_t)sizeof code - at;
    const uint32_t given = size < left ? size : left;
    (void)context;
    (void)space;
    if (address < CODE_BASE || address >= CODE_BASE + CODE_SIZE)
        return 0;
    memcpy(bytes, (const uint8_t *)code + at, given);
    return id == 0x13 ? given / 2 : given;
}

static uint32_t on_any_memory(const void *context, const ocsd_vaddr_t address,
                              const ocsd_mem_space_acc_t space, const uint32_t size, uint8_t *bytes)
{
    return on_memory(context, address, space, 0, size, bytes);
}

/* ---- calls ---- */

union config {
    ocsd_etmv4_cfg etm4;
    ocsd_ete_cfg ete;
    ocsd_etmv3_cfg etm3;
    ocsd_ptm_cfg ptm;
    ocsd_stm_cfg stm;
    struct ct_ocsd_itm_cfg itm;
};

/* Fills in what a decoder of a protocol is made with. Returns its name. */
static const char *configure(const struct ct_source *source, uint32_t id, ocsd_trace_protocol_t protocol,
                             union config *out)
{
    const struct ct_source_regs *r = &source->regs;
    const ocsd_core_profile_t profile =
        source->arch.profile == CT_PROFILE_M ? profile_CortexM : profile_CortexA;
    const ocsd_arch_version_t arch = source->arch.major == 7 ? ARCH_V7
                                     : source->arch.newest   ? ARCH_AA64
                                                             : ARCH_V8;
    switch ((int)protocol) {
    case OCSD_PROTOCOL_ETE:
        out->ete =
            (ocsd_ete_cfg){r->idr0, r->idr1, r->idr2, r->idr8, r->devarch, r->configr, id, arch, profile};
        return OCSD_BUILTIN_DCD_ETE;
    case OCSD_PROTOCOL_PTM:
        out->ptm = (ocsd_ptm_cfg){r->etmidr, r->etmcr, r->etmccer, id, arch, profile};
        return OCSD_BUILTIN_DCD_PTM;
    case OCSD_PROTOCOL_ETMV3:
        out->etm3 = (ocsd_etmv3_cfg){r->etmidr, r->etmcr, r->etmccer, id, arch, profile};
        return OCSD_BUILTIN_DCD_ETMV3;
    case OCSD_PROTOCOL_STM:
        out->stm = (ocsd_stm_cfg){.reg_tcsr = id << 16, .reg_feat3r = 0x7f, .reg_devid = 0xff};
        return OCSD_BUILTIN_DCD_STM;
    case CT_OCSD_PROTOCOL_ITM:
        out->itm = (struct ct_ocsd_itm_cfg){(r->itmtcr & 0xffff) | id << 16};
        return CT_OCSD_ITM_NAME;
    default:
        out->etm4 = (ocsd_etmv4_cfg){.reg_idr0 = r->idr0,
                                     .reg_idr1 = r->idr1,
                                     .reg_idr2 = r->idr2,
                                     .reg_idr8 = r->idr8,
                                     .reg_configr = r->configr,
                                     .reg_traceidr = id,
                                     .arch_ver = arch,
                                     .core_prof = profile};
        return OCSD_BUILTIN_DCD_ETMV4I;
    }
}

static void create(struct client *c)
{
    static const ocsd_trace_protocol_t protocols[] = {
        OCSD_PROTOCOL_ETMV4I, OCSD_PROTOCOL_ETE, OCSD_PROTOCOL_PTM,
        OCSD_PROTOCOL_ETMV3,  OCSD_PROTOCOL_STM, (ocsd_trace_protocol_t)CT_OCSD_PROTOCOL_ITM};
    const uint8_t kind = take(c), low = take(c), id = low % IDS;
    const int checks = (kind & 0x40 ? OCSD_OPFLG_PKTDEC_HALT_BAD_PKTS : 0) |
                       (kind & 0x80 ? OCSD_OPFLG_PKTPROC_NOFWD_BAD_PKTS : 0) |
                       (low & 0x80 ? CT_OCSD_CHECKS | ETE_OPFLG_PKTDEC_SRCADDR_N_ATOMS : 0);
    const int flags = checks | (kind & 0x20 ? OCSD_CREATE_FLG_PACKET_PROC : OCSD_CREATE_FLG_FULL_DECODER);
    const ocsd_trace_protocol_t protocol = protocols[kind % 8 % (sizeof protocols / sizeof *protocols)];
    union config config;
    unsigned char given = 0xee;
    const char *name = configure(&c->source, id, protocol, &config);
    const ocsd_err_t err = ocsd_dt_create_decoder(c->tree, name, flags, &config, &given);
    if (err)
        return;
    require(given == id);
    c->watchers[c->framed ? id : 0].protocol = protocol;
}

/* Returns the bytes of a call in memory of just their size, which the caller frees. */
static uint8_t *take_bytes(struct client *c, size_t *size)
{
    const size_t left = (size_t)(c->end - c->at);
    *size = *size < left ? *size : left;
    uint8_t *bytes = malloc(*size ? *size : 1);
    require(bytes != NULL);
    memcpy(bytes, c->at, *size);
    c->at += *size;
    return bytes;
}

static ocsd_datapath_resp_t process(struct client *c, ocsd_datapath_op_t op, const uint8_t *bytes,
                                    size_t size)
{
    uint32_t done = 0;
    const ocsd_datapath_resp_t resp =
        ocsd_dt_process_data(c->tree, op, c->index, (uint32_t)size, bytes, &done);
    mix(c, &resp, sizeof resp);
    mix(c, &done, sizeof done);
    if (op == OCSD_OP_DATA && !OCSD_DATA_RESP_IS_FATAL(resp)) {
        require(done <= size);
        c->index += done;
    }
    return resp;
}

static void data(struct client *c, size_t size)
{
    uint8_t *bytes = take_bytes(c, &size);
    process(c, OCSD_OP_DATA, bytes, size);
    free(bytes);
}

static ocsd_datapath_resp_t flush(struct client *c)
{
    const uint32_t before = c->outputs;
    const ocsd_datapath_resp_t resp = process(c, OCSD_OP_FLUSH, NULL, 0);
    require(!OCSD_DATA_RESP_IS_WAIT(resp) || c->outputs > before);
    return resp;
}

/* Flushes until nothing waits, the client answering as it likes, and then as it should. */
static void drain(struct client *c)
{
    unsigned calls = 0;
    while (calls < CALLS && OCSD_DATA_RESP_IS_WAIT(flush(c)))
        calls++;
    c->pause = 0;
    require(!OCSD_DATA_RESP_IS_WAIT(flush(c)));
}

static void packets(struct client *c)
{
    const uint8_t how = take(c), id = take(c) % IDS;
    struct watcher *watcher = &c->watchers[c->framed ? id : 0];
    if (how % 4 == 0)
        ocsd_dt_attach_packet_callback(c->tree, id, OCSD_C_API_CB_PKT_SINK, (void *)on_packet, watcher);
    else if (how % 4 == 1)
        ocsd_dt_attach_packet_callback(c->tree, id, OCSD_C_API_CB_PKT_MON, (void *)on_packet_bytes, watcher);
    else if (how % 4 == 2)
        ocsd_dt_attach_packet_callback(c->tree, id, how & 8 ? OCSD_C_API_CB_PKT_MON : OCSD_C_API_CB_PKT_SINK,
                                       NULL, NULL);
    else
        ocsd_dt_set_pkt_protocol_printer(c->tree, id, how >> 2 & 1);
}

/* Returns the path of a file with the code. */
static const char *code_path(void)
{
    static char path[32];
    static int fd = -1;
    if (fd < 0) {
        fd = memfd_create("code", 0);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        require(fd >= 0 && write(fd, code, sizeof code) == sizeof code);
    }
    return path;
}

static void add_file(struct client *c, uint64_t at, ocsd_mem_space_acc_t space)
{
    ocsd_file_mem_region_t regions[3];
    const int count = take(c) % 4;
    if (!count)
        ocsd_dt_add_binfile_mem_acc(c->tree, at, space, code_path());
    for (int i = 0; i < count; i++) {
        regions[i].start_address = at;
        regions[i].file_offset = take(c);
        regions[i].region_size = take(c) % (sizeof code + 2);
        at += take(c);
    }
    if (count)
        ocsd_dt_add_binfile_region_mem_acc(c->tree, regions, count, space, code_path());
}

static void memory(struct client *c)
{
    const uint8_t how = take(c);
    const uint64_t at = CODE_BASE + 2 * (uint64_t)take(c);
    const ocsd_mem_space_acc_t space = how & 8 ? OCSD_MEM_SPACE_EL1N : OCSD_MEM_SPACE_ANY;
    const uint32_t size = how & 16 ? 6 : sizeof code;
    if (how & 4)
        add_file(c, at, space);
    else if (how % 4 == 0)
        ocsd_dt_add_buffer_mem_acc(c->tree, at, space, (const uint8_t *)code, size);
    else if (how % 4 == 1)
        ocsd_dt_add_callback_mem_acc(c->tree, at, at + size - 1, space, on_any_memory, c);
    else if (how % 4 == 2)
        ocsd_dt_add_callback_trcid_mem_acc(c->tree, 0, UINT64_MAX, space, on_memory, c);
    else
        ocsd_tl_log_mapped_mem_ranges(c->tree);
}

static void stats(struct client *c)
{
    const uint8_t how = take(c);
    ocsd_decode_stats_t *s = NULL;
    if (how & 0x80)
        ocsd_dt_reset_decode_stats(c->tree, how % IDS);
    else if (ocsd_dt_get_decode_stats(c->tree, how, &s) == OCSD_OK)
        mix(c, &s->channel_total, sizeof s->channel_total);
}

/* Asks for texts that belong to no decoder. */
static void say(struct client *c)
{
    char text[TEXT];
    ocsd_trc_index_t index;
    union {
        ocsd_generic_trace_elem early;
        char late[2 * sizeof(ocsd_generic_trace_elem)]; /* that of later versions is larger */
    } element = {0};
    const uint8_t what = take(c);
    uint8_t id;
    ocsd_err_str((ocsd_err_t)what, text, what % 2 ? (int)sizeof text : 8);
    mix_text(c, text, what % 2 ? sizeof text : 8);
    ocsd_def_errlog_msgout(text);
    ocsd_get_last_err(&index, &id, text, sizeof text); /* that of all trees, also those before */
    require(memchr(text, 0, sizeof text) != NULL);
    ocsd_gen_elem_init(&element.early, (ocsd_gen_trc_elem_t)(what % 16));
    require(ocsd_gen_elem_str(&element.early, text, sizeof text) == OCSD_OK);
    mix_text(c, text, sizeof text);
}

/* Makes a tree in the place of the one that is there, if there is one. */
static void make_tree(struct client *c)
{
    const uint8_t how = take(c);
    ocsd_destroy_dcd_tree(c->tree);
    c->framed = how & 1;
    c->tree = ocsd_create_dcd_tree(c->framed ? OCSD_TRC_SRC_FRAME_FORMATTED : OCSD_TRC_SRC_SINGLE, how >> 1);
    c->index = 0;
    for (size_t i = 0; i < IDS; i++)
        c->watchers[i] = (struct watcher){.client = c};
    ocsd_def_errlog_set_strprint_cb(c->tree, c, on_text);
}

static void call(struct client *c)
{
    switch ((enum call)(take(c) % CALL_COUNT)) {
    case CREATE:
        create(c);
        break;
    case REMOVE:
        ocsd_dt_remove_decoder(c->tree, take(c));
        break;
    case DATA:
        data(c, take(c));
        break;
    case MORE_DATA:
        data(c, 16u * take(c));
        break;
    case END:
        process(c, OCSD_OP_EOT, NULL, 0);
        break;
    case FLUSH:
        flush(c);
        break;
    case RESET:
        process(c, OCSD_OP_RESET, NULL, 0);
        break;
    case OTHER:
        process(c, (ocsd_datapath_op_t)take(c), NULL, 0);
        break;
    case ELEMENTS:
        ocsd_dt_set_gen_elem_outfn(c->tree, take(c) & 7 ? on_element : NULL, c);
        break;
    case PACKETS:
        packets(c);
        break;
    case PRINTER:
        ocsd_dt_set_gen_elem_printer(c->tree);
        break;
    case FRAMES:
        ocsd_dt_set_raw_frame_printer(c->tree, take(c));
        break;
    case MEMORY:
        memory(c);
        break;
    case FORGET_MEMORY:
        ocsd_dt_remove_mem_acc(c->tree, CODE_BASE + 2 * (uint64_t)take(c), OCSD_MEM_SPACE_ANY);
        break;
    case ANSWER:
        c->pause = take(c);
        c->answer = (ocsd_datapath_resp_t)(take(c) % (OCSD_RESP_FATAL_SYS_ERR + 1));
        break;
    case STATS:
        stats(c);
        break;
    case TREE:
        make_tree(c);
        break;
    case DRAIN:
        drain(c);
        break;
    case JUMP:
        c->index = take(c);
        break;
    case SAY:
        say(c);
        break;
    case CALL_COUNT:
        break;
    }
}

/* Makes all calls. Returns the digest of what the library gave. */
static uint64_t play(const uint8_t *input, size_t size)
{
    struct client *c = calloc(1, sizeof *c);
    require(c != NULL);
    c->at = input + FUZZ_SOURCE_BYTES;
    c->end = input + size;
    c->source = fuzz_source(input);
    ocsd_def_errlog_init(OCSD_ERR_SEV_INFO, 1);
    ocsd_def_errlog_config_output(C_API_MSGLOGOUT_FLG_NONE, NULL);
    make_tree(c);
    while (c->at < c->end)
        call(c);
    ocsd_destroy_dcd_tree(c->tree);
    ocsd_def_errlog_config_output(C_API_MSGLOGOUT_FLG_NONE, NULL); /* the callback's client goes away */
    const uint64_t digest = c->digest;
    free(c);
    return digest;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* The library asks once: what an earlier input made of it must not matter. */
    setenv("CORETAP_OPENCSD_VERSION", CT_FUZZ_OPENCSD_VERSION, 1);
    if (size < FUZZ_SOURCE_BYTES || size > MOST_BYTES)
        return 0;
    const uint64_t digest = play(data, size);
    require(play(data, size) == digest);
    return 0;
}
