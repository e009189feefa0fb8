/* SPDX-License-Identifier: Apache-2.0 */
/* Checks ITM in coretap's library, used like a program built for OpenCSD 1.8. Elements and packets of random
 * streams agree with coretap's listings: sound and damaged streams, cut anywhere, with pauses, flushes and
 * resets. Texts agree with listings of 1.8. A program of an earlier version sees no change. CT_SEED sets the
 * first seed, CT_COUNT the number of streams of each kind, CT_LONG=1 the long tier.
 *
 * usage: test_itm CORETAP */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "opencsd/itm_client.h"
#include "support/damage.h"
#include "support/itm_gen.h"
#include "support/list_bytes.h"

enum {
    PACKETS = 200,
    ROOM = 2 * PACKETS * CT_ITM_PACKET_MAX,
    TCR = 0x100000,               /* trace ID 10 */
    NAME_REPEAT = 39,             /* OCSD_ERR_DCDREG_NAME_REPEAT */
    NAME_UNKNOWN = 40,            /* OCSD_ERR_DCDREG_NAME_UNKNOWN */
    UNSYNC_ON_BAD_PACKETS = 0x80, /* OCSD_OPFLG_PKTPROC_UNSYNC_ON_BAD_PKTS */
    TEXT = 4096,
};

static const struct ct_source source = {
    .name = "itm", .protocol = CT_PROTOCOL_ITM, .trace_id = 0x10, .regs = {.itmtcr = TCR}};

/* ---- versions ---- */

/* Names of all functions in the interface of 1.8. */
static const char *const functions[] = {
    "ocsd_get_version",
    "ocsd_get_version_str",
    "ocsd_create_dcd_tree",
    "ocsd_destroy_dcd_tree",
    "ocsd_dt_process_data",
    "ocsd_dt_set_gen_elem_outfn",
    "ocsd_dt_create_decoder",
    "ocsd_dt_remove_decoder",
    "ocsd_dt_attach_packet_callback",
    "ocsd_dt_get_decode_stats",
    "ocsd_dt_reset_decode_stats",
    "ocsd_dt_add_binfile_mem_acc",
    "ocsd_dt_add_binfile_region_mem_acc",
    "ocsd_dt_add_buffer_mem_acc",
    "ocsd_dt_add_callback_mem_acc",
    "ocsd_dt_add_callback_trcid_mem_acc",
    "ocsd_dt_remove_mem_acc",
    "ocsd_tl_log_mapped_mem_ranges",
    "ocsd_dt_set_mem_acc_cacheing",
    "ocsd_def_errlog_init",
    "ocsd_def_errlog_config_output",
    "ocsd_def_errlog_set_strprint_cb",
    "ocsd_def_errlog_msgout",
    "ocsd_err_str",
    "ocsd_get_last_err",
    "ocsd_pkt_str",
    "ocsd_gen_elem_str",
    "ocsd_gen_elem_init",
    "ocsd_dt_set_raw_frame_printer",
    "ocsd_dt_set_gen_elem_printer",
    "ocsd_dt_set_pkt_protocol_printer",
    "ocsd_register_custom_decoder",
    "ocsd_deregister_decoders",
    "ocsd_cust_protocol_to_str",
};

static bool functions_are_there(const struct library *l, void *handle)
{
    unsigned missing = 0;
    (void)l;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (!dlsym(handle, functions[i])) {
            printf("# there is no %s\n", functions[i]);
            missing++;
        }
    return !missing && sizeof functions / sizeof *functions == 34;
}

static ocsd_err_t create(const struct library *l)
{
    struct itm_client client = {.library = l, .tcr = TCR};
    const ocsd_err_t err = itm_client_begin(&client);
    l->ocsd_destroy_dcd_tree(client.tree);
    return err;
}

static ocsd_err_t own_create(const int flags, const void *config, const ocsd_extern_dcd_cb_fns *calls,
                             ocsd_extern_dcd_inst_t *instance)
{
    (void)flags;
    (void)config;
    (void)calls;
    (void)instance;
    return OCSD_ERR_HW_CFG_UNSUPP;
}

static ocsd_err_t own_destroy(const void *decoder)
{
    (void)decoder;
    return OCSD_OK;
}

static ocsd_err_t own_id(const void *config, unsigned char *id)
{
    (void)config;
    *id = 0x10;
    return OCSD_OK;
}

/* Checks which programs have an ITM decoder. A program of an earlier version has none, and may register one
 * of its own under this name. A program that names no version has it, and counts as one of a version with
 * ITM. This test must run before any other creates a decoder. */
