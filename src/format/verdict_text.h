/* SPDX-License-Identifier: Apache-2.0 */
/* Results of specifications as lines of text, with the place in the program. */
#ifndef CT_FORMAT_VERDICT_TEXT_H
#define CT_FORMAT_VERDICT_TEXT_H

#include "coretap/input.h"
#include "coretap/verify.h"
#include "format/text.h"

enum ct_verdict_format {
    CT_VERDICT_TEXT,
    CT_VERDICT_JSONL,
};

struct ct_verdict_text {
    struct ct_text *out;
    const char *const *specs; /* their names */
    const struct ct_watches *watches;
    struct ct_programs *programs; /* or NULL */
    const char *buffer;           /* where the next results are from */
    const struct ct_source *source;
    uint8_t id;
    bool many_specs;
    enum ct_verdict_format format;
};

/* Says that the specification takes no more events, and why. */
void ct_verdict_stopped(struct ct_verdict_text *text, uint32_t spec, const char *why);

void ct_verdict_line(struct ct_verdict_text *text, const struct ct_verify_result *result);

#endif
