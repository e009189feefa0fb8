/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* vasprintf */
#include "live/say.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void ct_live_say(const struct ct_live_say *say, enum ct_log_level level, const char *fmt, ...)
{
    char *text = NULL;
    va_list ap;
    va_start(ap, fmt);
    const int size = say->fn ? vasprintf(&text, fmt, ap) : 0;
    va_end(ap);
    if (size < 0) {
        ct_live_lack(say);
    } else if (say->fn) {
        say->fn(say->user, level, text);
        free(text);
    }
}

void ct_live_lack(const struct ct_live_say *say)
{
    if (say->fn)
        say->fn(say->user, CT_LOG_ERROR, "out of memory");
}
