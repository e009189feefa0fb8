/* SPDX-License-Identifier: Apache-2.0 */
#include "record/unseen.h"

#include <inttypes.h>

#include "base/ctx.h"

/* Tells which programs ran beside or after the recorded one. */
static void tell_others(struct ct_ctx *ctx, const char *program, const struct trace_area *area)
{
    const uint32_t forked = atomic_load(&area->forked);
    if (forked)
        ct_log(ctx, CT_LOG_NOTE,
               "%s: %" PRIu32
               " process%s that it started %s not in the trace; to record %s, record its program, "
               "let this program do without it, or record a machine",
               program, forked, forked == 1 ? "" : "es", forked == 1 ? "is" : "are",
               forked == 1 ? "it" : "one of them");
    if (atomic_load(&area->replaced))
        ct_log(
            ctx, CT_LOG_NOTE,
            "%s: it replaced itself by another program (exec), and what that did is not in the trace; record "
            "that program",
            program);
}

void ct_record_tell_unseen(struct ct_ctx *ctx, const struct ct_recording *recording,
                           const struct trace_area *area, uint64_t unplaced)
{
    const uint32_t lost = atomic_load(&area->lost), unread = atomic_load(&area->unread);
    if (lost)
        ct_log(ctx, CT_LOG_WARNING,
               "%s: %" PRIu32 " threads are not in the trace, because at most %u are recorded at a time; run "
               "fewer threads",
               recording->program, lost, TRACE_THREADS);
    if (unplaced)
        ct_log(ctx, CT_LOG_WARNING,
               "%s: %" PRIu64 " blocks of instructions are not in the trace, which begins anew behind each, "
               "because QEMU does not tell how execution left them",
               recording->program, unplaced);
    tell_others(ctx, recording->program, area);
    if (unread)
        ct_log(ctx, CT_LOG_WARNING,
               "%s: %" PRIu32 " accesses to watched variables are not in the trace, because this QEMU does "
               "not report where the program's memory is; record with QEMU 7.2 (Debian 12: %s)",
               recording->program, unread, recording->system ? "qemu-system-arm" : "qemu-user");
}
