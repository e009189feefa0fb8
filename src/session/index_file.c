/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes index files: a line with the version, then 64-bit little-endian numbers, the last of which
 * is a checksum of all before it. A file may contain anything, so each number is checked. */
#include "session/index_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/ctx.h"
#include "base/fnv.h"
#include "base/whole_file.h"

static const char magic[] = "coretap-index 1\n"; /* 16 bytes; the version stands before the end of the line */
#define MAGIC_SIZE   (sizeof magic - 1)
#define VERSION_AT   (MAGIC_SIZE - 2)
#define HEAD_NUMBERS 8u          /* identity, framing, two flags, streams */
#define PLACE        9u          /* numbers of a place */
#define STREAM       (PLACE + 3) /* numbers of a stream without its points */
#define POINT        (PLACE + 2)
#define PIECES       16u   /* parts of the trace file that are hashed */
#define PIECE        4096u /* bytes of each of these parts */
#define MULTIPLIER   UINT64_C(0x9e3779b97f4a7c15)

/* ---- identity ---- */

static void mix(uint64_t *sum, uint64_t number)
{
    *sum = (*sum ^ number) * MULTIPLIER;
    *sum ^= *sum >> 32;
}

static void mix_source(uint64_t *sum, const struct ct_source *s)
{
    uint32_t regs[sizeof s->regs / sizeof(uint32_t)];
    memcpy(regs, &s->regs, sizeof regs);
    mix(sum, (uint64_t)s->protocol << 8 | s->trace_id);
    mix(sum, (uint64_t)s->arch.major << 24 | (uint64_t)s->arch.minor << 16 | (uint64_t)s->arch.profile << 8 |
                 s->arch.newest);
    for (size_t i = 0; i < sizeof regs / sizeof *regs; i++)
        mix(sum, regs[i]);
}

static void mix_image(uint64_t *sum, const struct ct_image *image)
{
    for (const char *c = image->path; *c; c++)
        mix(sum, (unsigned char)*c);
    mix(sum, image->addr);
    mix(sum, image->offset);
    mix(sum, image->size);
    mix(sum, (uint64_t)image->space << 8 | image->is_elf);
}

static void mix_piece(uint64_t *sum, const struct ct_piece *piece)
{
    mix(sum, piece->offset);
    mix(sum, piece->size);
    mix(sum, piece->time);
    mix(sum, (uint64_t)piece->tid << 16 | (uint64_t)piece->joins << 8 | piece->cut);
}

/* Mixes in what was in memory when, because it affects the instruction counts. */
static void mix_maps(uint64_t *sum, const struct ct_maps *maps)
{
    mix(sum, (uint64_t)maps->by_piece << 8 | maps->clock.known);
    mix(sum, maps->clock.zero);
    mix(sum, (uint64_t)maps->clock.mult << 16 | maps->clock.shift);
    for (size_t i = 0; i < maps->thread_count; i++) {
        mix(sum, maps->threads[i].from);
        mix(sum, (uint64_t)maps->threads[i].tid << 32 | maps->threads[i].pid);
    }
    for (size_t i = 0; i < maps->process_count; i++) {
        const struct ct_process *process = &maps->processes[i];
        mix(sum, process->pid);
        for (size_t g = 0; g < process->generation_count; g++) {
            mix(sum, process->generations[g].from);
            for (size_t k = 0; k < process->generations[g].image_count; k++)
                mix_image(sum, &process->generations[g].images[k]);
        }
    }
}

/* Returns the hash of how a buffer is read. Programs are identified by their file names. */
static uint64_t sum_of_config(const struct ct_buffer *b)
{
    uint64_t sum = b->framing;
    for (size_t i = 0; i < b->source_count; i++)
        mix_source(&sum, &b->sources[i]);
    for (size_t i = 0; i < b->image_count; i++)
        mix_image(&sum, &b->images[i]);
    for (size_t i = 0; i < b->piece_count; i++)
        mix_piece(&sum, &b->pieces[i]);
    if (b->maps)
        mix_maps(&sum, b->maps);
    return sum;
}

