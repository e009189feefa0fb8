/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the settings of a cluster from a file. */
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/require.h"
#include "base/text_line.h"
#include "soc/soc.h"

/* A setting: its name, and the offset and size of its value in the configuration. */
struct key {
    const char *name;
    size_t at, bytes;
};

#define KEY(name)                                                                                            \
    {                                                                                                        \
#name, offsetof(struct ct_soc_config, name), sizeof(((struct ct_soc_config *)0)->name)               \
    }

static const struct key keys[] = {
    KEY(cores),   KEY(l1i_bytes),   KEY(l1i_ways),   KEY(l1d_bytes), KEY(l1d_ways), KEY(l2_bytes),
    KEY(l2_ways), KEY(tlb_entries), KEY(frames),     KEY(asids),     KEY(granule),  KEY(va_bits),
    KEY(alloc),   KEY(seed),        KEY(port_bytes), KEY(walks),     KEY(sink),
};

void ct_soc_config_fill(struct ct_soc_config *config)
{
    static const char none[sizeof(uint64_t)];
    const uint64_t seed = config->seed;
    struct ct_soc_config defaults;
    ct_soc_defaults(&defaults);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        char *member = (char *)config + keys[i].at;
        if (memcmp(member, none, keys[i].bytes) == 0)
            memcpy(member, (const char *)&defaults + keys[i].at, keys[i].bytes);
    }
    config->seed = seed;
}

/* Copies the low bytes of a number to a member of that size. */
static void store(void *member, size_t bytes, uint64_t value)
{
    const uint32_t word = (uint32_t)value;
    const uint8_t byte = (uint8_t)value;
    if (bytes == sizeof value)
        memcpy(member, &value, sizeof value);
    else if (bytes == sizeof word)
        memcpy(member, &word, sizeof word);
    else
        memcpy(member, &byte, sizeof byte);
}

/* Sets the member with a name. Returns false when there is none, or the value is too large. */
static bool set_key(struct ct_soc_config *config, const char *name, uint64_t value)
{
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (strcmp(keys[i].name, name) != 0 || (keys[i].bytes < 8 && value >> 8 * keys[i].bytes))
            continue;
        store((char *)config + keys[i].at, keys[i].bytes, value);
        return true;
    }
    return false;
}

/* Reads a number, decimal or with 0x. It must be the whole text. */
static bool read_number(const char *text, uint64_t *value)
{
    char *end;
    errno = 0;
    *value = strtoull(text, &end, strncmp(text, "0x", 2) == 0 ? 16 : 10);
    return isdigit((unsigned char)*text) && !*end && !errno;
}

/* Reads a line. Returns false when it is neither a setting nor empty except for comments. Cuts off the
 * comment. */
static bool read_line(char *line, struct ct_soc_config *config)
{
    char name[64], text[24], more;
    uint64_t value;
    line[strcspn(line, "#;")] = 0;
    if (line[strspn(line, " \t\r")] == 0)
        return true;
    return sscanf(line, " %63[a-z0-9_] = %23s %c", name, text, &more) == 2 && read_number(text, &value) &&
           set_key(config, name, value);
}

int ct_soc_config_load(struct ct_ctx *ctx, const char *path, struct ct_soc_config *config)
{
    CT_REQUIRE(ctx, path, config);
    ct_soc_defaults(config);
    FILE *file = fopen(path, "r");
    if (!file)
        return ct_fail(ctx, errno == ENOMEM ? CT_ERR_NOMEM : CT_ERR_IO, "%s: cannot be opened: %s", path,
                       strerror(errno));
    char line[256];
    unsigned number = 1;
    int rc;
    while ((rc = ct_text_line(ctx, file, path, number, line, sizeof line)) > 0 && read_line(line, config))
        number++;
    if (rc > 0)
        rc = ct_fail(ctx, CT_ERR_FORMAT,
                     "%s:%u: '%s' is not a setting of the cluster, which is not built; "
                     "docs/fractal.md lists the settings",
                     path, number, line);
    fclose(file);
    return rc;
}
