/* SPDX-License-Identifier: Apache-2.0 */
/* Measures how fast each way of decoding turns ETMv4 bytes into packets, elements and events (paper 1, Table
 * I), and the byte-wise decoding function by unroll factor (its Table II). Uses traces of path.h, or one
 * ETMv4 stream in a file:
 *   bench_packets [FILE TRCCONFIGR]
 * Each figure is the median of ROUNDS rounds, in each of which the ways take turns. One turn makes passes
 * over the same bytes in memory for ROUND_S seconds, because a single pass of the quickest ways ends before
 * its data is in the caches. For count_instructions.py,
 *   bench_packets MODE WAY PASSES
 * makes PASSES passes over a trace of path.h in one way, both given by their numbers, and only prints the
 * number of bytes of the trace. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "coretap/decode.h"
#include "coretap/event.h"
#include "etm4_trace.h"
#include "bytewise/etm4_bytewise.h"
#ifdef CT_BENCH_OPENCSD
#include <opencsd/c_api/opencsd_c_api.h>
#endif

#define ROUNDS  9
#define ROUND_S 0.02
#define STEPS   2000000
#define PIECE   ((size_t)1 << 18)
#define PACKETS 4096

enum way {
    OPENCSD,
    PLAIN_PACKETS,
    BYTEWISE, /* one way for each unroll factor */
    PLAIN_ELEMENTS = BYTEWISE + CT_ETM4_UNROLL_MAX,
    ELEMENTS,
    PLAIN_EVENTS,
    EVENTS,
    WAYS
};

static const char *const names[WAYS] = {[OPENCSD] = "packets, OpenCSD",
                                        [PLAIN_PACKETS] = "packets",
                                        [BYTEWISE] = "packets, D_1",
                                        [BYTEWISE + 1] = "packets, D_2",
                                        [BYTEWISE + 2] = "packets, D_3",
                                        [BYTEWISE + 3] = "packets, D_4",
                                        [BYTEWISE + 4] = "packets, D_5",
                                        [BYTEWISE + 5] = "packets, D_6",
                                        [BYTEWISE + 6] = "packets, D_7",
                                        [BYTEWISE + 7] = "packets, D_8",
                                        [PLAIN_ELEMENTS] = "elements, by packets",
                                        [ELEMENTS] = "elements",
                                        [PLAIN_EVENTS] = "events, by packets and elements",
                                        [EVENTS] = "events"};