static bool versions_decide(const struct library *l, void *handle)
{
    ocsd_extern_dcd_fact_t own = {
        .createDecoder = own_create, .destroyDecoder = own_destroy, .csidFromConfig = own_id};
    char text[TEXT];
    const struct itm_packet packet = {.type = 3};
    const ocsd_trace_protocol_t protocol = (ocsd_trace_protocol_t)ITM_PROTOCOL;
    (void)handle;
    setenv("CORETAP_OPENCSD_VERSION", "1.5.5", 1);
    bool good = (int)create(l) == NAME_UNKNOWN && l->ocsd_get_version() == 0x010505 &&
                l->ocsd_pkt_str(protocol, &packet, text, sizeof text) == OCSD_ERR_NO_PROTOCOL;
    unsetenv("CORETAP_OPENCSD_VERSION");
    good = good && !l->ocsd_register_custom_decoder(ITM_NAME, &own) && create(l) == OCSD_ERR_HW_CFG_UNSUPP;
    l->ocsd_deregister_decoders();
    good = good && create(l) == OCSD_OK && l->ocsd_get_version() == 0x010701 &&
           (int)l->ocsd_register_custom_decoder(ITM_NAME, &own) == NAME_REPEAT &&
           !l->ocsd_pkt_str(protocol, &packet, text, sizeof text);
    return good && !strcmp(text, "ITM_ASYNC: ; 'Alignment synchronisation packet'");
}

/* ---- texts ---- */

/* A trace with each kind of packet, in the forms that listings of 1.8 show. */
static const uint8_t trace[] = {
    0x12, 0x00, 0x34,                         /* bytes before any synchronisation */
    0x00, 0x00, 0x00, 0x00, 0x00, 0x80, 0x70, /* alignment, overflow */
    0x19, 0xbb, 0x20,                         /* 8 bits to port 3, 2 cycles */
    0x28, 0x52, 0x45, 0x23, 0xd0, 0xa0, 0x64, /* page 2, 16 bits to port 10, 3220 cycles, delayed */
    0x0b, 0x23, 0x01, 0x89, 0x67, 0xe0, 0x01, /* 32 bits to port 1 of the page, packet delayed */
    0x05, 0x15, 0xf0, 0xde, 0xfe, 0xd0, 0x3a, /* counters, both delayed */
    0x0e, 0x04, 0x10, 0x0e, 0x23, 0x21,       /* exceptions */
    0x17, 0x80, 0x10, 0x00, 0x00, 0x15, 0x00, /* samples */
    0x95, 0x44, 0xaf, 0x77, 0x66, 0x55, 0x44, /* data */
    0x2e, 0x22, 0x03,                         /* a reserved discriminator */
    0x94, 0x82, 0xcf, 0xfa, 0x77,             /* global timestamps */
    0xb4, 0x93, 0x98, 0xa0, 0xa0, 0x80, 0x00, 0x94, 0x7a,
};

