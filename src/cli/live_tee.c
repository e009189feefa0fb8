/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* asprintf */
#include "cli/live_tee.h"
#include "cli/output.h"
#include "cli/text_file.h"

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

/* The text of an .ini, with a NUL behind it; NULL: said why. */
static char *read_config(const char *path, size_t *size)
{
    struct stat about;
    if (!stat(path, &about) && S_ISREG(about.st_mode) && about.st_size <= CONFIG_MAX)
        return cli_read_file(path, (size_t)CONFIG_MAX, size);
    cli_say("%s: not the .ini of a raw trace (docs/formats.md), which --tee needs as --config", path);
    return NULL;
}

static bool print_description(struct ct_ctx *ctx, FILE *out, const char *trace, const char *config,
                              enum ct_framing framing)
{
    size_t size = 0;
    char *text = read_config(config, &size);
    if (!text)
        return false;
    fputs("; What 'coretap live --tee' kept. A [gap] stands where one connection ended and the next one "
          "began.\n",
          out);
    const int rc = ct_raw_describe(ctx, config, text, size, trace, framing, cli_output_write, out);
    free(text);
    if (rc)
        cli_library_error(ctx);
    return !rc;
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
    if (!ct_raw_can_name(slash ? slash + 1 : path) || strcmp(path, "-") == 0)
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
