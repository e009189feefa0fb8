/* SPDX-License-Identifier: Apache-2.0 */
/* Writes results of specifications as lines of text, with their places in the program. */
#pragma once

#include "coretap/verdict.h"
#include "format/text.h"

void ct_verdict_line(struct ct_text *out, enum ct_verdict_format format,
                     const struct ct_verdict_origin *origin, const struct ct_verify_result *result);

/* Writes that a specification takes no more events, and why. */
void ct_verdict_stopped(struct ct_text *out, enum ct_verdict_format format,
                        const struct ct_verdict_origin *origin, uint32_t spec, const char *why);
