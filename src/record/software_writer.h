/* SPDX-License-Identifier: Apache-2.0 */
/* What makes trace of accesses, which come in the order of their clocks. */
#ifndef CT_RECORD_SOFTWARE_WRITER_H
#define CT_RECORD_SOFTWARE_WRITER_H

#include "record/software.h"

/* Where trace bytes go. */
struct ct_software_out {
    struct ct_ctx *ctx;
    uint32_t sync_period; /* bytes between alignment packets; 0: only at the begin */
    int (*write)(void *user, const uint8_t *bytes, size_t size);
    void *user;
};

struct ct_itm_writer {
    struct ct_software_out out;
    uint64_t clock; /* of the last global timestamp */
    uint64_t since; /* bytes since the last alignment packet */
    bool begun;     /* a synchronisation was written, and a whole timestamp */
    uint8_t page;   /* of stimulus ports */
};

/* Writes an access. What `write` returns. */
int ct_itm_writer_put(struct ct_itm_writer *writer, const struct ct_software_access *access);

struct ct_stm_encoder;

struct ct_stm_writer {
    struct ct_software_out out;
    struct ct_stm_encoder *encoder;
    uint64_t since; /* bytes since the last alignment packet */
    bool begun;     /* a synchronisation was written, and a version packet */
    uint16_t master, channel;
};

/* CT_ERR_NOMEM. */
int ct_stm_writer_init(struct ct_stm_writer *writer, const struct ct_source *source);
void ct_stm_writer_end(struct ct_stm_writer *writer);

/* Writes an access. What `write` returns. */
int ct_stm_writer_put(struct ct_stm_writer *writer, const struct ct_software_access *access);

/* Fills up a byte that is half written. What `write` returns. */
int ct_stm_writer_fill(struct ct_stm_writer *writer);

#endif
