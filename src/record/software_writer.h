/* SPDX-License-Identifier: Apache-2.0 */
/* Write the trace of accesses, which arrive in the order of their clocks. */
#pragma once

#include "record/software.h"

/* Destination of trace bytes. */
struct ct_software_out {
    struct ct_ctx *ctx;
    uint32_t sync_period; /* bytes between alignment packets; 0: only at the beginning */
    int (*write)(void *user, const uint8_t *bytes, size_t size);
    void *user;
};

struct ct_itm_writer {
    struct ct_software_out out;
    uint64_t clock;    /* of the last global timestamp */
    uint64_t since;    /* bytes since the last alignment packet */
    bool begun;        /* an alignment packet and a complete timestamp were written */
    uint8_t page;      /* of stimulus ports */
    uint32_t tcr;      /* the register ITM_TCR */
    uint32_t ter[8];   /* the registers ITM_TER: a bit for each stimulus port */
    uint64_t disabled; /* accesses that these registers keep out of the trace */
};

/* Turns everything on, as a debugger does. */
void ct_itm_writer_init(struct ct_itm_writer *writer);

/* Writes an access. Returns the result of `write`. */
int ct_itm_writer_put(struct ct_itm_writer *writer, const struct ct_software_access *access);

struct ct_stm_encoder;

struct ct_stm_writer {
    struct ct_software_out out;
    struct ct_stm_encoder *encoder;
    uint64_t since; /* bytes since the last alignment packet */
    bool begun;     /* an alignment packet and a version packet were written */
    uint16_t master, channel;
};

/* CT_ERR_NOMEM. */
int ct_stm_writer_init(struct ct_stm_writer *writer, const struct ct_source *source);
void ct_stm_writer_end(struct ct_stm_writer *writer);

/* Writes an access. Returns the result of `write`. */
int ct_stm_writer_put(struct ct_stm_writer *writer, const struct ct_software_access *access);

/* Completes a half-written byte. Returns the result of `write`. */
int ct_stm_writer_fill(struct ct_stm_writer *writer);
