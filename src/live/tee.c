/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* asprintf */
#include "live/tee.h"
#include "base/ctx.h"
#include "base/path.h"
#include "base/whole_file.h"
#include "live/text.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CONFIG_MAX ((off_t)16 << 20) /* bytes */

struct ct_live_tee {
    const struct ct_live_say *say;
    const char *path;
    char *described; /* path of the description, or NULL */
    int fd, gaps;    /* descriptors of the trace and of the description, or -1 */
    uint64_t kept;   /* bytes written */
    uint64_t origin; /* size of the file when the current connection began */
    bool apart;      /* the next byte belongs to another connection */
    const char *trouble;
};

/* ---- the description ---- */

/* Reads the text of an .ini file. Free it with ct_whole_file_free. */
static int read_config(struct ct_ctx *ctx, const char *path, void **text, size_t *size)
{
    struct stat about;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    int rc;
    if (fd >= 0 && !fstat(fd, &about) && S_ISREG(about.st_mode) && about.st_size <= CONFIG_MAX) {
        *size = (size_t)about.st_size;
        rc = ct_whole_file_read(ctx, fd, path, *size, text);
    } else {
        rc = ct_fail(ctx, CT_ERR_ARG,
                     "%s: this is not the .ini file of a raw trace, so the copy of the trace cannot be "
                     "described; give "
                     "such a file (docs/formats.md)",
                     path);
    }
    if (fd >= 0)
        close(fd);
    return rc;
}

static int print_description(struct ct_ctx *ctx, const struct ct_live_input *i, struct ct_live_text *out)
{
    static const char remark[] = "; What 'coretap live --tee' kept. A [gap] stands where one connection "
                                 "ended and the next one began.\n";
    void *text = NULL;
    size_t size = 0;
    int rc = read_config(ctx, i->config, &text, &size);
    if (rc)
        return rc;
    (void)ct_live_text_write(out, remark, sizeof remark - 1);
    rc = ct_raw_describe(ctx, i->config, text, size, ct_base_name(i->tee), (enum ct_framing)i->framing,
                         ct_live_text_write, out);
    ct_whole_file_free(text, size);
    return !rc && out->lacks ? ct_fail_nomem(ctx, i->tee) : rc;
}

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

static int fail_written(struct ct_ctx *ctx, const char *path)
{
    return ct_fail(ctx, CT_ERR_IO, "%s: cannot be written: %s", path, strerror(errno));
}

/* Writes the description, moves it into place when complete, and keeps it open to append gaps. */
static int keep_description(struct ct_live_tee *t, struct ct_ctx *ctx, const struct ct_live_text *text)
{
    char *beside = NULL;
    uint64_t written = 0;
    if (asprintf(&beside, "%s.part", t->described) < 0)
        return ct_fail_nomem(ctx, t->described);
    t->gaps = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0666);
    const bool fine = t->gaps >= 0 && write_all(t->gaps, text->text, text->size, &written) &&
                      rename(beside, t->described) == 0;
    const int rc = fine ? CT_OK : fail_written(ctx, t->described);
    if (!fine && t->gaps >= 0)
        unlink(beside);
    free(beside);
    return rc;
}

static int describe(struct ct_live_tee *t, struct ct_ctx *ctx, const struct ct_live_input *i)
{
    struct ct_live_text text = {0};
    int rc = print_description(ctx, i, &text) ?: keep_description(t, ctx, &text);
    ct_live_text_free(&text);
    return rc;
}

/* ---- the file ---- */

/* Checks that writing the file does not destroy anything. */
static int check_free(struct ct_ctx *ctx, const char *path, int input)
{
    struct stat about, in;
    if (stat(path, &about))
        return CT_OK;
    if (fstat(input, &in) == 0 && in.st_dev == about.st_dev && in.st_ino == about.st_ino)
        return ct_fail(
            ctx, CT_ERR_ARG,
            "%s: this is the input itself, which already holds the trace; name another file, or keep "
            "no copy",
            path);
    if (!S_ISREG(about.st_mode) && !S_ISCHR(about.st_mode))
        return ct_fail(
            ctx, CT_ERR_ARG,
            "%s: this is not a regular file, so the trace cannot be kept there; name a regular file", path);
    if (about.st_size)
        return ct_fail(
            ctx, CT_ERR_ARG,
            "%s: the file is not empty and is not overwritten; name another file to keep the trace in", path);
    return CT_OK;
}

