/* SPDX-License-Identifier: Apache-2.0 */
/* A capture read one trace ID at a time, so that what is printed of an ID stands together. */
#ifndef CT_CLI_PASSES_H
#define CT_CLI_PASSES_H

#include "cli/filter.h"
#include "cli/ran.h"
#include "format/text.h"

struct cli_passes {
    struct cli_capture capture;
    struct ct_text text;
    const struct ct_buffer *buffer; /* of the pass */
    uint8_t id;
    bool tell_buffer; /* its name is still to be printed, before its first line */
    bool tell_id;
    bool headings;  /* lines '# buffer NAME' and '# id HH' are wanted where more than one may come */
    bool framed;    /* the bytes between the frames of the buffer were counted */
    bool untold;    /* what was lost is not said: another run over the capture does */
    uint64_t bytes; /* of passes that are over */
    struct ct_programs *programs; /* whose names `ran` has, and the filter looks for; or NULL */
    struct cli_ran ran;           /* in all passes */
    bool other_frequency;         /* --frequency is that of another clock than the timestamps */
    struct cli_filter filter;     /* of the command, when it has these options; read by cli_passes_run */
    struct ct_filter settled;
    struct ct_sieve *sieve;             /* of the pass, or NULL */
    bool kept_nothing;                  /* the filter, of what ran; it was said */
    const struct ct_chain_sink *sifted; /* who gets the steps that are kept */
    void *user;
    /* Before a pass: sets what is to be decoded and who gets it; sink->user is `user` unless it is set too.
     * Its `bytes` calls cli_passes_bytes. Result: enum cli_exit. */
    int (*begin)(struct cli_passes *passes, struct ct_chain_options *options, struct ct_chain_sink *sink);
    /* After it, unless it could not begin; what was lost in it is in `losses`, and
     * that of all so far in `capture`. */
    void (*end)(struct cli_passes *passes);
    struct ct_losses losses;
};

/* Opens the capture of `args` and makes a pass for each ID of each buffer that is
 * wanted. Result: enum cli_exit. */
int cli_passes_run(struct cli_passes *passes, const struct cli_args *args);

/* Input bytes of the pass taken so far: moves the meter, and shows what is known of a stream that somebody
 * may watch. Result: 0 or CT_ERR_IO. */
int cli_passes_bytes(struct cli_passes *passes, uint64_t bytes);

/* The source of the pass. */
const struct ct_source *cli_passes_source(const struct cli_passes *passes);

/* Called before each line or batch of lines: says what they are of. An ID without trace has no heading. */
void cli_passes_heading(struct cli_passes *passes);

#endif