/* Mixes in parts from all over the file, including the first and the last bytes, so that another trace with
 * the same size and time has another hash. CT_ERR_IO. */
static int mix_bytes(struct ct_ctx *ctx, const char *path, uint64_t size, uint64_t *sum)
{
    char piece[PIECE];
    const uint64_t last = size > PIECE ? size - PIECE : 0;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = file < 0 ? -1 : 0;
    for (uint64_t i = 0; i < PIECES && got >= 0; i++) {
        got = pread(file, piece, sizeof piece, (off_t)(last * i / (PIECES - 1)));
        mix(sum, ct_fnv(CT_FNV_BEGIN, piece, got > 0 ? (size_t)got : 0));
    }
    const int why = errno;
    if (file >= 0)
        close(file);
    return got < 0 ? ct_fail(ctx, CT_ERR_IO, "%s: cannot be read: %s", path, strerror(why)) : CT_OK;
}

int ct_index_identify(struct ct_ctx *ctx, const struct ct_buffer *buffer, struct ct_index_identity *out)
{
    struct stat st;
    if (stat(buffer->path, &st))
        return ct_fail(ctx, CT_ERR_IO, "%s: cannot be read: %s", buffer->path, strerror(errno));
    *out = (struct ct_index_identity){.size = (uint64_t)st.st_size,
                                      .seconds = (uint64_t)st.st_mtim.tv_sec,
                                      .nanoseconds = (uint64_t)st.st_mtim.tv_nsec,
                                      .config = sum_of_config(buffer)};
    return mix_bytes(ctx, buffer->path, out->size, &out->config);
}

/* ---- numbers ---- */

uint64_t ct_index_sum(const void *numbers, size_t count)
{
    const uint8_t *bytes = numbers;
    uint64_t sum = count;
    for (size_t i = 0; i < count; i++)
        mix(&sum, ct_load64(bytes + 8 * i));
    return sum;
}

struct writer {
    uint64_t *at;
};

static void put(struct writer *w, uint64_t number)
{
    *w->at++ = ct_le64(number);
}

static void put_place(struct writer *w, const struct ct_index_place *p)
{
    const uint64_t numbers[PLACE] = {p->clock.cycles, p->clock.instructions, p->clock.ticks, p->elements,
                                     p->counts,       p->addresses,          p->owners,      p->context,
                                     p->timestamp};
    for (size_t i = 0; i < PLACE; i++)
        put(w, numbers[i]);
}

struct reader {
    const uint8_t *at;
    size_t left; /* numbers */
};

static uint64_t get(struct reader *r)
{
    const uint64_t number = ct_load64(r->at);
    r->at += 8;
    r->left--;
    return number;
}

static struct ct_index_place get_place(struct reader *r)
{
    uint64_t numbers[PLACE];
    for (size_t i = 0; i < PLACE; i++)
        numbers[i] = get(r);
    return (struct ct_index_place){.clock = {numbers[0], numbers[1], numbers[2]},
                                   .elements = numbers[3],
                                   .counts = numbers[4],
                                   .addresses = numbers[5],
                                   .owners = numbers[6],
                                   .context = numbers[7],
                                   .timestamp = numbers[8]};
}

/* ---- writing ---- */

static bool is_there(const struct ct_index_stream *s)
{
    return s->count || s->end.elements;
}

static size_t numbers_of(const struct ct_index *index, uint64_t *streams)
{
    size_t count = HEAD_NUMBERS + 1;
    *streams = 0;
    for (size_t i = 0; i < CT_INDEX_STREAMS; i++) {
        if (!is_there(&index->streams[i]))
            continue;
        count += STREAM + POINT * index->streams[i].count;
        ++*streams;
    }
    return count;
}

