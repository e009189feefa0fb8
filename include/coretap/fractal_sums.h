/* SPDX-License-Identifier: Apache-2.0 */
/* coretap FRACTAL sums: what event logs of FRACTAL (fractal.h) say, of any number of runs. They keep the
 * contract of analyses (analysis.h) but take nothing of a session: events of a log are given to them one by
 * one, with what they belong to. Addresses of one run are not those of another, so all is known by names and
 * by offsets in what has a name; physical addresses are not kept.
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

/* What a name is of. */
enum ct_fractal_name_kind {
    CT_FRACTAL_FUNCTION,
    CT_FRACTAL_OBJECT,
    CT_FRACTAL_SECTION,
    CT_FRACTAL_REGION,    /* heap, stack, mapping */
    CT_FRACTAL_ELSEWHERE, /* nothing that has a name */
    CT_FRACTAL_PAGE,      /* a page of a region, or of what the program's file holds */
};

/* What the address of an event belongs to. All texts are copied. */
struct ct_fractal_place {
    const char *name;  /* of `kind` */
    const char *area;  /* region that its page is in; "": the program's file; NULL: the page is not kept */
    uint64_t offset;   /* of the place, from the begin of its area */
    const char *point; /* what its observation point is called; NULL: it has none */
    uint64_t point_offset; /* of the observation point, from the begin of its area */
    uint8_t kind;          /* enum ct_fractal_name_kind, but not PAGE */
    uint8_t point_is_line; /* 1: the hit may be of something else in the line */
    uint8_t pad[2];        /* 0 */
    uint32_t point_number; /* what hits are told apart by, plus one; 0: the number in the event */
};

/* One log. */
struct ct_fractal_run {
    size_t size;         /* sizeof(struct ct_fractal_run) */
    const char *name;    /* of the log; NULL: it is not told of */
    const char *program; /* last part of its path; NULL: not known */
    uint64_t clock_hz;   /* of the log's times; 0: not stated */
};

/* Events of one name. Counts stop at 2^64 - 1. */
struct ct_fractal_sum {
    const char *program;    /* "": not known */
    const char *name;       /* PAGE: the region, or "" */
    uint64_t offset;        /* PAGE: of its first byte */
    uint64_t events, insns; /* all, and those that fetch instructions */
    uint8_t kind;           /* enum ct_fractal_name_kind */
    uint8_t pad[7];         /* 0 */
};

/* An observation point. Times are in ticks of the clock; those of another clock are a sum of their own. */
struct ct_fractal_point_sum {
    const char *program, *name;
    uint64_t offset, clock_hz;
    uint64_t hits;
    uint64_t intervals; /* from one hit to the next of the same log; 0: the following are 0 */
    uint64_t shortest, longest, total;
};

/* Names and points of a sum at most (each), and bytes of a text. */
#define CT_FRACTAL_SUMS_MOST 4000000
#define CT_FRACTAL_SUMS_NAME 4096

/* What is counted without a name. */
struct ct_fractal_totals {
    uint64_t events;  /* events without those that are told for another mapping of a page */
    uint64_t aliases; /* events that are told for another mapping of a page */
    uint64_t insns;
    uint64_t by_op[CT_FRACTAL_OP_COUNT];
    uint64_t by_initiator[64];
};

struct ct_fractal_sums;

/* Makes empty sums. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_fractal_sums_new(struct ct_ctx *ctx, struct ct_fractal_sums **out);
CT_API void ct_fractal_sums_free(struct ct_fractal_sums *sums);

/* Begins a log: events are of it until its end. `run` may be NULL. CT_ERR_ARG, also within a log and for
 * texts of more than CT_FRACTAL_SUMS_NAME bytes; CT_ERR_NOMEM. */
CT_API int ct_fractal_sums_begin(struct ct_fractal_sums *sums, const struct ct_fractal_run *run);

/* Takes an event, in the order of the log. CT_ERR_ARG, also outside of a log; CT_ERR_LIMIT, CT_ERR_NOMEM. */
CT_API int ct_fractal_sums_take(struct ct_fractal_sums *sums, const struct ct_fractal_event *event,
                                const struct ct_fractal_place *place);

/* Ends a log of which so many events were dropped, and so many bytes damaged. It is one capture of the
 * result: dropped events count as overflows, and with damaged bytes it is not whole. CT_ERR_ARG,
 * CT_ERR_NOMEM. */
CT_API int ct_fractal_sums_end(struct ct_fractal_sums *sums, uint64_t dropped, uint64_t damaged);

/* Returns the program of the first log that was begun with one; NULL: none was. It stays as long as the sums.
 */
CT_API const char *ct_fractal_sums_program(const struct ct_fractal_sums *sums);

/* Returns what the contract of analyses needs: the kind, and the analysis that sums are, which they own. */
CT_API const struct ct_analysis_kind *ct_fractal_sums_kind(void);
CT_API struct ct_analysis *ct_fractal_sums_analysis(struct ct_fractal_sums *sums);

/* Returns what is counted without a name. */
CT_API const struct ct_fractal_totals *ct_fractal_sums_totals(const struct ct_fractal_sums *sums);

/* Returns all names, by program, kind, name and offset. They are there until something is added. */
CT_API const struct ct_fractal_sum *ct_fractal_sums_all(struct ct_fractal_sums *sums, size_t *count);

/* Returns all observation points, by program, name, offset and clock. The same. */
CT_API const struct ct_fractal_point_sum *ct_fractal_sums_points(struct ct_fractal_sums *sums, size_t *count);

#ifdef __cplusplus
}
#endif
#endif
