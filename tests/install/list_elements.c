/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the same as 'coretap list --elements CAPTURE', one trace ID after the other, with the installed
 * library. */
#include <coretap/decode.h>
#include <coretap/format.h>

#include "with_capture.h"

static int list(void *lister, const struct ct_stream *stream, const struct ct_flow_batch *batch)
{
    return ct_lister_flow(lister, stream, batch);
}

static int print(struct ct_ctx *ctx, const struct ct_buffer *buffer, unsigned id, struct ct_lister *lister)
{
    const struct ct_chain_sink sink = {.user = lister, .flow = list};
    struct ct_chain_options options = {.size = sizeof options, .level = CT_LEVEL_FLOW};
    struct ct_chain *chain;
    options.ids[id / 64] = UINT64_C(1) << id % 64;
    int rc = ct_lister_heading(lister, NULL, (int)id);
    if (!rc)
        rc = ct_chain_new(ctx, buffer, &options, &sink, &chain);
    if (rc)
        return rc;
    rc = ct_chain_run(chain);
    ct_chain_free(chain);
    return rc ? rc : ct_lister_end(lister);
}

static int has_id(const struct ct_buffer *buffer, unsigned id)
{
    int found = buffer->framing == CT_FRAMING_NONE && id == 0;
    for (size_t i = 0; buffer->framing != CT_FRAMING_NONE && i < buffer->source_count; i++)
        found |= buffer->sources[i].trace_id == id;
    return found;
}

static int use(struct ct_ctx *ctx, const struct ct_capture *capture, struct ct_programs *programs)
{
    struct ct_lister *lister = NULL;
    int rc = ct_lister_new(ctx, put, stdout, &lister);
    (void)programs;
    for (size_t i = 0; !rc && i < capture->buffer_count; i++) {
        rc = ct_lister_heading(lister, capture->buffers[i].name, -1);
        for (unsigned id = 0; id < 128 && !rc; id++)
            if (has_id(&capture->buffers[i], id))
                rc = print(ctx, &capture->buffers[i], id, lister);
    }
    ct_lister_free(lister);
    return rc;
}

int main(int argc, char **argv)
{
    return print_capture(argc, argv, NULL, use);
}
