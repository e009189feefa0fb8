/* SPDX-License-Identifier: Apache-2.0 */
/* coretap info: what a capture contains and how much of it was decoded, as text and as JSON.
 *
 *     struct ct_chain_options options = {.size = sizeof options, .level = CT_LEVEL_FLOW};
 *     struct ct_amounts amounts = {0};
 *     ct_info_writer_new(ctx, NULL, write, user, &info);
 *     ct_info_writer_capture(info, capture);
 *     for (size_t i = 0; i < capture->buffer_count; i++) {
 *         ct_chain_new(ctx, &capture->buffers[i], &options, NULL, &chain);
 *         ct_chain_run(chain);
 *         ct_info_writer_buffer(info, &capture->buffers[i], chain);
 *         ct_amounts_add(&amounts, chain, 1);
 *         ct_chain_free(chain);
 *     }
 *     ct_info_writer_end(info, &amounts.losses);
 *     ct_info_writer_free(info);
 *
 * A chain that is decoded less far, or not at all, gives the same description with smaller counts. */
#ifndef CORETAP_INFO_H
#define CORETAP_INFO_H

#include "coretap/base.h"
#include "coretap/decode.h"
#include "coretap/filter.h"
#include "coretap/input.h"
#include "coretap/losses.h"

#ifdef __cplusplus
extern "C" {
#endif

enum ct_info_format {
    CT_INFO_FORMAT_TEXT, /* for people; amounts as key=value lines */
    CT_INFO_FORMAT_JSON, /* one object */
};

/* ---- contents of a capture ---- */

struct ct_info_write_options {
    size_t size;    /* sizeof(struct ct_info_write_options) */
    uint8_t format; /* enum ct_info_format */
    uint8_t pad[7]; /* 0 */
};

/* Describes one capture. */
struct ct_info_writer;

/* Makes a writer that passes its text to `write`, in pieces. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_info_writer_new(struct ct_ctx *ctx, const struct ct_info_write_options *options,
                              ct_write_fn *write, void *user, struct ct_info_writer **out);

/* Frees the writer. Writes nothing: JSON without ct_info_writer_end is incomplete. */
CT_API void ct_info_writer_free(struct ct_info_writer *writer);

/* Writes the beginning: kind, damage, missing files, processes. To be called first, and once. CT_ERR_ARG,
 * CT_ERR_NOMEM, the first result of `write` that is not 0, which each later call returns too. */
CT_API int ct_info_writer_capture(struct ct_info_writer *writer, const struct ct_capture *capture);

/* Writes a buffer: its frames, sources, amounts and images. `chain` was made for it. The buffer must stay
 * until the last call: text lists images that several buffers share only once. The same errors. */
CT_API int ct_info_writer_buffer(struct ct_info_writer *writer, const struct ct_buffer *buffer,
                                 const struct ct_chain *chain);

/* Writes the losses of all buffers, and the end. The same errors. */
CT_API int ct_info_writer_end(struct ct_info_writer *writer, const struct ct_losses *losses);

/* ---- amounts ---- */

/* Amounts of trace in chains. */
struct ct_amounts {
    uint64_t bytes; /* of input */
    uint64_t packets, elements;
    uint64_t atoms;
    uint64_t branches; /* taken */
    uint64_t instructions;
    uint64_t edges;           /* edges of the program graph that were taken, counted for each stream */
    uint64_t steps;           /* how often they were taken */
    uint64_t cycles;          /* of steps */
    uint64_t unplaced_cycles; /* of no step */
    struct ct_losses losses;
};

/* Adds the amounts of a chain whose trace has ended. Edges and steps are those of chains that count edges.
 * `frames` 1: also adds the bytes of input and those lost between frames; of several chains over one buffer
 * only one should. */
CT_API void ct_amounts_add(struct ct_amounts *amounts, const struct ct_chain *chain, int frames);

/* How far buffers are decoded, and which parts of them. */
struct ct_amounts_options {
    size_t size;                  /* sizeof(struct ct_amounts_options) */
    uint8_t level, edges, engine; /* as in struct ct_chain_options */
    uint8_t pad[3];               /* 0 */
    uint16_t threads;             /* trace IDs and parts of streams are shared among them; 0 and 1: only the
                                     caller's */
    uint64_t ids[2];              /* as in struct ct_chain_options; both 0: those of `filter` */
    const struct ct_filter
        *filter; /* settled (ct_filter_settle); only whole streams are left out. NULL: all */
    void *user;  /* passed to the functions below, which may be NULL. They are called by one
                    thread at a time, which may be any; a result other than 0 ends the run
                    and becomes its result */
    int (*progress)(void *user, uint64_t bytes); /* receives the number of input bytes read so far */
    /* Receives the chain of some or all trace IDs of a buffer at the end of its trace, with `frames` as for
     * ct_seen_add. */
    int (*decoded)(void *user, const struct ct_chain *chain, int frames);
};

/* Decodes buffers and adds their amounts. An error ends the run: later buffers may be left out, and the
 * amounts are incomplete. Of several buffers with an error the result is that of the first, whatever the
 * number of threads. The errors of ct_chain_new and ct_chain_run, CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_amounts_run(struct ct_ctx *ctx, const struct ct_buffer *buffers, size_t count,
                          const struct ct_amounts_options *options, struct ct_amounts *amounts);

struct ct_amounts_write_options {
    size_t size;    /* sizeof(struct ct_amounts_write_options) */
    uint8_t format; /* enum ct_info_format */
    uint8_t level;  /* enum ct_level that the chains were decoded to; amounts beyond it are left out */
    uint8_t edges;  /* enum ct_edges_level of the chains */
    uint8_t part;   /* 1: only a part of the trace was counted: packets, elements and branches are left out */
    uint8_t pad[4]; /* 0 */
    double seconds; /* time of decoding; 0: neither it nor the speed is written */
};

/* Writes amounts. CT_ERR_ARG, CT_ERR_NOMEM, the first result of `write` that is not 0. */
CT_API int ct_amounts_write(struct ct_ctx *ctx, const struct ct_amounts *amounts,
                            const struct ct_amounts_write_options *options, ct_write_fn *write, void *user);

#ifdef __cplusplus
}
#endif
#endif