static void put_stream(struct writer *w, uint64_t id, const struct ct_index_stream *s)
{
    put(w, id);
    put_place(w, &s->end);
    put(w, s->end.unclear);
    put(w, s->count);
    for (size_t i = 0; i < s->count; i++) {
        put(w, s->points[i].offset);
        put(w, s->points[i].state);
        put_place(w, &s->points[i].place);
    }
}

int ct_index_write(struct ct_ctx *ctx, const struct ct_index *index, const struct ct_index_identity *of,
                   void **bytes, size_t *size)
{
    uint64_t streams;
    const size_t count = numbers_of(index, &streams);
    *size = MAGIC_SIZE + 8 * count;
    char *file = malloc(*size);
    if (!file)
        return ct_fail_nomem(ctx, "index");
    uint64_t *numbers = (uint64_t *)(void *)(file + MAGIC_SIZE);
    struct writer w = {numbers};
    memcpy(file, magic, MAGIC_SIZE);
    put(&w, of->size);
    put(&w, of->seconds);
    put(&w, of->nanoseconds);
    put(&w, of->config);
    put(&w, index->framing);
    put(&w, index->followed);
    put(&w, index->has_instructions);
    put(&w, streams);
    for (size_t i = 0; i < CT_INDEX_STREAMS; i++)
        if (is_there(&index->streams[i]))
            put_stream(&w, i, &index->streams[i]);
    put(&w, ct_index_sum(numbers, count - 1));
    *bytes = file;
    return CT_OK;
}

/* ---- reading ---- */

static int refuse(struct ct_ctx *ctx, const char *name, const char *what)
{
    return ct_fail(ctx, CT_ERR_FORMAT,
                   "%s: %s, so the index is not used; remove the file, and coretap "
                   "writes a new index, or omit --index",
                   name, what);
}

/* Reads the points of a stream. Refuses points that do not ascend, and more points than the file can hold. */
static int get_points(struct ct_ctx *ctx, struct reader *r, struct ct_index_stream *s, uint64_t count,
                      bool *good)
{
    *good = count <= r->left / POINT;
    if (!*good || !count)
        return CT_OK;
    s->points = malloc((size_t)count * sizeof *s->points);
    if (!s->points)
        return ct_fail_nomem(ctx, "index");
    s->count = s->room = (size_t)count;
    for (size_t i = 0; i < s->count; i++) {
        struct ct_index_point *p = &s->points[i];
        p->offset = get(r);
        p->state = get(r);
        p->place = get_place(r);
        *good &= !i || s->points[i - 1].offset < p->offset;
    }
    return CT_OK;
}

static int get_streams(struct ct_ctx *ctx, struct reader *r, struct ct_index *index, bool *good)
{
    uint64_t next = 0;
    int rc = CT_OK;
    uint64_t streams = get(r);
    for (*good = true; streams && *good && !rc; streams--) {
        *good = r->left >= STREAM;
        const uint64_t id = *good ? get(r) : CT_INDEX_STREAMS;
        *good = id >= next && id < CT_INDEX_STREAMS;
        if (!*good)
            break;
        next = id + 1;
        struct ct_index_stream *s = &index->streams[id];
        s->end = get_place(r);
        s->end.unclear = get(r) != 0;
        rc = get_points(ctx, r, s, get(r), good);
    }
    *good &= !r->left;
    return rc;
}

/* Reads the numbers after the identity. */
static int read_numbers(struct ct_ctx *ctx, const char *name, struct reader *r, struct ct_index **out)
{
    struct ct_index *index = calloc(1, sizeof *index);
    bool good;
    if (!index)
        return ct_fail_nomem(ctx, "index");
    const uint64_t framing = get(r);
    index->framing = (uint8_t)(framing <= CT_FRAMING_DSTREAM ? framing : CT_FRAMING_DSTREAM);
    index->followed = get(r) != 0;
    index->has_instructions = get(r) != 0;
    int rc = get_streams(ctx, r, index, &good);
    if (!rc && !good)
        rc = refuse(ctx, name, "the index is damaged: its numbers contradict each other");
    if (rc)
        ct_index_free(index);
    else
        *out = index;
    return rc;
}

