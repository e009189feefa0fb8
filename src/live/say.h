/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of a live run, from any of its threads. */
#pragma once

#include "coretap/base.h"

struct ct_live_say {
    ct_log_fn *fn; /* NULL: messages are dropped */
    void *user;
};

void ct_live_say(const struct ct_live_say *say, enum ct_log_level level, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Reports that memory ran out. */
void ct_live_lack(const struct ct_live_say *say);