static const char *const lines[] = {
    "Idx:0; ID:10; [0x12 ];\tITM_NOTSYNC: ; 'ITM data stream not synchronised'",
    "Idx:0; ID:10; OCSD_GEN_TRC_ELEM_NO_SYNC( [init-decoder])",
    "Idx:1; ID:10; [0x00 0x34 ];\tITM_NOTSYNC: ; 'ITM data stream not synchronised'",
    "Idx:3; ID:10; [0x00 0x00 0x00 0x00 0x00 0x80 ];\tITM_ASYNC: ; 'Alignment synchronisation packet'",
    "Idx:9; ID:10; [0x70 ];\tITM_OVERFLOW: ; 'ITM overflow packet'",
    "Idx:10; ID:10; [0x19 0xbb ];\tITM_SWIT: {src id: 0x03}  0xbb; 'Software Stimulus write packet'",
    "Idx:10; ID:10; OCSD_GEN_TRC_ELEM_ITMTRACE(ITM_OVERFLOW; ITM_SWIT (ch: 0x3; Data: 0xbb) )",
    "Idx:12; ID:10; [0x20 ];\tITM_TS_LOCAL: 0x02 { TS Sync }; 'Local Timestamp'",
    "Idx:12; ID:10; OCSD_GEN_TRC_ELEM_ITMTRACE(ITM_TS_LOCAL ( TS delta: 0x00000002, { TS Sync}; TS "
    "cumulative: 0x0000000000000002) )",
    "Idx:13; ID:10; [0x28 ];\tITM_EXTENSION: {stim port page} 0x02; 'Extension packet'",
    "Idx:14; ID:10; [0x52 0x45 0x23 ];\tITM_SWIT: {src id: 0x0a}  0x2345; 'Software Stimulus write packet'",
    "Idx:14; ID:10; OCSD_GEN_TRC_ELEM_ITMTRACE(ITM_SWIT (ch: 0x4a; Data: 0x2345) )",
    "Idx:17; ID:10; [0xd0 0xa0 0x64 ];\tITM_TS_LOCAL: 0x3220 { TS Delayed }; 'Local Timestamp'",
    "Idx:17; ID:10; OCSD_GEN_TRC_ELEM_ITMTRACE(ITM_TS_LOCAL ( TS delta: 0x00003220, { TS Delay}; TS "
    "cumulative: 0x0000000000003222) )",
    "Idx:20; ID:10; [0x0b 0x23 0x01 0x89 0x67 ];\tITM_SWIT: {src id: 0x01}  0x67890123; 'Software Stimulus "
    "write packet'",
    "Idx:20; ID:10; OCSD_GEN_TRC_ELEM_ITMTRACE(ITM_SWIT (ch: 0x41; Data: 0x67890123) )",
    "Idx:25; ID:10; [0xe0 0x01 ];\tITM_TS_LOCAL: 0x01 { TS Sync, Packet Delayed }; 'Local Timestamp'",
    "Idx:25; ID:10; OCSD_GEN_TRC_ELEM_ITMTRACE(ITM_TS_LOCAL ( TS delta: 0x00000001, { Packet Delay}; TS "
    "cumulative: 0x0000000000003223) )",
    "Idx:27; ID:10; [0x05 0x15 ];\tITM_DWT: {desc: 0x00} [Event Counter: 0x15; Flags:  CPI  ---  Sleep  ---  "
    "Fold  --- ] ; 'DWT hardware stimulus write'",
    "Idx:27; ID:10; OCSD_GEN_TRC_ELEM_ITMTRACE(ITM_DWT (desc: 0x0; Data: 0x15) )",
    "Idx:29; ID:10; [0xf0 0xde 0xfe 0xd0 0x3a ];\tITM_TS_LOCAL: 0x07543f5e { TS Delayed, Packet Delayed }; "
    "'Local Timestamp'",
    "Idx:29; ID:10; OCSD_GEN_TRC_ELEM_ITMTRACE(ITM_TS_LOCAL ( TS delta: 0x07543f5e, { TS and Packet Delay}; "
    "TS cumulative: 0x0000000007547181) )",
    "Idx:34; ID:10; [0x0e 0x04 0x10 ];\tITM_DWT: {desc: 0x01} [Exception Num:  0x0004(entered) ]; 'DWT "
    "hardware stimulus write'",
    "Idx:34; ID:10; OCSD_GEN_TRC_ELEM_ITMTRACE(ITM_DWT (desc: 0x1; Data: 0x1004) )",
    "Idx:37; ID:10; [0x0e 0x23 0x21 ];\tITM_DWT: {desc: 0x01} [Exception Num:  0x0123(exited) ]; 'DWT "
    "hardware stimulus write'",
    "Idx:37; ID:10; OCSD_GEN_TRC_ELEM_ITMTRACE(ITM_DWT (desc: 0x1; Data: 0x2123) )",
    "Idx:40; ID:10; [0x17 0x80 0x10 0x00 0x00 ];\tITM_DWT: {desc: 0x02} [PC Sample: 0x00001080] ; 'DWT "
    "hardware stimulus write'",
    "Idx:40; ID:10; OCSD_GEN_TRC_ELEM_ITMTRACE(ITM_DWT (desc: 0x2; Data: 0x00001080) )",
    "Idx:45; ID:10; [0x15 0x00 ];\tITM_DWT: {desc: 0x02} [PC Sample: 0x00] ; 'DWT hardware stimulus write'",
    "Idx:45; ID:10; OCSD_GEN_TRC_ELEM_ITMTRACE(ITM_DWT (desc: 0x2; Data: 0x00) )",
    "Idx:47; ID:10; [0x95 0x44 ];\tITM_DWT: {desc: 0x12} [Data Trc: comp=1; Val read: 0x44] ; 'DWT hardware "
    "stimulus write'",
    "Idx:47; ID:10; OCSD_GEN_TRC_ELEM_ITMTRACE(ITM_DWT (desc: 0x12; Data: 0x44) )",
    "Idx:49; ID:10; [0xaf 0x77 0x66 0x55 0x44 ];\tITM_DWT: {desc: 0x15} [Data Trc: comp=2; Val write: "
    "0x44556677] ; 'DWT hardware stimulus write'",
    "Idx:49; ID:10; OCSD_GEN_TRC_ELEM_ITMTRACE(ITM_DWT (desc: 0x15; Data: 0x44556677) )",
    "Idx:54; ID:10; [0x2e 0x22 0x03 ];\tITM_DWT: {desc: 0x05} [Reserved discriminator value] ; 'DWT hardware "
    "stimulus write'",
    "Idx:54; ID:10; OCSD_GEN_TRC_ELEM_ITMTRACE(ITM_DWT (desc: 0x5; Data: 0x0322) )",
    "Idx:57; ID:10; [0x94 0x82 0xcf 0xfa 0x17 ];\tITM_GTS_1: { TS bits [25:0], Clk change, Clk wrap} "
    "0x02fea782; 'Global Timestamp [25:0]'",
    "Idx:62; ID:10; [0xb4 0x93 0x98 0xa0 0xa0 0x80 0x00 ];\tITM_GTS_2: { TS bits [63:26]} 0x0004080c13; "
    "'Global Timestamp [{63|42}:26]'",
    "Idx:62; ID:10; OCSD_GEN_TRC_ELEM_ITMTRACE(ITM_TS_GLOBAL ( TS: 0x001020304efea782) )",
    "Idx:69; ID:10; [0x94 0x7a ];\tITM_GTS_1: { TS bits [6:0]} 0x7a; 'Global Timestamp [25:0]'",
    "Idx:69; ID:10; OCSD_GEN_TRC_ELEM_ITMTRACE(ITM_TS_GLOBAL ( TS: 0x001020304efea7fa) )",
    "Idx:69; ID:10; OCSD_GEN_TRC_ELEM_EO_TRACE( [end-of-trace])",
    "ID:10\tEND OF TRACE DATA",
};

