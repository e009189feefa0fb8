/* SPDX-License-Identifier: Apache-2.0 */
/* Options that more than one part of coretap fractal reads. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/fractal.h"

static bool hex_number(const char **at, uint64_t *out)
{
    char *end;
    errno = 0;
    *out = strtoull(*at, &end, 16);
    const bool ok = end != *at && !errno && **at != '-' && **at != '+';
    *at = end;
    return ok;
}

bool cli_fractal_parse_range(const char *text, uint64_t *lo, uint64_t *hi)
{
    if (!strcmp(text, "all")) {
        *lo = 0;
        *hi = UINT64_C(1) << 48;
        return true;
    }
    if (!hex_number(&text, lo) || strncmp(text, "..", 2) != 0)
        return false;
    text += 2;
    return hex_number(&text, hi) && !*text && *lo < *hi && *hi <= UINT64_C(1) << 48;
}

struct ct_fractal_names_options cli_fractal_names_options(const struct cli_args *args, const char *program,
                                                          const uint64_t *bias)
{
    return (struct ct_fractal_names_options){.size = sizeof(struct ct_fractal_names_options),
                                             .program = program,
                                             .bias = bias,
                                             .files = args->debug_files,
                                             .raw_names = args->raw_names};
}

struct key {
    const char *name;
    size_t at, bytes;
};

#define KEY(name)                                                                                            \
    {                                                                                                        \
#name, offsetof(struct ct_soc_config, name), sizeof(((struct ct_soc_config *)0)->name)               \
    }

static const struct key keys[] = {
    KEY(cores),    KEY(l1i_bytes), KEY(l1i_ways),    KEY(l1d_bytes), KEY(l1d_ways),
    KEY(l2_bytes), KEY(l2_ways),   KEY(tlb_entries), KEY(frames),    KEY(asids),
    KEY(granule),  KEY(va_bits),   KEY(alloc),       KEY(seed),
};

static bool set_key(struct ct_soc_config *config, const char *name, uint64_t value)
{
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (strcmp(keys[i].name, name) != 0 || (keys[i].bytes < 8 && value >> 8 * keys[i].bytes))
            continue;
        memcpy((char *)config + keys[i].at, &value, keys[i].bytes);
        return true;
    }
    return false;
}

int cli_fractal_read_config(const char *path, struct ct_soc_config *config)
{
    ct_soc_defaults(config);
    if (!path)
        return CLI_CLEAN;
    FILE *file = fopen(path, "r");
    if (!file) {
        cli_say("%s: cannot be opened: %s", path, strerror(errno));
        return CLI_FAILED;
    }
    char line[256], name[64];
    unsigned long long value;
    unsigned number = 0;
    int code = CLI_CLEAN;
    while (code == CLI_CLEAN && fgets(line, sizeof line, file)) {
        number++;
        char *end = strpbrk(line, "#;\n");
        if (end)
            *end = 0;
        if (line[strspn(line, " \t\r")] == 0)
            continue;
        if (sscanf(line, " %63[a-z0-9_] = %lli", name, (long long *)&value) != 2 ||
            !set_key(config, name, value)) {
            cli_say("%s:%u: '%s' is not a setting of the cluster; see docs/fractal.md", path, number, line);
            code = CLI_FAILED;
        }
    }
    fclose(file);
    return code;
}
