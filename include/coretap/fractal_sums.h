/* SPDX-License-Identifier: Apache-2.0 */
/* coretap FRACTAL sums: numbers from the event logs of FRACTAL (fractal.h), over any number of runs. They are
 * an analysis (analysis.h), but take nothing from a session: the events of a log are passed to them one by
 * one, with what they belong to. Addresses differ between runs, so everything is kept by names and by offsets
 * from the start of a named range; physical addresses are not kept.
 *
 *     ct_fractal_sums_new(ctx, &sums);
 *     ct_fractal_sums_begin(sums, &(struct ct_fractal_run){.size = sizeof(struct ct_fractal_run),
 *                                                          .name = "monday.log", .program = "canny"});
 *     while (ct_fractal_reader_next(reader, &event, 1))
 *         ct_fractal_sums_take(sums, &event, &place);
 *     ct_fractal_sums_end(sums, dropped, damaged); */
#ifndef CORETAP_FRACTAL_SUMS_H
#define CORETAP_FRACTAL_SUMS_H

#include "coretap/analysis.h"
#include "coretap/base.h"
#include "coretap/fractal.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a name stands for. */
enum ct_fractal_name_kind {
    CT_FRACTAL_FUNCTION,
    CT_FRACTAL_OBJECT,
    CT_FRACTAL_SECTION,
    CT_FRACTAL_REGION,    /* heap, stack, mapping */
    CT_FRACTAL_ELSEWHERE, /* any address without a name */
    CT_FRACTAL_PAGE,      /* a page of a region, or of the program's file in memory */
};

/* What the address of an event belongs to. All texts are copied. */
struct ct_fractal_place {
    const char *name;      /* of `kind` */
    const char *area;      /* region of its page; "": the program's file; NULL: pages are not counted */
    uint64_t offset;       /* of the address, from the start of its area */
    const char *point;     /* name of its observation point; NULL: none */
    uint64_t point_offset; /* of the observation point, from the start of its area */
    uint8_t kind;          /* enum ct_fractal_name_kind, but not PAGE */
    uint8_t point_is_line; /* 1: the hit may belong to something else in the line */
    uint8_t pad[2];        /* 0 */
    uint32_t point_number; /* number that tells hits apart, plus one; 0: the number in the event */
};

/* One log. */
struct ct_fractal_run {
    size_t size;         /* sizeof(struct ct_fractal_run) */
    const char *name;    /* name of the log; NULL: not recorded */
    const char *program; /* last component of its path; NULL: unknown */
    uint64_t clock_hz;   /* of the times in the log; 0: unknown */
};

/* Number of events of one name. Counts stop at 2^64 - 1. */
struct ct_fractal_sum {
    const char *program;    /* "": unknown */
    const char *name;       /* PAGE: the region, or "" */
    uint64_t offset;        /* PAGE: of its first byte */
    uint64_t events, insns; /* all events, and those that fetch instructions */
    uint8_t kind;           /* enum ct_fractal_name_kind */
    uint8_t pad[7];         /* 0 */
};

/* An observation point. Times are ticks of the clock; hits with another clock frequency are a separate
 * sum. */
struct ct_fractal_point_sum {
    const char *program, *name;
    uint64_t offset, clock_hz;
    uint64_t hits;
    uint64_t intervals; /* times from one hit to the next of the same log; 0: the members below are 0 */
    uint64_t shortest, longest, total;
};

/* Maximal number of names and of points (each), and of bytes in a text. */
#define CT_FRACTAL_SUMS_MOST 4000000
#define CT_FRACTAL_SUMS_NAME 4096

/* Counts without names. */
struct ct_fractal_totals {
    uint64_t events;  /* without the events that repeat another one for a further mapping of the page */
    uint64_t aliases; /* events that repeat another one for a further mapping of the page */
    uint64_t insns;
    uint64_t by_op[CT_FRACTAL_OP_COUNT];
    uint64_t by_initiator[64];
};

struct ct_fractal_sums;

/* Makes empty sums. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_fractal_sums_new(struct ct_ctx *ctx, struct ct_fractal_sums **out);
CT_API void ct_fractal_sums_free(struct ct_fractal_sums *sums);

/* Begins a log: the events that follow belong to it. `run` may be NULL. CT_ERR_ARG, also within a log and for
 * texts of more than CT_FRACTAL_SUMS_NAME bytes; CT_ERR_NOMEM. */
CT_API int ct_fractal_sums_begin(struct ct_fractal_sums *sums, const struct ct_fractal_run *run);

/* Takes an event, in the order of the log. CT_ERR_ARG, also outside of a log; CT_ERR_LIMIT, CT_ERR_NOMEM. */
CT_API int ct_fractal_sums_take(struct ct_fractal_sums *sums, const struct ct_fractal_event *event,
                                const struct ct_fractal_place *place);

/* Ends a log, with the number of its dropped events and damaged bytes. It is one capture of the result:
 * dropped events count as overflows, and damaged bytes make it incomplete. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_fractal_sums_end(struct ct_fractal_sums *sums, uint64_t dropped, uint64_t damaged);

/* Returns the program of the first log that had one; NULL: none had. It stays valid as long as the sums. */
CT_API const char *ct_fractal_sums_program(const struct ct_fractal_sums *sums);

/* Returns the kind of this analysis, and the analysis that `sums` owns. */
CT_API const struct ct_analysis_kind *ct_fractal_sums_kind(void);
CT_API struct ct_analysis *ct_fractal_sums_analysis(struct ct_fractal_sums *sums);

/* Returns the counts without names. */
CT_API const struct ct_fractal_totals *ct_fractal_sums_totals(const struct ct_fractal_sums *sums);

/* Returns all names, by program, kind, name and offset. They stay valid until something is added. */
CT_API const struct ct_fractal_sum *ct_fractal_sums_all(struct ct_fractal_sums *sums, size_t *count);

/* Returns all observation points, by program, name, offset and clock. They stay valid until something is
 * added. */
CT_API const struct ct_fractal_point_sum *ct_fractal_sums_points(struct ct_fractal_sums *sums, size_t *count);

#ifdef __cplusplus
}
#endif
#endif