/* State of the callback for printed lines. */
struct printed {
    unsigned count, wrong;
};

static void print_line(const void *context, const char *text, const int size)
{
    struct printed *printed = (struct printed *)context;
    const char *wanted = printed->count < sizeof lines / sizeof *lines ? lines[printed->count] : "(nothing)";
    const size_t length = strlen(wanted);
    printed->count++;
    if ((size_t)size > length && !memcmp(text, wanted, length) && text[length] == '\n')
        return;
    printf("# line %u\n#   wanted: %s\n#   got:    %.*s", printed->count, wanted, size, text);
    printed->wrong++;
}

static bool texts_are_those_of_listings(const struct library *l, void *handle)
{
    struct itm_client client = {.library = l, .tcr = TCR};
    struct printed printed = {0};
    (void)handle;
    if (itm_client_begin(&client))
        return false;
    l->ocsd_def_errlog_set_strprint_cb(client.tree, &printed, print_line);
    l->ocsd_dt_set_pkt_protocol_printer(client.tree, 0x10, 1);
    l->ocsd_dt_set_gen_elem_printer(client.tree);
    itm_client_give(&client, 0, trace, sizeof trace);
    itm_client_end(&client);
    return !printed.wrong && printed.count == sizeof lines / sizeof *lines;
}

/* Elements of each kind that were seen, with checks of their text and members. */
struct kinds {
    const struct library *library;
    unsigned texts, changes, stimuli;
};

static ocsd_datapath_resp_t take_kind(const void *context, const ocsd_trc_index_t index, const uint8_t id,
                                      const ocsd_generic_trace_elem *e)
{
    struct kinds *kinds = (struct kinds *)context;
    const struct itm_info info = itm_info_of(e);
    char text[TEXT] = "", cut[8];
    (void)index;
    (void)id;
    if ((int)e->elem_type != ITM_ELEMENT)
        return OCSD_RESP_CONT;
    kinds->library->ocsd_gen_elem_str(e, text, sizeof text);
    kinds->library->ocsd_gen_elem_str(e, cut, sizeof cut);
    kinds->texts += !strncmp(text, "OCSD_GEN_TRC_ELEM_ITMTRACE(ITM_", 31) && !strcmp(cut, "OCSD_GE");
    kinds->changes += e->cpu_freq_change;
    kinds->stimuli += !info.pkt_type && info.payload_src_id == 0x4a && info.payload_size == 2 &&
                      info.value == 0x2345 && !info.overflow && e->isa == ocsd_isa_unknown;
    return OCSD_RESP_CONT;
}

static bool elements_have_their_layout(const struct library *l, void *handle)
{
    struct itm_client client = {.library = l, .tcr = TCR};
    struct kinds kinds = {.library = l};
    (void)handle;
    if (itm_client_begin(&client))
        return false;
    l->ocsd_dt_set_gen_elem_outfn(client.tree, take_kind, &kinds);
    itm_client_give(&client, 0, trace, sizeof trace);
    itm_client_end(&client);
    printf("# %u texts, %u changes of a clock, %u stimuli\n", kinds.texts, kinds.changes, kinds.stimuli);
    return kinds.texts == 17 && kinds.changes == 1 && kinds.stimuli == 1;
}

