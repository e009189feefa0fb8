/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* asprintf */
#include "cli/live_tee.h"
#include "base/whole_file.h"
#include "cli/output.h"
#include "input/ini.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CONFIG_MAX ((off_t)16 << 20) /* bytes */

struct cli_live_tee {
    const char *path;
    char *described; /* path of the description, or NULL */
    int fd, gaps;    /* descriptors: the trace, and the description, or -1 */
    uint64_t kept;   /* bytes */
    uint64_t origin; /* … that were there before this connection */
    bool apart;      /* the next byte is of another connection */
    const char *trouble;
};

/* ---- the description ---- */

struct copy {
    FILE *out;
    const char *folder; /* of what is copied, with the slash, or "" */
    const char *trace;  /* file name of the trace */
    enum ct_framing framing;
    bool is_gap; /* in a section that is left out */
    bool any;    /* it has begun */
};

/* A name that an .ini can hold: there is no way to write one with a comment in it. */
static bool can_be_written(const char *name)
{
    const size_t size = strlen(name);
    for (size_t i = 0; i < size; i++)
        if (iscntrl((unsigned char)name[i]) || strchr(";#", name[i]))
            return false;
    return size && !strchr("\"' ", name[0]) && name[size - 1] != ' ';
}

static int refuse_name(const struct ct_ini_item *item, const char *name)
{
    return cli_fail(
        item->ctx, CT_ERR_CONFIG,
        "%s:%u: %s: the description of the trace that is kept cannot name this file (; and # begin "
        "comments); move it or the description",
        item->path, item->line, name);
}

/* A file that the description names, from wherever that is. */
static int copy_path(const struct copy *c, const struct ct_ini_item *item)
{
    const char *value = ct_ini_unquote(item);
    char *joined = NULL;
    if (!value)
        return CT_ERR_FORMAT;
    if (asprintf(&joined, "%s%s", value[0] == '/' ? "" : c->folder, value) < 0)
        return cli_fail_nomem(item->ctx, item->path);
    char *whole = realpath(joined, NULL);
    const char *name = whole ? whole : joined; /* one that is not there is missing there too */
    const int status = can_be_written(name) ? CT_OK : refuse_name(item, name);
    if (!status)
        fprintf(c->out, "%s = %s\n", item->key, name);
    free(whole);
    free(joined);
    return status;
}

static int copy_section(struct copy *c, const struct ct_ini_item *item)
{
    if (!c->any && strcmp(item->section, "capture") != 0)
        return cli_fail(
            item->ctx, CT_ERR_CONFIG,
            "%s: does not describe a raw trace ([capture]), so no description of the trace that is kept can "
            "be made of it; give such an .ini (docs/formats.md) as --config",
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
    const bool is_file = strcmp(item->key, "file") == 0;
    if (c->is_gap || (is_capture && is_file) ||
        (is_capture && c->framing != CT_FRAMING_AUTO && strcmp(item->key, "framing") == 0))
        return CT_OK;
    if (is_file || strcmp(item->key, "elf") == 0)
        return copy_path(c, item);
    fprintf(c->out, "%s = %s\n", item->key, item->value);
    return CT_OK;
}

/* The text of an .ini; NULL with the reason in the context. */
static char *read_config(struct ct_ctx *ctx, const char *path, size_t *size)
{
    struct stat about;
    void *bytes = NULL;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &about) || !S_ISREG(about.st_mode) || about.st_size > CONFIG_MAX)
        cli_fail(ctx, CT_ERR_IO,
                 "%s: not the .ini of a raw trace (docs/formats.md), which --tee needs as --config", path);
    else if (ct_whole_file_read(ctx, fd, path, (size_t)about.st_size, &bytes) == CT_OK)
        *size = (size_t)about.st_size;
    if (fd >= 0)
        close(fd);
    return bytes;
}

static bool print_description(struct ct_ctx *ctx, FILE *out, const char *trace, const char *config,
                              enum ct_framing framing)
{
    size_t size = 0;
    char *text = read_config(ctx, config, &size);
    char *folder = strdup(config);
    char *slash = folder ? strrchr(folder, '/') : NULL;
    int status = !text ? CT_ERR_IO : folder ? CT_OK : cli_fail_nomem(ctx, config);
    if (folder)
        folder[slash ? slash + 1 - folder : 0] = '\0';
    if (!status) {
        struct copy copy = {.out = out, .folder = folder, .trace = trace, .framing = framing};
        fputs("; What 'coretap live --tee' kept. A [gap] stands where one connection ended and the next one "
              "began.\n",
              out);
        status = ct_ini_parse(ctx, config, text, size, copy_item, &copy);
    }
    if (text)
        ct_whole_file_free(text, size);
    free(folder);
    if (status)
        cli_library_error(ctx);
    return !status;
}

