/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the same as 'coretap fractal run -q -o LOG --point main -- PROGRAM ARG...', with the installed
 * library. */
#include <stdio.h>

#include <coretap/fractal_run.h>

static int put(void *user, const void *data, size_t size)
{
    return fwrite(data, 1, size, user) == size ? CT_OK : CT_ERR_IO;
}

int main(int argc, char **argv)
{
    const struct ct_fractal_selection point = {.text = "main", .kind = CT_FRACTAL_SELECT_POINT};
    struct ct_ctx *ctx = ct_ctx_new();
    FILE *log = argc > 2 ? fopen(argv[1], "wb") : NULL;
    struct ct_fractal_simulate_options options = {.size = sizeof options,
                                                  .argv = argv + 2,
                                                  .selections = &point,
                                                  .selection_count = 1,
                                                  .log = put,
                                                  .log_user = log,
                                                  .mode = CT_FRACTAL_ACTIVE};
    struct ct_fractal_simulate_result result;
    int rc = ctx && log ? ct_fractal_simulate(ctx, &options, &result) : CT_ERR_ARG;
    if (log && fclose(log) && !rc)
        rc = CT_ERR_IO;
    if (rc)
        fprintf(stderr, "%s: %s\n", ct_error_name(rc), ctx ? ct_ctx_error(ctx) : "");
    else
        printf("%llu of %llu misses logged\n", (unsigned long long)result.events,
               (unsigned long long)result.targets);
    ct_ctx_free(ctx);
    return rc ? 1 : 0;
}