/* ---- random streams ---- */

struct stream {
    uint8_t bytes[ROOM];
    size_t size;
};

/* Writes a random stream, with some bytes before its first alignment packet. */
static void generate(struct rng *rng, bool damaged, struct stream *s)
{
    struct ct_itm_packet p = {.type = CT_ITM_ASYNC};
    const unsigned count = 1 + rng_below(rng, PACKETS);
    const unsigned head = rng_chance(rng, 128) ? rng_below(rng, 40) : 0;
    for (s->size = 0; s->size < head;)
        s->bytes[s->size++] = (uint8_t)(rng_chance(rng, 128) ? 0 : 1 + rng_below(rng, 0x70));
    if (rng_chance(rng, 16)) { /* more zeros than an alignment packet needs */
        const unsigned zeros = rng_below(rng, 3 * CT_ITM_PACKET_MAX);
        memset(s->bytes + s->size, 0, zeros);
        s->size += zeros;
    }
    s->size += itm_put_packet(s->bytes, s->size, &p, 6);
    for (unsigned i = 0; i < count; i++) {
        unsigned length;
        p = itm_gen_packet(rng, &length);
        if (p.type != CT_ITM_RESERVED || damaged)
            s->size += itm_put_packet(s->bytes, s->size, &p, length);
    }
    if (damaged)
        s->size = damage(rng, s->bytes, s->size, ROOM);
}

/* Returns whether two lines are equal enough. A monitor does not see unsynchronised bytes that may begin an
 * alignment packet at the end of the trace. Elements about a change of state have the position of the call or
 * of the packet that reports it. A damaged global timestamp may have more bits than packets of OpenCSD
 * hold. */
static bool is_same_line(const char *a, const char *b)
{
    static const char time[] = " itm_gts_2 ts=";
    const char *a_time = strstr(a, time), *b_time = strstr(b, time);
    const uint64_t bits = (UINT64_C(1) << 38) - 1;
    if (strstr(a, " itm_notsync "))
        return strstr(b, " itm_notsync ") != NULL;
    if (strstr(a, " no_sync ") || strstr(a, " eo_trace "))
        return !strcmp(strchr(a, ' '), strchr(b, ' '));
    if (!a_time || !b_time)
        return !strcmp(a, b);
    const uint64_t differ =
        strtoull(a_time + strlen(time), NULL, 16) ^ strtoull(b_time + strlen(time), NULL, 16);
    return a_time - a == b_time - b && !memcmp(a, b, (size_t)(a_time - a)) && !(differ & bits);
}

/* Compares two texts line by line, and prints the first lines that differ. */
static bool is_same(char *wanted, char *got)
{
    char *w_rest, *g_rest;
    char *w = strtok_r(wanted, "\n", &w_rest), *g = strtok_r(got, "\n", &g_rest);
    while (w && g && is_same_line(w, g)) {
        w = strtok_r(NULL, "\n", &w_rest);
        g = strtok_r(NULL, "\n", &g_rest);
    }
    if (w || g)
        printf("#   listing: %s\n#   library: %s\n", w ? w : "(end)", g ? g : "(end)");
    return !w && !g;
}

/* Returns the output that a client gets for a stream, cut and paused at random. The caller frees it. */
static char *play(const struct library *l, const struct stream *s, bool packets, struct rng *rng)
{
    char *text = NULL;
    size_t size;
    struct itm_client client = {.library = l, .tcr = TCR, .packets = packets};
    client.chunk = rng_chance(rng, 200) ? 1 + rng_below(rng, rng_chance(rng, 128) ? 8 : 400) : 0;
    client.wait = rng_chance(rng, 128) ? 1 + rng_below(rng, 10) : 0;
    client.flush = rng_chance(rng, 64) ? 1 + rng_below(rng, 5) : 0;
    client.out = open_memstream(&text, &size);
    if (!client.out || itm_client_begin(&client))
        abort();
    itm_client_give(&client, 0, s->bytes, s->size);
    itm_client_end(&client);
    fclose(client.out);
    return text;
}

/* ---- packets of the architecture ---- */

/* One packet of each form of DDI 0403E appendix D4, and its members as a client gets them. The values are
 * calculated from the tables of the appendix, not by coretap. */
