/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the same as 'coretap info -f json CAPTURE', with the installed library. */
#include <coretap/info.h>

#include "with_capture.h"

/* Decodes a buffer and describes it. */
static int describe(struct ct_ctx *ctx, struct ct_info_writer *info, const struct ct_buffer *buffer,
                    struct ct_amounts *amounts)
{
    const struct ct_chain_options options = {.size = sizeof options, .level = CT_LEVEL_FLOW};
    struct ct_chain *chain = NULL;
    int rc = ct_chain_new(ctx, buffer, &options, NULL, &chain);
    if (!rc)
        rc = ct_chain_run(chain);
    if (!rc)
        rc = ct_info_writer_buffer(info, buffer, chain);
    ct_amounts_add(amounts, chain, 1);
    ct_chain_free(chain);
    return rc;
}

static int print(struct ct_ctx *ctx, const struct ct_capture *capture, struct ct_programs *programs)
{
    const struct ct_info_write_options options = {.size = sizeof options, .format = CT_INFO_FORMAT_JSON};
    struct ct_info_writer *info = NULL;
    struct ct_amounts amounts = {0};
    int rc = ct_info_writer_new(ctx, &options, put, stdout, &info);
    (void)programs;
    if (!rc)
        rc = ct_info_writer_capture(info, capture);
    for (size_t i = 0; i < capture->buffer_count && !rc; i++)
        rc = describe(ctx, info, &capture->buffers[i], &amounts);
    if (!rc)
        rc = ct_info_writer_end(info, &amounts.losses);
    ct_info_writer_free(info);
    return rc;
}

int main(int argc, char **argv)
{
    return print_capture(argc, argv, NULL, print);
}
