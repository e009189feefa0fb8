/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the description of a raw trace for a copy of that trace elsewhere. */
#define _GNU_SOURCE /* asprintf */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coretap/input.h"
#include "base/out.h"
#include "base/require.h"
#include "input/ini.h"

/* The state of copying a description. */
struct copy {
    FILE *out;
    const char *folder; /* folder of the original, with the slash, or "" */
    const char *trace;  /* file name of the trace */
    enum ct_framing framing;
    bool is_gap; /* in a section that is omitted */
    bool any;    /* something was written */
};

/* Returns whether an .ini can contain the name: comment characters cannot be escaped. */
int ct_raw_can_name(const char *name)
{
    if (!name)
        return 0;
    const size_t size = strlen(name);
    for (size_t i = 0; i < size; i++)
        if (iscntrl((unsigned char)name[i]) || strchr(";#", name[i]))
            return false;
    return size && !strchr("\"' ", name[0]) && name[size - 1] != ' ';
}

static int refuse_name(const struct ct_ini_item *item, const char *name)
{
    return ct_fail(
        item->ctx, CT_ERR_CONFIG,
        "%s:%u: %s: the description of the kept trace cannot contain this file name (; and # begin "
        "comments), so it is not written; rename or move the file",
        item->path, item->line, name);
}

/* Writes the path of a file in the description such that it is valid in any folder. */
static int copy_path(const struct copy *c, const struct ct_ini_item *item)
{
    const char *value = ct_ini_unquote(item);
    char *joined = NULL;
    if (!value)
        return CT_ERR_FORMAT;
    if (asprintf(&joined, "%s%s", value[0] == '/' ? "" : c->folder, value) < 0)
        return ct_fail_nomem(item->ctx, item->path);
    char *whole = realpath(joined, NULL);
    const char *name = whole ? whole : joined; /* a missing file stays missing */
    const int status = ct_raw_can_name(name) ? CT_OK : refuse_name(item, name);
    if (!status)
        fprintf(c->out, "%s = %s\n", item->key, name);
    free(whole);
    free(joined);
    return status;
}

static int copy_section(struct copy *c, const struct ct_ini_item *item)
{
    if (!c->any && strcmp(item->section, "capture") != 0)
        return ct_fail(item->ctx, CT_ERR_CONFIG,
                       "%s: the file does not describe a raw trace ([capture]), so the kept trace cannot be "
                       "described; give the "
                       ".ini file of a raw trace (docs/formats.md) as --config",
                       item->path);
    c->is_gap = strncmp(item->section, "gap", 3) == 0;
    if (!c->is_gap)
        fprintf(c->out, "%s[%s]\n", c->any ? "\n" : "", item->section);
    if (!c->any) {
        fprintf(c->out, "file = %s\n", c->trace);
        if (c->framing != CT_FRAMING_AUTO)
            fprintf(c->out, "framing = %s\n", ct_framing_name(c->framing));
    }
    c->any = true;
    return CT_OK;
}

static int copy_item(void *user, const struct ct_ini_item *item)
{
    struct copy *c = user;
    const bool is_capture = strcmp(item->section, "capture") == 0;
    if (!item->key)
        return copy_section(c, item);
    const bool is_name = strcmp(item->section, "context") == 0 || strncmp(item->section, "event", 5) == 0;
    const bool is_file = !is_name && strcmp(item->key, "file") == 0;
    if (c->is_gap || (is_capture && is_file) ||
        (is_capture && c->framing != CT_FRAMING_AUTO && strcmp(item->key, "framing") == 0))
        return CT_OK;
    if (is_file || (!is_name && strcmp(item->key, "elf") == 0))
        return copy_path(c, item);
    fprintf(c->out, "%s = %s\n", item->key, item->value);
    return CT_OK;
}

int ct_raw_describe(struct ct_ctx *ctx, const char *path, const char *text, size_t size, const char *trace,
                    enum ct_framing framing, ct_write_fn *write, void *user)
{
    CT_REQUIRE(ctx, path, text || !size, trace, write);
    char *folder = strdup(path);
    if (!folder)
        return ct_fail_nomem(ctx, path);
    char *slash = strrchr(folder, '/');
    folder[slash ? slash + 1 - folder : 0] = '\0';
    struct ct_out out;
    int rc = ct_out_open(&out, ctx, write, user);
    if (!rc) {
        struct copy copy = {.out = out.file, .folder = folder, .trace = trace, .framing = framing};
        rc = ct_out_close(&out, ct_ini_parse(ctx, path, text ? text : "", size, copy_item, &copy));
    }
    free(folder);
    return rc;
}