static const struct form {
    const char *bytes, *fields;
} forms[] = {
    {"000000000080", "itm_async"},
    {"70", "itm_overflow"},
    {"c08102", "itm_ts_local ts=101 tc=0"},
    {"d005", "itm_ts_local ts=5 tc=1"},
    {"f0ffffff7f", "itm_ts_local ts=fffffff tc=3"},
    {"60", "itm_ts_local ts=6 tc=0"},
    {"9405", "itm_gts_1 ts=5"},
    {"9481828428", "itm_gts_1 ts=1010101 clkch=1"},
    {"9481828448", "itm_gts_1 ts=1010101 wrap=1"},
    {"b481828408", "itm_gts_2 ts=1010101"},
    {"b4818284889102", "itm_gts_2 ts=1111010101"},
    {"58", "itm_extension page=5"},
    {"f901", "itm_swit src=1f data=01"},
    {"0a0102", "itm_swit src=1 data=0201"},
    {"8301020304", "itm_swit src=10 data=04030201"},
    {"0515", "itm_dwt desc=0 data=15"},
    {"0e1020", "itm_dwt desc=1 data=2010"},
    {"1704030201", "itm_dwt desc=2 data=01020304"},
    {"1500", "itm_dwt desc=2 data=00"},
    {"5701020304", "itm_dwt desc=a data=04030201"},
    {"7e0102", "itm_dwt desc=f data=0201"},
    {"8533", "itm_dwt desc=10 data=33"},
    {"8f44332211", "itm_dwt desc=11 data=11223344"},
};

/* Adds a packet to a stream, and the line that a client prints for it to `wanted`. */
static void put_form(const struct form *form, struct stream *s, FILE *wanted)
{
    fprintf(wanted, "%zu 10 %s %s\n", s->size, form->bytes, form->fields);
    for (const char *at = form->bytes; *at; at += 2) {
        const char digits[] = {at[0], at[1], 0};
        s->bytes[s->size++] = (uint8_t)strtoul(digits, NULL, 16);
    }
}

static bool forms_are_those_of_the_architecture(const struct library *l, void *handle)
{
    static struct stream s;
    struct rng rng = {1};
    char *wanted = NULL;
    size_t size;
    FILE *lines = open_memstream(&wanted, &size);
    (void)handle;
    if (!lines)
        return false;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        put_form(&forms[i], &s, lines);
    fclose(lines);
    char *got = play(l, &s, true, &rng);
    const bool same = is_same(wanted, got);
    free(wanted);
    free(got);
    return same;
}

static bool check_stream(const struct library *l, bool packets, bool damaged, uint64_t seed)
{
    static struct stream s;
    struct rng rng = {seed};
    generate(&rng, damaged, &s);
    char *wanted =
        list_bytes(&source, NULL, 0, s.bytes, s.size, packets ? CT_LEVEL_PACKET : CT_LEVEL_FLOW, NULL);
    char *got = play(l, &s, packets, &rng);
    const bool same = is_same(wanted, got);
    free(wanted);
    free(got);
    return same;
}

static bool check_streams(const struct library *l, bool packets, bool damaged)
{
    const uint64_t first = test_number("CT_SEED", 1), count = test_count(300, 10000);
    unsigned worse = 0;
    for (uint64_t seed = first; seed < first + count && worse < 3; seed++)
        if (!check_stream(l, packets, damaged, seed)) {
            printf("# … CT_SEED=%" PRIu64 " CT_COUNT=1\n", seed);
            worse++;
        }
    return !worse;
}

static bool elements_of_sound_streams(const struct library *l, void *handle)
{
    (void)handle;
    return check_streams(l, false, false);
}

static bool elements_of_damaged_streams(const struct library *l, void *handle)
{
    (void)handle;
    return check_streams(l, false, true);
}

static bool packets_of_sound_streams(const struct library *l, void *handle)
{
    (void)handle;
    return check_streams(l, true, false);
}

static bool packets_of_damaged_streams(const struct library *l, void *handle)
{
    (void)handle;
    return check_streams(l, true, true);
}

/* ---- operations ---- */

/* Checks that decoding starts anew at a reset: the output equals that of two decoders, one for each half. */
static bool resets_begin_anew(const struct library *l, void *handle)
{
    bool good = true;
    (void)handle;
    for (size_t at = 0; at <= sizeof trace && good; at++) {
        char *got = NULL, *wanted = NULL;
        size_t size;
        struct itm_client once = {.library = l, .tcr = TCR}, first = once, second = once;
        once.out = open_memstream(&got, &size);
        itm_client_begin(&once);
        itm_client_give(&once, 0, trace, at);
        itm_client_reset(&once);
        itm_client_give(&once, 0, trace, sizeof trace);
        itm_client_end(&once);
        fclose(once.out);
        first.out = second.out = open_memstream(&wanted, &size);
        itm_client_begin(&first);
        itm_client_give(&first, 0, trace, at);
        first.library->ocsd_destroy_dcd_tree(first.tree);
        itm_client_begin(&second);
        itm_client_reset(&second);
        itm_client_give(&second, 0, trace, sizeof trace);
        itm_client_end(&second);
        fclose(second.out);
        good = is_same(wanted, got);
        if (!good)
            printf("# … reset at byte %zu\n", at);
        free(got);
        free(wanted);
    }
    return good;
}

