/* SPDX-License-Identifier: Apache-2.0 */
#include "support/ptm_stream.h"

#include <stdio.h>

#include "support/v7_gen.h"
#include "coretap/encode.h"

struct ct_source ptm_source(struct rng *rng)
{
    struct ct_source source = v7_gen_source(rng, CT_PROTOCOL_PTM);
    source.regs.etmcr = (source.regs.etmcr & ~(3u << 14)) | rng_below(rng, 4) << 14;
    source.regs.etmccer ^= rng_below(rng, 2) << 26;
    return source;
}

int ptm_encode(struct rng *rng, const struct ct_source *source, const struct ct_elem *elems, size_t count,
               uint8_t *bytes, size_t room, size_t *size)
{
    struct ct_ctx *ctx = ct_ctx_new();
    struct ct_ptm_emitter *emitter;
    size_t at = 0, taken, len;
    int err = ct_ptm_emitter_new(ctx, source, &emitter);
    *size = 0;
    while (!err && at < count) {
        size_t give = 1 + rng_below(rng, 40), most = CT_PTM_EMIT_MAX + rng_below(rng, 40);
        int final = give >= count - at;
        give = final ? count - at : give;
        most = most < room - *size ? most : room - *size;
        err = ct_ptm_emit(emitter, elems + at, give, final, &taken, bytes + *size, most, &len);
        at += taken;
        *size += len;
    }
    if (err)
        printf("# element %zu was refused: %s\n", at, ct_ctx_error(ctx));
    ct_ptm_emitter_free(emitter);
    ct_ctx_free(ctx);
    return err;
}
