/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes small text files that configure a simulation: settings of a cluster, or, when the first byte is '@',
 * commands for given times. What must hold: a refused file is refused with a text; a cluster that the
 * settings allow is made; commands come in the order of their times. */
#include <stdio.h>
#include <string.h>

#include "coretap/soc.h"
#include "fractal_run/script.h"
#include "fuzz.h"
#include "support/test_file.h"

#define MOST_BYTES 8192

static void read_settings(struct ct_ctx *ctx, const char *path)
{
    struct ct_soc_config config;
    struct ct_soc *soc;
    int rc = ct_soc_config_load(ctx, path, &config);
    if (rc == CT_OK)
        rc = ct_soc_new(ctx, &config, NULL, &soc);
    if (rc == CT_OK)
        ct_soc_free(soc);
    else
        require(*ct_ctx_error(ctx) != '\0');
}

static void read_script(struct ct_ctx *ctx, const char *path)
{
    struct ct_fractal_script script;
    if (ct_fractal_script_load(ctx, path, &script) != CT_OK)
        require(*ct_ctx_error(ctx) != '\0');
    for (size_t i = 0; i < script.count; i++) {
        require(*script.steps[i].command && strlen(script.steps[i].command) < MOST_BYTES);
        require(i == 0 || (script.steps[i - 1].cycles <= script.steps[i].cycles &&
                           script.steps[i - 1].line < script.steps[i].line));
    }
    ct_fractal_script_free(&script);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[40];
    if (size < 2 || size > MOST_BYTES)
        return 0;
    struct ct_ctx *ctx = ct_ctx_new();
    const int commands = data[0] == '@';
    FILE *file = test_file(data + commands, size - (size_t)commands, path);
    require(ctx && file);
    if (commands)
        read_script(ctx, path);
    else
        read_settings(ctx, path);
    fclose(file);
    ct_ctx_free(ctx);
    return 0;
}