/* State of a client like llvm-profgen: data addresses reported by the DWT. */
struct profile {
    unsigned addresses, lost;
    uint64_t sum;
};

static ocsd_datapath_resp_t take_address(const void *context, const ocsd_trc_index_t index, const uint8_t id,
                                         const ocsd_generic_trace_elem *e)
{
    struct profile *profile = (struct profile *)context;
    const struct itm_info info = itm_info_of(e);
    (void)index;
    (void)id;
    profile->lost += e->elem_type == OCSD_GEN_TRC_ELEM_NO_SYNC && info.pkt_type == 5;
    if ((int)e->elem_type != ITM_ELEMENT || info.pkt_type != 1)
        return OCSD_RESP_CONT;
    profile->addresses++;
    profile->sum += info.value;
    return OCSD_RESP_CONT;
}

/* Two addresses, an invalid header, an address that is lost, and one more after an alignment packet. */
static const uint8_t broken[] = {0x00, 0x00, 0x00, 0x00, 0x00, 0x80, 0x8f, 0x10, 0x00,
                                 0x00, 0x20, 0x4e, 0x34, 0x12, 0xa4, 0x4e, 0x11, 0x11,
                                 0x00, 0x00, 0x00, 0x00, 0x00, 0x80, 0x4e, 0x78, 0x56};

/* Decodes `broken` with the calls of llvm-profgen. Returns the worst answer. */
static ocsd_datapath_resp_t profile_broken(const struct library *l, int flags, struct profile *profile)
{
    const struct itm_config config = {TCR};
    unsigned char id = 0xee;
    uint32_t done = 0;
    dcd_tree_handle_t tree = l->ocsd_create_dcd_tree(OCSD_TRC_SRC_SINGLE, 0);
    l->ocsd_dt_create_decoder(tree, ITM_NAME, OCSD_CREATE_FLG_FULL_DECODER | flags, &config, &id);
    l->ocsd_dt_set_gen_elem_outfn(tree, take_address, profile);
    l->ocsd_dt_process_data(tree, OCSD_OP_RESET, 0, 0, NULL, NULL);
    const ocsd_datapath_resp_t resp =
        l->ocsd_dt_process_data(tree, OCSD_OP_DATA, 0, sizeof broken, broken, &done);
    l->ocsd_dt_process_data(tree, OCSD_OP_EOT, 0, 0, NULL, NULL);
    l->ocsd_destroy_dcd_tree(tree);
    return resp;
}

/* Checks that an invalid packet ends the trace, unless the decoder has the flag to look for the next
 * alignment packet. */
static bool bad_packets_are_told(const struct library *l, void *handle)
{
    struct profile ended = {0}, goes_on = {0};
    (void)handle;
    const int without = (int)profile_broken(l, 0, &ended);
    const int with = (int)profile_broken(l, UNSYNC_ON_BAD_PACKETS, &goes_on);
    printf("# answers %d and %d, %u and %u addresses\n", without, with, ended.addresses, goes_on.addresses);
    return without == OCSD_RESP_FATAL_INVALID_DATA && ended.addresses == 2 && ended.lost == 0 &&
           with == OCSD_RESP_CONT && goes_on.addresses == 3 && goes_on.lost == 1 &&
           goes_on.sum == 0x20000010 + 0x1234 + 0x5678;
}

/* Writes a synchronisation word, then a frame with one trace ID for every 14 bytes. The rest of the last
 * frame is filled with `filler`. Returns the number of bytes written. */
static uint32_t put_frames(uint8_t id, const uint8_t *bytes, size_t size, uint8_t filler, uint8_t *out)
{
    enum {
        WORD = 4,
        FRAME = 16,
        DATA = 14,
    };
    uint32_t n = 0;
    for (size_t at = 0; at < size; at += DATA, n += WORD + FRAME) {
        uint8_t *frame = out + n + WORD;
        memcpy(out + n, "\xff\xff\xff\x7f", WORD);
        frame[0] = (uint8_t)(id << 1 | 1);
        frame[FRAME - 1] = 0;
        for (unsigned i = 0; i < DATA; i++) {
            const uint8_t byte = at + i < size ? bytes[at + i] : filler;
            const bool is_even = (i + 1) % 2 == 0;
            frame[i + 1] = (uint8_t)(is_even ? byte & 0xfe : byte);
            frame[FRAME - 1] |= (uint8_t)(is_even ? (byte & 1) << (i + 1) / 2 : 0);
        }
    }
    return n;
}

