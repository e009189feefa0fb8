/* SPDX-License-Identifier: Apache-2.0 */
/* coretap probe: what bytes of a trace are that come without a description, such as the dump of a trace
 * buffer, and the description that has to be completed for them.
 *
 *     struct ct_probe probe;
 *     ct_probe_bytes(ctx, bytes, size, &probe);
 *     for (size_t i = 0; i < probe.count; i++)
 *         printf("%02x %s\n", probe.sources[i].id, ct_protocol_name(probe.sources[i].protocol));
 *     ct_probe_write(&probe, "trace.bin", write, user);
 *
 * What is found is likely, not certain: it rests on synchronisation packets, and for an ITM without them on
 * packets that an ITM can write. */
#ifndef CORETAP_PROBE_H
#define CORETAP_PROBE_H

#include "coretap/base.h"
#include "coretap/input.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Number of bytes that suffice: more make the answer slower and hardly better. */
#define CT_PROBE_ENOUGH ((size_t)1 << 20)

/* Most trace IDs that are believed; more are chance. */
#define CT_PROBE_SOURCES 16

/* The trace of one ID. */
struct ct_probe_source {
    uint64_t bytes;
    enum ct_protocol protocol; /* ETM4 also for an ETE, PTM also for an ETMv3; NONE: unknown */
    uint8_t id;                /* 0: there are no frames, and so no IDs */
    uint8_t without_sync;      /* 1: an ITM without synchronisation packets */
    uint8_t pad[2];            /* 0 */
};

/* What bytes look like. */
struct ct_probe {
    enum ct_framing framing; /* NONE: the bytes are those of one source */
    uint32_t count;          /* sources; 0: nothing looks like trace */
    const char *trouble; /* without sources: what the bytes seem to be instead (ct_framing_trouble), or NULL;
                            valid for ever */
    struct ct_probe_source sources[CT_PROBE_SOURCES]; /* by ID */
};

/* Examines the first bytes of a file, CT_PROBE_ENOUGH or all of it. Text, files that begin like a perf.data,
 * and fewer than 16 bytes are never trace. `ctx` may be NULL. CT_ERR_ARG, CT_ERR_NOMEM; *out then is all 0.
 */
CT_API int ct_probe_bytes(struct ct_ctx *ctx, const uint8_t *data, size_t size, struct ct_probe *out);

/* Writes a description to complete: an .ini file for the bytes in `file` (docs/formats.md, "Raw traces").
 * What they cannot tell is ? in it. Nothing when there are no sources. CT_ERR_ARG, CT_ERR_NOMEM, the first
 * result of `write` that is not 0. */
CT_API int ct_probe_write(const struct ct_probe *probe, const char *file, ct_write_fn *write, void *user);

#ifdef __cplusplus
}
#endif
#endif
