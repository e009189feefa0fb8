/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>

#include <coretap/decode.h>
#include <coretap/input.h>

static int count(struct ct_ctx *ctx, const struct ct_buffer *buffer)
{
    const struct ct_chain_options options = {.size = sizeof options, .level = CT_LEVEL_FLOW};
    const struct ct_chain_sink sink = {0}; /* no records are wanted, only the totals */
    struct ct_chain *chain;
    int rc = ct_chain_new(ctx, buffer, &options, &sink, &chain);
    if (rc)
        return rc;
    rc = ct_chain_run(chain);
    size_t n;
    const struct ct_stream *streams = ct_chain_streams(chain, &n);
    for (size_t i = 0; !rc && i < n; i++)
        printf("%s: %" PRIu64 " instructions in %" PRIu64 " bytes\n", streams[i].source->name,
               streams[i].stats.instructions, streams[i].stats.bytes);
    ct_chain_free(chain);
    return rc;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: count CAPTURE\n");
        return 2;
    }
    struct ct_ctx *ctx = ct_ctx_new();
    struct ct_capture *capture = NULL;
    int rc = ctx ? ct_capture_open(ctx, argv[1], &capture) : CT_ERR_NOMEM;
    for (size_t i = 0; !rc && i < capture->buffer_count; i++)
        rc = count(ctx, &capture->buffers[i]);
    if (rc)
        fprintf(stderr, "%s: %s\n", ct_error_name(rc), ct_ctx_error(ctx));
    ct_capture_free(capture);
    ct_ctx_free(ctx);
    return rc ? 1 : 0;
}
