/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes the ITM of a capture with coretap's library and prints what a client gets as lines of a listing.
 *
 * usage: list_itm LIBRARY CAPTURE packets|elements [BYTES [PAUSE]]     bytes per call, elements between
 * pauses */
#include <stdlib.h>
#include <string.h>

#include "coretap/input.h"
#include "opencsd/itm_client.h"

static int list(struct itm_client *client, const struct ct_buffer *buffer)
{
    static uint8_t bytes[1 << 20];
    FILE *file = fopen(buffer->path, "rb");
    if (!file)
        return 1;
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    const bool whole = feof(file);
    fclose(file);
    if (!whole || itm_client_begin(client))
        return 1;
    itm_client_give(client, 0, bytes, size);
    itm_client_end(client);
    return 0;
}

int main(int argc, char **argv)
{
    struct library library;
    struct ct_capture *capture;
    if (argc < 4 || library_load(argv[1], &library))
        return 2;
    struct ct_ctx *ctx = ct_ctx_new();
    if (!ctx || ct_capture_open(ctx, argv[2], &capture)) {
        fprintf(stderr, "list_itm: %s\n", ctx ? ct_ctx_error(ctx) : "no memory");
        return 2;
    }
    int failed = 0;
    for (size_t i = 0; i < capture->buffer_count; i++)
        for (size_t j = 0; j < capture->buffers[i].source_count; j++) {
            const struct ct_source *source = &capture->buffers[i].sources[j];
            struct itm_client client = {.library = &library,
                                        .out = stdout,
                                        .tcr = source->regs.itmtcr,
                                        .framed = capture->buffers[i].framing != CT_FRAMING_NONE,
                                        .packets = !strcmp(argv[3], "packets"),
                                        .chunk = argc > 4 ? (uint32_t)strtoul(argv[4], NULL, 10) : 0,
                                        .wait = argc > 5 ? (unsigned)strtoul(argv[5], NULL, 10) : 0};
            if (source->protocol == CT_PROTOCOL_ITM)
                failed |= list(&client, &capture->buffers[i]);
        }
    ct_capture_free(capture);
    ct_ctx_free(ctx);
    return failed;
}
