/* SPDX-License-Identifier: Apache-2.0 */
/* Prints and writes the same as 'coretap fractal replay --messages MESSAGES --pgd 1000 --va-bits 39 -o LOG',
 * for bytes in pieces of 1000, with the installed library. */
#include <stdio.h>

#include <coretap/fractal_run.h>

static int put(void *user, const void *data, size_t size)
{
    return fwrite(data, 1, size, user) == size ? CT_OK : CT_ERR_IO;
}

static void say(void *user, const char *text)
{
    (void)user;
    fprintf(stderr, "%s\n", text);
}

static int push(struct ct_fractal_replay *replay, FILE *messages)
{
    char data[1000];
    size_t size;
    int rc = CT_OK;
    while (!rc && (size = fread(data, 1, sizeof data, messages)) > 0)
        rc = ct_fractal_replay_push(replay, data, size);
    return rc ? rc : ct_fractal_replay_finish(replay);
}

int main(int argc, char **argv)
{
    const struct ct_fractal_target target = {.pgd = 0x1000,
                                             .range_hi = UINT64_C(1) << 48,
                                             .granule = 12,
                                             .va_bits = 39,
                                             .mode = CT_FRACTAL_ACTIVE};
    struct ct_ctx *ctx = ct_ctx_new();
    FILE *messages = argc == 3 ? fopen(argv[1], "rb") : NULL, *log = messages ? fopen(argv[2], "wb") : NULL;
    struct ct_fractal_replay_options options = {
        .size = sizeof options, .target = &target, .log = put, .log_user = log, .refused = say};
    struct ct_fractal_replay *replay = NULL;
    int rc = ctx && log ? ct_fractal_replay_new(ctx, &options, &replay) : CT_ERR_ARG;
    if (!rc)
        rc = push(replay, messages);
    if (!rc)
        rc = ct_fractal_replay_write(replay, put, stdout);
    if (rc)
        fprintf(stderr, "%s: %s\n", ct_error_name(rc), ctx ? ct_ctx_error(ctx) : "");
    ct_fractal_replay_free(replay);
    if (messages)
        fclose(messages);
    if (log && fclose(log))
        rc = CT_ERR_IO;
    ct_ctx_free(ctx);
    return rc ? 1 : 0;
}
