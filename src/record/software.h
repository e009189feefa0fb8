/* SPDX-License-Identifier: Apache-2.0 */
/* A model of an ITM with its DWT, or of an STM: it receives accesses to watched memory and to stimulus ports,
 * and writes their trace. */
#pragma once

#include <stdbool.h>

#include "coretap/input.h"

#define CT_SOFTWARE_PORTS_SIZE    1024      /* bytes of the ports of an ITM: 8 pages of 32, of 4 bytes each */
#define CT_SOFTWARE_CHANNELS_SIZE (1 << 24) /* bytes of the channels of an STM: 65536 of 256 bytes each */

enum ct_software_kind {
    CT_SOFTWARE_PORT,    /* a stimulus port of the ITM was written */
    CT_SOFTWARE_WATCHED, /* a comparator of the DWT matched */
    CT_SOFTWARE_CHANNEL, /* a stimulus port of the STM was written */
};

/* One access. */
struct ct_software_access {
    uint64_t clock; /* cycles */
    uint64_t pc;    /* address of the instruction */
    uint64_t addr;  /* accessed address; for stimulus ports the offset from the first one. Behind the ports of
                       an ITM are its registers. */
    uint64_t data;
    uint16_t core;
    uint8_t bytes; /* 1, 2, 4 or 8 */
    uint8_t kind;  /* enum ct_software_kind */
    uint8_t comparator;
    uint8_t piece; /* number of the watched memory */
    bool store;
};

struct ct_software_options {
    const struct ct_source *source; /* an ITM or an STM */
    uint32_t sync_period;           /* bytes of trace between alignment packets; 0: only at the beginning */
    /* Writes trace bytes. An error is returned. */
    int (*write)(void *user, const uint8_t *bytes, size_t size);
    void *user;
};

struct ct_software;

/* Fills in a source. `protocol` is CT_PROTOCOL_ITM or CT_PROTOCOL_STM. */
void ct_software_source(enum ct_protocol protocol, uint8_t trace_id, struct ct_source *source);

/* CT_ERR_NOMEM. */
int ct_software_new(struct ct_ctx *ctx, const struct ct_software_options *options, struct ct_software **out);
void ct_software_free(struct ct_software *software);

/* Adds an access. Accesses of several cores arrive nearly in the order of their clocks: thousands are held
 * back and sorted. One that arrives even later gets the time of the one before it. Returns the result of
 * `write`. */
int ct_software_take(struct ct_software *software, const struct ct_software_access *access);

/* Writes all held accesses. Returns the result of `write`. */
int ct_software_flush(struct ct_software *software);

/* Returns the number of accesses that are not in the trace because the program has disabled the ITM, a
 * stimulus port, or packets of the DWT. */
uint64_t ct_software_disabled(const struct ct_software *software);

/* Writes all held accesses; the following trace begins with an alignment packet. Returns the result of
 * `write`. */
int ct_software_restart(struct ct_software *software);