int ct_index_read(struct ct_ctx *ctx, const char *name, const void *bytes, size_t size,
                  const struct ct_index_identity *of, struct ct_index **out)
{
    *out = NULL;
    if (!bytes || size < MAGIC_SIZE || memcmp(bytes, magic, VERSION_AT) != 0)
        return refuse(ctx, name, "the file is not an index of coretap");
    if (memcmp(bytes, magic, MAGIC_SIZE) != 0) /* the index has another version */
        return CT_OK;
    const uint8_t *numbers = (const uint8_t *)bytes + MAGIC_SIZE;
    const size_t count = (size - MAGIC_SIZE) / 8;
    if ((size - MAGIC_SIZE) % 8 || count <= HEAD_NUMBERS ||
        ct_index_sum(numbers, count - 1) != ct_load64(numbers + 8 * (count - 1)))
        return refuse(ctx, name, "the index is damaged: it was truncated or changed after it was written");
    struct reader r = {numbers, count - 1};
    struct ct_index_identity is;
    is.size = get(&r);
    is.seconds = get(&r);
    is.nanoseconds = get(&r);
    is.config = get(&r);
    return memcmp(&is, of, sizeof is) == 0 ? read_numbers(ctx, name, &r, out) : CT_OK;
}

/* ---- files ---- */

int ct_index_load(struct ct_ctx *ctx, const char *path, const struct ct_index_identity *of,
                  struct ct_index **out)
{
    struct stat st;
    *out = NULL;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 && errno == ENOENT)
        return CT_OK;
    if (fd < 0 || fstat(fd, &st)) {
        const int error = errno;
        if (fd >= 0)
            close(fd);
        return ct_fail(ctx, CT_ERR_IO,
                       "%s: the index cannot be read: %s; correct the access to the file, or "
                       "omit --index",
                       path, strerror(error));
    }
    void *bytes = NULL;
    int rc = S_ISREG(st.st_mode) && st.st_size ? ct_whole_file_read(ctx, fd, path, (size_t)st.st_size, &bytes)
                                               : refuse(ctx, path, "the file is not an index of coretap");
    if (!rc)
        rc = ct_index_read(ctx, path, bytes, (size_t)st.st_size, of, out);
    if (bytes)
        ct_whole_file_free(bytes, (size_t)st.st_size);
    close(fd);
    return rc;
}

static bool write_all(int fd, const char *bytes, size_t size)
{
    while (size) {
        const ssize_t n = write(fd, bytes, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        bytes += n;
        size -= (size_t)n;
    }
    return true;
}

static int save_bytes(struct ct_ctx *ctx, const char *path, const char *bytes, size_t size)
{
    char temporary[4096];
    const int length = snprintf(temporary, sizeof temporary, "%s.XXXXXX", path);
    const int fd = length > 0 && (size_t)length < sizeof temporary ? mkstemp(temporary) : -1;
    bool good = fd >= 0 && write_all(fd, bytes, size) && fchmod(fd, 0644) == 0;
    int error = errno;
    if (fd >= 0 && close(fd) != 0 && good) {
        error = errno;
        good = false;
    }
    if (good && rename(temporary, path) != 0) {
        error = errno;
        good = false;
    }
    if (good)
        return CT_OK;
    if (fd >= 0)
        unlink(temporary);
    return ct_fail(ctx, CT_ERR_IO,
                   "%s: the index cannot be written: %s; make its folder writable, or omit "
                   "--index",
                   path, strerror(error));
}

int ct_index_save(struct ct_ctx *ctx, const char *path, const struct ct_index *index,
                  const struct ct_index_identity *of)
{
    void *bytes = NULL;
    size_t size = 0;
    int rc = ct_index_write(ctx, index, of, &bytes, &size);
    if (rc)
        return rc;
    rc = save_bytes(ctx, path, bytes, size);
    free(bytes);
    return rc;
}