static bool describe(struct cli_live_tee *t, struct ct_ctx *ctx, const char *config, enum ct_framing framing)
{
    struct cli_output output;
    const char *slash = strrchr(t->path, '/');
    FILE *out = cli_output_open(&output, t->described);
    if (!out)
        return false;
    const bool fine = print_description(ctx, out, slash ? slash + 1 : t->path, config, framing);
    if (!cli_output_close(&output, fine))
        return false;
    t->gaps = open(t->described, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (t->gaps < 0)
        cli_say("%s: cannot be written: %s", t->described, strerror(errno));
    return t->gaps >= 0;
}

/* ---- the file ---- */

/* Whether nothing is lost when the file is written. */
static bool is_free(const char *path, int input)
{
    struct stat about, in;
    if (stat(path, &about))
        return true;
    if (fstat(input, &in) == 0 && in.st_dev == about.st_dev && in.st_ino == about.st_ino)
        cli_say("%s: is the input itself; the trace is there already, name another file or leave --tee out",
                path);
    else if (!S_ISREG(about.st_mode) && !S_ISCHR(about.st_mode))
        cli_say("%s: is no regular file; a trace is kept in one, which can be read at any time", path);
    else if (about.st_size)
        cli_say("%s: there is something in it already; name another file to keep the trace in, or remove it",
                path);
    else
        return true;
    return false;
}

static bool open_file(struct cli_live_tee *t)
{
    t->fd = open(t->path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666);
    if (t->fd < 0)
        cli_say("%s: cannot be written: %s", t->path, strerror(errno));
    else if (isatty(t->fd))
        cli_say("%s: is a terminal; name a file to keep the trace in", t->path);
    return t->fd >= 0 && !isatty(t->fd);
}

/* The description, then the file: what is there can be read at any time. */
static bool create(struct cli_live_tee *t, struct ct_ctx *ctx, const char *config, enum ct_framing framing,
                   int input)
{
    struct stat about;
    if (!is_free(t->path, input))
        return false;
    if (stat(t->path, &about) == 0 && S_ISCHR(about.st_mode))
        return open_file(t);
    if (asprintf(&t->described, "%s.ini", t->path) < 0) {
        t->described = NULL;
        cli_no_memory();
        return false;
    }
    if (!is_free(t->described, input) || !describe(t, ctx, config, framing))
        return false;
    if (open_file(t))
        return true;
    unlink(t->described);
    return false;
}

static void free_tee(struct cli_live_tee *t)
{
    if (t->fd >= 0)
        close(t->fd);
    if (t->gaps >= 0)
        close(t->gaps);
    free(t->described);
    free(t);
}

struct cli_live_tee *cli_live_tee_open(struct ct_ctx *ctx, const char *path, const char *config,
                                       enum ct_framing framing, int input)
{
    const char *slash = strrchr(path, '/');
    struct cli_live_tee *t = calloc(1, sizeof *t);
    if (!t) {
        cli_no_memory();
        return NULL;
    }
    *t = (struct cli_live_tee){.path = path, .fd = -1, .gaps = -1};
    if (!can_be_written(slash ? slash + 1 : path) || strcmp(path, "-") == 0)
        cli_say("--tee %s: the trace is kept in a file with a name that an .ini can hold; name another one",
                path);
    else if (create(t, ctx, config, framing, input))
        return t;
    free_tee(t);
    return NULL;
}

/* ---- bytes ---- */

static bool write_all(int fd, const void *data, size_t size, uint64_t *written)
{
    while (size) {
        const ssize_t got = write(fd, data, size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return false;
        data = (const uint8_t *)data + got;
        size -= (size_t)got;
        *written += (uint64_t)got;
    }
    return true;
}

/* The description has the gap before the file has what is behind it. */
static bool write_gap(const struct cli_live_tee *t)
{
    char text[64];
    uint64_t written = 0;
    const int size = snprintf(text, sizeof text, "\n[gap]\nat = %" PRIu64 "\n", t->kept);
    return t->gaps < 0 || write_all(t->gaps, text, (size_t)size, &written);
}

void cli_live_tee_write(struct cli_live_tee *t, const uint8_t *data, size_t size)
{
    if (t->trouble)
        return;
    const bool told = !t->apart || write_gap(t);
    t->apart &= !told;
    if (told && write_all(t->fd, data, size, &t->kept))
        return;
    t->trouble = strerror(errno);
    cli_say("%s: cannot be written: %s; it holds the first %" PRIu64
            " bytes of the trace, and the run goes on without it",
            told ? t->path : t->described, t->trouble, t->kept);
}

void cli_live_tee_break(struct cli_live_tee *t)
{
    t->apart |= t->kept != t->origin;
    t->origin = t->kept;
}

void cli_live_tee_look(const struct cli_live_tee *t, struct cli_live_intake *intake)
{
    intake->tee = t->path;
    intake->kept = t->kept;
    intake->trouble = t->trouble;
}

bool cli_live_tee_close(struct cli_live_tee *t)
{
    bool whole = !t->trouble;
    if (close(t->fd) && whole) {
        cli_say("%s: cannot be written: %s; the trace may not be whole", t->path, strerror(errno));
        whole = false;
    }
    t->fd = -1;
    free_tee(t);
    return whole;
}