static int open_file(struct ct_live_tee *t, struct ct_ctx *ctx)
{
    t->fd = open(t->path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666);
    if (t->fd < 0)
        return fail_written(ctx, t->path);
    return isatty(t->fd) ? ct_fail(ctx, CT_ERR_ARG,
                                   "%s: this is a terminal, so the trace cannot be kept there; name a "
                                   "regular file",
                                   t->path)
                         : CT_OK;
}

/* Creates the description before the file, so that the file can be read at any time. */
static int create(struct ct_live_tee *t, struct ct_ctx *ctx, const struct ct_live_input *i, int input)
{
    struct stat about;
    int rc = check_free(ctx, t->path, input);
    if (rc)
        return rc;
    if (stat(t->path, &about) == 0 && S_ISCHR(about.st_mode))
        return open_file(t, ctx);
    if (asprintf(&t->described, "%s.ini", t->path) < 0) {
        t->described = NULL;
        return ct_fail_nomem(ctx, t->path);
    }
    rc = check_free(ctx, t->described, input) ?: describe(t, ctx, i);
    if (rc)
        return rc;
    rc = open_file(t, ctx);
    if (rc)
        unlink(t->described);
    return rc;
}

static void free_tee(struct ct_live_tee *t)
{
    if (t->fd >= 0)
        close(t->fd);
    if (t->gaps >= 0)
        close(t->gaps);
    free(t->described);
    free(t);
}

int ct_live_tee_open(struct ct_ctx *ctx, const struct ct_live_say *say, const struct ct_live_input *input,
                     int fd, struct ct_live_tee **out)
{
    const char *path = input->tee;
    struct ct_live_tee *t = calloc(1, sizeof *t);
    if (!t)
        return ct_fail_nomem(ctx, path);
    *t = (struct ct_live_tee){.say = say, .path = path, .fd = -1, .gaps = -1};
    const bool named = ct_raw_can_name(ct_base_name(path)) && strcmp(path, "-") != 0;
    const int rc = named ? create(t, ctx, input, fd)
                         : ct_fail(ctx, CT_ERR_ARG,
                                   "%s: an .ini file cannot name this file (- means standard input, and ; "
                                   "and # begin comments), so the trace is not kept; choose another name",
                                   path);
    if (rc) {
        free_tee(t);
        return rc;
    }
    *out = t;
    return CT_OK;
}

/* ---- bytes ---- */

/* Adds a gap to the description. Must be written before the bytes after the gap. */
static bool write_gap(const struct ct_live_tee *t)
{
    char text[64];
    uint64_t written = 0;
    const int size = snprintf(text, sizeof text, "\n[gap]\nat = %" PRIu64 "\n", t->kept);
    return t->gaps < 0 || write_all(t->gaps, text, (size_t)size, &written);
}

void ct_live_tee_write(struct ct_live_tee *t, const uint8_t *data, size_t size)
{
    if (t->trouble)
        return;
    const bool told = !t->apart || write_gap(t);
    t->apart &= !told;
    if (told && write_all(t->fd, data, size, &t->kept))
        return;
    t->trouble = strerror(errno);
    ct_live_say(t->say, CT_LOG_WARNING,
                "%s: cannot be written: %s; it holds the first %" PRIu64 " bytes of the trace, and the run "
                "continues without it",
                told ? t->path : t->described, t->trouble, t->kept);
}

void ct_live_tee_break(struct ct_live_tee *t)
{
    t->apart |= t->kept != t->origin;
    t->origin = t->kept;
}

void ct_live_tee_look(const struct ct_live_tee *t, struct ct_live_intake *intake)
{
    intake->tee = t->path;
    intake->kept = t->kept;
    intake->trouble = t->trouble;
}

const char *ct_live_tee_close(struct ct_live_tee *t)
{
    if (!t)
        return NULL;
    const char *trouble = t->trouble;
    if (close(t->fd) && !trouble) {
        trouble = strerror(errno);
        ct_live_say(t->say, CT_LOG_WARNING,
                    "%s: cannot be written: %s; the copy of the trace may be "
                    "incomplete",
                    t->path, trouble);
    }
    t->fd = -1;
    free_tee(t);
    return trouble;
}