/* Elements seen by a client of both decoders. */
struct both {
    unsigned ranges, data, others;
};

static ocsd_datapath_resp_t take_both(const void *context, const ocsd_trc_index_t index, const uint8_t id,
                                      const ocsd_generic_trace_elem *e)
{
    struct both *both = (struct both *)context;
    (void)index;
    if (e->elem_type == OCSD_GEN_TRC_ELEM_INSTR_RANGE && id == 0x20)
        both->ranges++;
    else if ((int)e->elem_type == ITM_ELEMENT && id == 0x10)
        both->data += itm_info_of(e).pkt_type == 1;
    else
        both->others += e->elem_type != OCSD_GEN_TRC_ELEM_NO_SYNC;
    return OCSD_RESP_CONT;
}

/* Checks a tree with an ETM of a Cortex-M and an ITM, in frames with synchronisation words, as in
 * llvm-profgen. */
static bool both_are_in_frames(const struct library *l, void *handle)
{
    static const uint8_t nops[] = {0x00, 0xbf, 0x00, 0xbf, 0xfe, 0xe7, 0x00, 0xbf};
    static const uint8_t etm[] = {0,    0,    0,    0,    0, 0,    0, 0, 0, 0,    0,   0x80,
                                  0x01, 0x00, 0x04, 0x83, 0, 0x08, 0, 0, 0, 0xf7, 0xf7};
    const ocsd_etmv4_cfg etm_config = {
        .reg_traceidr = 0x20, .arch_ver = ARCH_V8, .core_prof = profile_CortexM};
    const struct itm_config config = {TCR};
    uint8_t frames[400];
    unsigned char id;
    uint32_t done = 0;
    struct both both = {0};
    (void)handle;
    uint32_t size = put_frames(0x10, trace, sizeof trace / 2, 0x08, frames);
    size += put_frames(0x20, etm, sizeof etm, 0xf7, frames + size);
    size += put_frames(0x10, trace, sizeof trace, 0x08, frames + size);
    dcd_tree_handle_t tree = l->ocsd_create_dcd_tree(OCSD_TRC_SRC_FRAME_FORMATTED, OCSD_DFRMTR_HAS_FSYNCS);
    l->ocsd_dt_create_decoder(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_FULL_DECODER, &etm_config, &id);
    l->ocsd_dt_create_decoder(tree, ITM_NAME, OCSD_CREATE_FLG_FULL_DECODER, &config, &id);
    l->ocsd_dt_add_buffer_mem_acc(tree, 0x800, OCSD_MEM_SPACE_ANY, nops, sizeof nops);
    l->ocsd_dt_set_gen_elem_outfn(tree, take_both, &both);
    l->ocsd_dt_process_data(tree, OCSD_OP_RESET, 0, 0, NULL, NULL);
    const ocsd_datapath_resp_t resp = l->ocsd_dt_process_data(tree, OCSD_OP_DATA, 0, size, frames, &done);
    l->ocsd_destroy_dcd_tree(tree);
    printf("# answer %d, %u of %u bytes, %u ranges, %u of the DWT\n", (int)resp, done, size, both.ranges,
           both.data);
    return resp == OCSD_RESP_CONT && done == size && both.ranges && both.data == 10;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        bool (*test)(const struct library *l, void *handle);
    } tests[] = {
        {"a program's version decides whether there is ITM", versions_decide},
        {"every function of 1.8", functions_are_there},
        {"texts of packets and elements", texts_are_those_of_listings},
        {"members of elements", elements_have_their_layout},
        {"packets of every form in the architecture", forms_are_those_of_the_architecture},
        {"elements of random streams", elements_of_sound_streams},
        {"elements of damaged streams", elements_of_damaged_streams},
        {"packets of random streams", packets_of_sound_streams},
        {"packets of damaged streams", packets_of_damaged_streams},
        {"a reset at any byte", resets_begin_anew},
        {"packets that cannot be", bad_packets_are_told},
        {"an ETM and an ITM in frames", both_are_in_frames},
    };
    struct library library;
    int failed = 0;
    if (argc < 2 || library_load(argv[1], &library))
        return 2;
    void *handle = dlopen(argv[1], RTLD_NOW);
    printf("TAP version 13\n1..%zu\n", sizeof tests / sizeof *tests);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        const bool fine = tests[i].test(&library, handle);
        printf("%sok %zu - %s\n", fine ? "" : "not ", i + 1, tests[i].name);
        failed |= !fine;
    }
    return failed;
}
