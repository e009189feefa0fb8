/* SPDX-License-Identifier: Apache-2.0 */
/* The registers of a trace source in words. */
#ifndef CT_FORMAT_DESCRIBE_H
#define CT_FORMAT_DESCRIBE_H

#include "coretap/input.h"

/* Receives one fact: a short subject ("cycle counts") and what is so about it ("off"). */
typedef void ct_describe_fn(void *user, const char *subject, const char *text);

/* Says everything that the registers of `source` tell about its trace, in a fixed order. */
void ct_source_describe(const struct ct_source *source, ct_describe_fn *fn, void *user);

/* "ETMv4.0", "ETEv1.1", "ETMv3.4", "PFTv1.1", "STM", "ITM". */
void ct_source_version(const struct ct_source *source, char *text, size_t size);

#endif
