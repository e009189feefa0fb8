/* SPDX-License-Identifier: Apache-2.0 */
/* A model of an ITM with its DWT: it is told of accesses to memory that stands for stimulus ports, or that is
 * watched, and writes the trace that says them. */
#ifndef CT_RECORD_SOFTWARE_H
#define CT_RECORD_SOFTWARE_H

#include <stdbool.h>

#include "coretap/input.h"

#define CT_SOFTWARE_PORTS       256 /* of 4 bytes: 8 pages of 32 */
#define CT_SOFTWARE_COMPARATORS 4   /* ARMv7-M ARM DDI 0403E, C1.8 */

/* One access. */
struct ct_software_access {
    uint64_t clock; /* cycles */
    uint64_t pc;    /* address of the instruction */
    uint64_t addr;  /* … that was accessed; of stimulus ports from the first one on */
    uint64_t data;
    uint8_t bytes; /* 1, 2, 4 or 8 */
    bool store;
    bool port;          /* a stimulus port was written, and not what a comparator watches */
    uint8_t comparator; /* that watches the address */
};

struct ct_software_options {
    uint8_t trace_id;
    uint32_t sync_period; /* bytes of trace between alignment packets; 0: only at the begin */
    /* Takes trace bytes. An error is returned. */
    int (*write)(void *user, const uint8_t *bytes, size_t size);
    void *user;
};

struct ct_software;

/* CT_ERR_NOMEM. */
int ct_software_new(struct ct_ctx *ctx, const struct ct_software_options *options, struct ct_software **out);
void ct_software_free(struct ct_software *software);

/* Sets up the source that the trace is of. */
void ct_software_source(uint8_t trace_id, struct ct_source *source);

/* Takes an access. Those of several cores come in nearly the order of their clocks: some thousands are held
 * back and sorted; one that comes later still is written with the time of the one before it. What `write`
 * returns. */
int ct_software_take(struct ct_software *software, const struct ct_software_access *access);

/* Writes all that is held back. What `write` returns. */
int ct_software_flush(struct ct_software *software);

/* Writes all that is held back; what comes then begins with an alignment packet. What `write` returns. */
int ct_software_restart(struct ct_software *software);

#endif