/* Sums of the results of a pass, which keep the compiler from leaving anything out. */
struct sums {
    uint64_t count;
    struct ct_events *events;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int on_packets(void *user, const struct ct_stream *stream, const struct ct_packet_batch *batch)
{
    struct sums *sums = user;
    (void)stream;
    sums->count += batch->count;
    return 0;
}

static int on_packets_too(void *user, const struct ct_stream *stream, const struct ct_packet_batch *batch)
{
    (void)user, (void)stream, (void)batch;
    return 0;
}

static int on_elems(void *user, const struct ct_stream *stream, const struct ct_elem_batch *batch)
{
    struct sums *sums = user;
    (void)stream;
    sums->count += batch->count;
    return 0;
}

static int on_plain_events(void *user, const struct ct_stream *stream, const struct ct_elem_batch *batch)
{
    static struct ct_event events[2048];
    struct sums *sums = user;
    (void)stream;
    for (size_t done = 0, n; done < batch->count; sums->count += n)
        done += ct_events_from_elems(sums->events, batch->elems + done, batch->count - done, batch->end,
                                     events, 2048, &n);
    return 0;
}

static int on_events(void *user, const struct ct_stream *stream, const struct ct_event_batch *batch)
{
    struct sums *sums = user;
    (void)stream;
    sums->count += batch->count + batch->mark_count;
    return 0;
}

static void run_chain(const struct trace *t, enum way way, struct sums *sums)
{
    const struct ct_chain_sink sinks[WAYS] = {
        [PLAIN_PACKETS] = {.user = sums, .packets = on_packets},
        [PLAIN_ELEMENTS] = {.user = sums, .packets = on_packets_too, .elems = on_elems},
        [ELEMENTS] = {.user = sums, .elems = on_elems},
        [PLAIN_EVENTS] = {.user = sums, .packets = on_packets_too, .elems = on_plain_events},
        [EVENTS] = {.user = sums, .events = on_events},
    };
    const struct ct_buffer buffer = {.name = "bench",
                                     .path = "-",
                                     .framing = CT_FRAMING_NONE,
                                     .sources = (struct ct_source *)&t->source,
                                     .source_count = 1};
    const struct ct_chain_options options = {.size = sizeof options,
                                             .level =
                                                 way == PLAIN_PACKETS ? CT_LEVEL_PACKET : CT_LEVEL_ELEMENT,
                                             .framing = CT_FRAMING_NONE};
    struct ct_chain *chain;
    if (ct_events_new(NULL, &t->source, &sums->events) ||
        ct_chain_new(NULL, &buffer, &options, &sinks[way], &chain))
        exit(1);
    for (size_t at = 0; at < t->size; at += PIECE)
        ct_chain_push(chain, t->bytes + at, t->size - at < PIECE ? t->size - at : PIECE);
    ct_chain_finish(chain);
    ct_chain_free(chain);
    ct_events_free(sums->events);
}

static void run_bytewise(const struct trace *t, unsigned unroll, struct sums *sums)
{
    static struct ct_etm4_bytewise b;
    static struct ct_etm4_packet packets[PACKETS];
    size_t count;
    ct_etm4_bytewise_init(NULL, &t->source, &b);
    for (size_t at = 0; at < t->size; sums->count += count)
        at += ct_etm4_bytewise_run(&b, unroll, t->bytes + at, t->size - at, at, packets, PACKETS, &count);
}

#ifdef CT_BENCH_OPENCSD
static ocsd_datapath_resp_t take_packet(const void *user, const ocsd_datapath_op_t op,
                                        const ocsd_trc_index_t index, const void *packet)
{
    struct sums *sums = (struct sums *)user;
    (void)index, (void)packet;
    sums->count += op == OCSD_OP_DATA;
    return OCSD_RESP_CONT;
}

static void run_opencsd(const struct trace *t, struct sums *sums)
{
    const struct ct_source_regs *r = &t->source.regs;
    ocsd_etmv4_cfg cfg = {.reg_idr0 = r->idr0,
                          .reg_idr1 = r->idr1,
                          .reg_idr2 = r->idr2,
                          .reg_configr = r->configr,
                          .reg_traceidr = r->traceidr,
                          .arch_ver = ARCH_V8,
                          .core_prof = profile_CortexA};
    dcd_tree_handle_t tree = ocsd_create_dcd_tree(OCSD_TRC_SRC_SINGLE, 0);
    unsigned char id;
    uint32_t used;
    ocsd_def_errlog_init(OCSD_ERR_SEV_NONE, 0);
    ocsd_dt_create_decoder(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_PACKET_PROC, &cfg, &id);
    ocsd_dt_attach_packet_callback(tree, id, OCSD_C_API_CB_PKT_SINK, (void *)take_packet, sums);
    for (size_t at = 0; at < t->size; at += used)
        if (OCSD_DATA_RESP_IS_FATAL(ocsd_dt_process_data(tree, OCSD_OP_DATA, (ocsd_trc_index_t)at,
                                                         (uint32_t)(t->size - at), t->bytes + at, &used)))
            break;
    ocsd_destroy_dcd_tree(tree);
}
#else
static void run_opencsd(const struct trace *t, struct sums *sums)
{
    (void)t, (void)sums;
}
#endif

static void run(const struct trace *t, enum way way, struct sums *sums)
{
    if (way == OPENCSD)
        run_opencsd(t, sums);
    else if (way >= BYTEWISE && way < PLAIN_ELEMENTS)
        run_bytewise(t, way - BYTEWISE + 1u, sums);
    else
        run_chain(t, way, sums);
}

static int by_time(const void *a, const void *b)
{
    const double *x = a;
    const double *y = b;
    return (*x > *y) - (*x < *y);
}

/* Returns the seconds of a pass; *count is set to the number of packets, elements or events that it found. */
static double measure_round(const struct trace *t, enum way way, uint64_t *count)
{
    const double begin = now();
    double took = 0;
    unsigned passes = 0;
    while (took < ROUND_S) {
        struct sums sums = {0};
        run(t, way, &sums);
        *count = sums.count;
        took = now() - begin;
        passes++;
    }
    return took / passes;
}

static void measure(const char *name, const struct trace *t)
{
    static double seconds[WAYS][ROUNDS];
    uint64_t counts[WAYS];
    for (unsigned round = 0; round < ROUNDS; round++)
        for (unsigned way = 0; way < WAYS; way++)
            seconds[way][round] = measure_round(t, (enum way)way, &counts[way]);
    printf("%s: %zu bytes, %.2f bytes a packet\n", name, t->size,
           (double)t->size / (double)counts[PLAIN_PACKETS]);
    for (unsigned way = 0; way < WAYS; way++) {
        if (!counts[way])
            continue;
        qsort(seconds[way], ROUNDS, sizeof(double), by_time);
        double median = seconds[way][ROUNDS / 2];
        printf("  %-32s %8.1f MB/s  (best %.1f)  %10llu\n", names[way], (double)t->size / median / 1e6,
               (double)t->size / seconds[way][0] / 1e6, (unsigned long long)counts[way]);
    }
}

static void measure_file(const char *path, const char *configr)
{
    struct trace t = {.source = trace_source(TRACE_BROADCAST)};
    t.source.regs.configr = (uint32_t)strtoul(configr, NULL, 0);
    FILE *in = fopen(path, "rb");
    if (!in || fseek(in, 0, SEEK_END))
        exit(1);
    t.size = (size_t)ftell(in);
    rewind(in);
    t.bytes = malloc(t.size + 1);
    if (!t.bytes || fread(t.bytes, 1, t.size, in) != t.size)
        exit(1);
    fclose(in);
    measure(path, &t);
    trace_free(&t);
}

static struct trace make_trace(unsigned mode)
{
    struct path_step *steps = malloc(STEPS * sizeof *steps);
    if (!steps)
        exit(1);
    path_run(1, steps, STEPS);
    const struct trace t = trace_make((enum trace_mode)mode, steps, STEPS);
    free(steps);
    return t;
}

static void run_only(unsigned mode, unsigned way, unsigned passes)
{
    struct trace t = make_trace(mode);
    for (unsigned i = 0; i < passes; i++) {
        struct sums sums = {0};
        run(&t, (enum way)way, &sums);
    }
    printf("%zu\n", t.size);
    trace_free(&t);
}

int main(int argc, char **argv)
{
    static const char *const modes[] = {"plain", "cycle counts", "branch broadcast, cycle counts, events"};
    if (argc == 3) {
        measure_file(argv[1], argv[2]);
        return 0;
    }
    if (argc == 4) {
        run_only((unsigned)atoi(argv[1]), (unsigned)atoi(argv[2]), (unsigned)atoi(argv[3]));
        return 0;
    }
    for (unsigned mode = TRACE_PLAIN; mode <= TRACE_BROADCAST; mode++) {
        struct trace t = make_trace(mode);
        measure(modes[mode], &t);
        trace_free(&t);
    }
    return 0;
}
