/* SPDX-License-Identifier: Apache-2.0 */
/* Event logs as files.
 *
 *   header   "CTFRACT1", then little-endian: u32 bytes of the header with fields and text, u32 record
 *            bytes, u32 number of fields, u32 text bytes, u64 clock_hz, pgd, range_lo, range_hi,
 *            u16 asid, u8 mode, u8 granule, u32 zero
 *   fields   of 16 bytes: name[12] padded with zeros, u16 offset in the record, u16 bytes
 *   text     lines "key=value"
 *   blocks   u32 "FBLK", u32 records, u64 number of the first record, u64 events dropped just before,
 *            u32 CRC-32 of the records, u32 zero; then the records
 *   or       u32 "FTXT", u32 bytes, 16 bytes of zeros, u32 CRC-32, u32 zero; then more lines of text
 *
 * Blocks are written whole; from a file that ends inside one, the complete records are still read. */
#include "base/crc32.h"
#include "base/bytes.h"
#include "base/ctx.h"
#include "base/printable.h"
#include "base/require.h"
#include "base/room.h"
#include "base/whole_file.h"
#include "fractal/logger.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEADER_BYTES    64
#define FIELD_BYTES     16
#define BLOCK_BYTES     32
#define BLOCK_MAGIC     0x4b4c4246u /* "FBLK" */
#define TEXT_MAGIC      0x54585446u /* "FTXT" */
#define BLOCK_RECORDS   4096
#define BLOCKS_A_SECOND 1000 /* at least, while there are records: for readers of a growing log */
#define TEXT_MAX        (1u << 20)
#define HEADER_MOST     (HEADER_BYTES + 16 * FIELD_BYTES + TEXT_MAX)

static void store32(uint8_t *p, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(v >> 8 * i);
}

static void store64(uint8_t *p, uint64_t v)
{
    store32(p, (uint32_t)v);
    store32(p + 4, (uint32_t)(v >> 32));
}

/* ---- writer ---- */

struct ct_fractal_writer {
    struct ct_ctx *ctx;
    ct_write_fn *write;
    void *user;
    FILE *file; /* opened by the writer, or standard output; NULL: the caller's function writes */
    char *path;
    uint32_t fields, record;
    uint32_t count;
    uint64_t sequence, dropped;
    uint64_t begun, longest; /* time of the block's first record; longest duration of a block, 0: unlimited */
    uint8_t block[BLOCK_BYTES + BLOCK_RECORDS * CT_RECORD_MAX];
};

/* Sets the error that the log could not be written. Returns CT_ERR_IO. */
static int write_failed(struct ct_fractal_writer *w)
{
    return ct_fail(w->ctx, CT_ERR_IO, "%s: the event log cannot be written: %s; events are missing from it",
                   w->path, strerror(errno));
}

/* Passes bytes to the write function. */
static int write_all(struct ct_fractal_writer *w, const void *data, size_t size)
{
    const int rc = w->write(w->user, data, size);
    return rc == CT_ERR_IO ? write_failed(w) : rc;
}

/* Writes the header of a log. */
static int write_header(struct ct_fractal_writer *w, const struct ct_fractal_log_info *info)
{
    const char *text = info->text ? info->text : "";
    const size_t text_bytes = strlen(text);
    if (text_bytes > TEXT_MAX)
        return ct_fail(w->ctx, CT_ERR_ARG,
                       "%s: the text has %zu bytes, more than the limit of %u; it was not written", w->path,
                       text_bytes, TEXT_MAX);
    uint8_t fields[16 * FIELD_BYTES] = {0}, head[HEADER_BYTES] = "CTFRACT1";
    uint32_t bit, bytes, count = 0, at = 0;
    const char *name;
    for (unsigned i = 0; ct_record_field(i, &bit, &name, &bytes); i++) {
        if (!(w->fields & bit))
            continue;
        uint8_t *f = fields + FIELD_BYTES * count++;
        memcpy(f, name, strlen(name));
        store32(f + 12, at | bytes << 16);
        at += bytes;
    }
    store32(head + 8, (uint32_t)(HEADER_BYTES + count * FIELD_BYTES + text_bytes));
    store32(head + 12, w->record);
    store32(head + 16, count);
    store32(head + 20, (uint32_t)text_bytes);
    store64(head + 24, info->clock_hz);
    store64(head + 32, info->pgd);
    store64(head + 40, info->range_lo);
    store64(head + 48, info->range_hi);
    store32(head + 56, info->asid | (uint32_t)info->mode << 16 | (uint32_t)info->granule << 24);
    int rc = write_all(w, head, sizeof head) ?: write_all(w, fields, (size_t)FIELD_BYTES * count);
    return rc || !text_bytes ? rc : write_all(w, text, text_bytes);
}

int ct_fractal_writer_to(struct ct_ctx *ctx, ct_write_fn *write, void *user, const char *name,
                         const struct ct_fractal_log_info *info, struct ct_fractal_writer **out)
{
    CT_REQUIRE_OUT(ctx, out, write, name, info);
    if (!(info->fields & CT_FRACTAL_FIELD_ALL))
        return ct_fail(ctx, CT_ERR_ARG,
                       "%s: the log would have no fields, so it was not created; select at least one field",
                       name);
    struct ct_fractal_writer *w = calloc(1, sizeof *w);
    if (!w || !(w->path = strdup(name))) {
        free(w);
        return ct_fail_nomem(ctx, name);
    }
    w->ctx = ctx;
    w->fields = info->fields & CT_FRACTAL_FIELD_ALL;
    w->record = ct_record_size(w->fields);
    w->longest = w->fields & CT_FRACTAL_FIELD_TIME ? info->clock_hz / BLOCKS_A_SECOND : 0;
    w->write = write;
    w->user = user;
    const int err = write_header(w, info);
    if (err) {
        free(w->path);
        free(w);
        return err;
    }
    *out = w;
    return CT_OK;
}

int ct_fractal_writer_new(struct ct_ctx *ctx, const char *path, const struct ct_fractal_log_info *info,
                          struct ct_fractal_writer **out)
{
    CT_REQUIRE_OUT(ctx, out, path, info);
    FILE *file = strcmp(path, "-") == 0 ? stdout : fopen(path, "wb");
    if (!file)
        return ct_fail(ctx, CT_ERR_IO, "%s: cannot be created: %s", path, strerror(errno));
    const int err = ct_fractal_writer_to(ctx, ct_write_file, file, path, info, out);
    if (*out)
        (*out)->file = file;
    else if (file != stdout)
        fclose(file);
    return err;
}

/* Writes the pending records as a block. */
static int write_block(struct ct_fractal_writer *w)
{
    if (!w->count && !w->dropped)
        return CT_OK;
    const size_t payload = (size_t)w->count * w->record;
    store32(w->block, BLOCK_MAGIC);
    store32(w->block + 4, w->count);
    store64(w->block + 8, w->sequence);
    store64(w->block + 16, w->dropped);
    store32(w->block + 24, ct_crc32(w->block + BLOCK_BYTES, payload));
    store32(w->block + 28, 0);
    w->sequence += w->count;
    w->count = 0;
    w->dropped = 0;
    return write_all(w, w->block, BLOCK_BYTES + payload);
}

int ct_fractal_writer_add(struct ct_fractal_writer *w, const struct ct_fractal_event *events, size_t count,
                          uint64_t dropped)
{
    CT_REQUIRE_OF(w, events || !count);
    int err = CT_OK;
    if (dropped) {
        err = write_block(w);
        w->dropped = dropped;
    }
    for (size_t i = 0; i < count && !err; i++) {
        if (w->longest && w->count && events[i].time - w->begun >= w->longest)
            err = write_block(w);
        if (err)
            break;
        w->begun = w->count ? w->begun : events[i].time;
        ct_record_pack(w->fields, &events[i], w->block + BLOCK_BYTES + (size_t)w->count * w->record);
        if (++w->count == BLOCK_RECORDS)
            err = write_block(w);
    }
    return err;
}

int ct_fractal_writer_text(struct ct_fractal_writer *w, const char *text)
{
    CT_REQUIRE_OF(w, text);
    uint8_t head[BLOCK_BYTES] = {0};
    const size_t bytes = strlen(text);
    const int err = bytes > TEXT_MAX
                        ? ct_fail(w->ctx, CT_ERR_ARG,
                                  "%s: the text has %zu bytes, more than the limit of %u; it was not written",
                                  w->path, bytes, TEXT_MAX)
                        : write_block(w);
    if (err)
        return err;
    store32(head, TEXT_MAGIC);
    store32(head + 4, (uint32_t)bytes);
    store32(head + 24, ct_crc32((const uint8_t *)text, bytes));
    const int rc = write_all(w, head, sizeof head);
    return rc || !bytes ? rc : write_all(w, text, bytes);
}

int ct_fractal_writer_close(struct ct_fractal_writer *w)
{
    if (!w)
        return CT_OK;
    int err = write_block(w);
    if (w->file && (w->file == stdout ? fflush(w->file) : fclose(w->file)) && !err)
        err = write_failed(w);
    free(w->path);
    free(w);
    return err;
}

/* ---- reader ---- */

struct ct_fractal_reader {
    struct ct_ctx *ctx;
    const uint8_t *bytes;
    size_t size, at;
    void *own;       /* contents of the file, or NULL */
    uint8_t *pieces; /* log in pieces: the unread bytes, to which `bytes` points */
    size_t room;     /* size of `pieces`, in bytes */
    char *name;      /* log in pieces: its name in messages */
    bool growing;    /* more bytes may come */
    char *text;
    size_t text_bytes, first_block, text_seen; /* text_seen: text blocks up to this offset are in `text` */
    struct ct_fractal_log_info info;
    uint32_t record;
    uint32_t left;   /* unread records of the current block */
    uint64_t budget; /* bytes that may still be checksummed, so that false block headers cannot make reading
                      * quadratic */
    uint64_t dropped, damaged;
};

/* Returns the fields of a log: those with a known name at the offset that this version uses. */
static uint32_t known_fields(const uint8_t *field, uint32_t count, uint32_t record)
{
    uint32_t fields = 0, at = 0;
    for (uint32_t i = 0; i < count; i++, field += FIELD_BYTES) {
        uint32_t bit, bytes;
        const char *name;
        unsigned k = 0;
        while (ct_record_field(k, &bit, &name, &bytes) && strncmp(name, (const char *)field, 12) != 0)
            k++;
        if (!ct_record_field(k, &bit, &name, &bytes) || bit <= fields || ct_load16(field + 12) != at ||
            ct_load16(field + 14) != bytes)
            return 0;
        fields |= bit;
        at += bytes;
    }
    return at == record ? fields : 0;
}

static int read_header(struct ct_fractal_reader *r, const char *name)
{
    const uint8_t *p = r->bytes;
    if (!p || r->size < HEADER_BYTES || memcmp(p, "CTFRACT1", 8) != 0)
        return ct_fail(r->ctx, CT_ERR_FORMAT,
                       "%s: this is not a FRACTAL event log, because it does not begin with CTFRACT1", name);
    const uint32_t header = ct_load32(p + 8), count = ct_load32(p + 16), text = ct_load32(p + 20);
    r->record = ct_load32(p + 12);
    if (header > r->size)
        return ct_fail(r->ctx, CT_ERR_FORMAT,
                       "%s: the event log ends inside its header, after %zu of %u bytes; use a complete copy",
                       name, r->size, header);
    if (count > 16 || text > TEXT_MAX || header != HEADER_BYTES + count * FIELD_BYTES + text)
        return ct_fail(r->ctx, CT_ERR_FORMAT,
                       "%s: the header of the event log is damaged: its %u bytes do not fit its %u fields "
                       "and %u bytes of text; use an undamaged copy",
                       name, header, count, text);
    r->info.fields = known_fields(p + HEADER_BYTES, count, r->record);
    if (!r->info.fields)
        return ct_fail(r->ctx, CT_ERR_FORMAT,
                       "%s: the event log has fields that this version does not support; read it with the "
                       "newer coretap that wrote it",
                       name);
    r->info.clock_hz = ct_load64(p + 24);
    r->info.pgd = ct_load64(p + 32);
    r->info.range_lo = ct_load64(p + 40);
    r->info.range_hi = ct_load64(p + 48);
    r->info.asid = ct_load16(p + 56);
    r->info.mode = p[58];
    r->info.granule = p[59];
    r->text = malloc(text + 1);
    if (!r->text)
        return ct_fail_nomem(r->ctx, name);
    memcpy(r->text, p + HEADER_BYTES + count * FIELD_BYTES, text);
    r->text[text] = 0;
    r->text_bytes = text;
    r->info.text = r->text;
    r->at = r->first_block = r->text_seen = header;
    r->budget = 16 * (uint64_t)r->size;
    return CT_OK;
}

static int open_bytes(struct ct_ctx *ctx, const void *bytes, size_t size, void *own, const char *name,
                      struct ct_fractal_reader **out)
{
    struct ct_fractal_reader *r = calloc(1, sizeof *r);
    if (!r)
        return ct_fail_nomem(ctx, name);
    *r = (struct ct_fractal_reader){.ctx = ctx, .bytes = bytes, .size = size};
    int err = read_header(r, name);
    if (err) {
        ct_fractal_reader_free(r);
        return err;
    }
    r->own = own;
    *out = r;
    return CT_OK;
}

int ct_fractal_reader_open_bytes(struct ct_ctx *ctx, const void *bytes, size_t size,
                                 struct ct_fractal_reader **out)
{
    CT_REQUIRE_OUT(ctx, out, bytes || !size);
    return open_bytes(ctx, bytes, size, NULL, "log", out);
}

int ct_fractal_reader_open(struct ct_ctx *ctx, const char *path, struct ct_fractal_reader **out)
{
    CT_REQUIRE_OUT(ctx, out, path);
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat st;
    if (fd < 0 || fstat(fd, &st)) {
        const int err = errno;
        if (fd >= 0)
            close(fd);
        return ct_fail(ctx, CT_ERR_IO, "%s: cannot be opened: %s", path, strerror(err));
    }
    const size_t size = (size_t)st.st_size;
    void *bytes = NULL;
    int err =
        S_ISREG(st.st_mode) && size
            ? ct_whole_file_read(ctx, fd, path, size, &bytes)
            : ct_fail(ctx, CT_ERR_FORMAT,
                      "%s: this is not a FRACTAL event log, because it is empty or not a regular file", path);
    close(fd);
    if (err)
        return err;
    err = open_bytes(ctx, bytes, size, bytes, path, out);
    if (err)
        ct_whole_file_free(bytes, size);
    return err;
}

const struct ct_fractal_log_info *ct_fractal_reader_info(const struct ct_fractal_reader *r)
{
    if (!r)
        return NULL;
    return &r->info;
}

uint32_t ct_fractal_reader_unit(const struct ct_fractal_reader *r)
{
    if (!r)
        return 0;
    const char *at = strncmp(r->text, "unit=", 5) == 0 ? r->text : strstr(r->text, "\nunit=");
    const unsigned long unit = at ? strtoul(strchr(at, '=') + 1, NULL, 10) : CT_FRACTAL_LINE;
    return unit >= 8 && unit <= CT_FRACTAL_LINE && !(unit & (unit - 1)) ? (uint32_t)unit : CT_FRACTAL_LINE;
}

/* Returns 1 if the checksum of `bytes` bytes at p is right. Checksums each byte of an intact file once. */
static int sound(struct ct_fractal_reader *r, const uint8_t *p, size_t bytes, uint32_t crc)
{
    if (bytes > r->budget)
        return 0;
    r->budget -= bytes;
    return ct_crc32(p, bytes) == crc;
}

/* Appends a block's text to the log's text. If out of memory, omits it and notes that in the context. */
static void add_text(struct ct_fractal_reader *r, const uint8_t *block, uint32_t bytes)
{
    char *text = realloc(r->text, r->text_bytes + bytes + 1);
    if (!text) {
        ct_note_nomem(r->ctx);
        return;
    }
    memcpy(text + r->text_bytes, block, bytes);
    r->text_bytes += bytes;
    text[r->text_bytes] = 0;
    r->info.text = r->text = text;
    r->text_seen = r->at + 1;
}

/* Reads a text block at the current offset. Returns 0 if there is no valid one. */
static int take_text(struct ct_fractal_reader *r)
{
    const uint8_t *p = r->bytes + r->at;
    const uint32_t bytes = ct_load32(p + 4);
    if (ct_load32(p) != TEXT_MAGIC || bytes > TEXT_MAX || bytes > r->size - r->at - BLOCK_BYTES ||
        !sound(r, p + BLOCK_BYTES, bytes, ct_load32(p + 24)))
        return 0;
    if (r->at >= r->text_seen && r->text_bytes + bytes <= TEXT_MAX)
        add_text(r, p + BLOCK_BYTES, bytes);
    r->at += BLOCK_BYTES + bytes;
    return 1;
}

/* Returns whether the block at the current offset may be completed by bytes still to come. */
static bool is_to_come(const struct ct_fractal_reader *r)
{
    const uint8_t *p = r->bytes + r->at;
    const uint32_t magic = ct_load32(p), count = ct_load32(p + 4);
    const uint64_t bytes = magic == TEXT_MAGIC && count <= TEXT_MAX         ? count
                           : magic == BLOCK_MAGIC && count <= BLOCK_RECORDS ? (uint64_t)count * r->record
                                                                            : 0;
    return r->growing && bytes > r->size - r->at - BLOCK_BYTES;
}

/* Finds the next valid block, and counts bytes before it as damage. Returns 0 at the end of the log, or at
 * the current end of a growing log. */
static int next_block(struct ct_fractal_reader *r)
{
    for (; r->at + BLOCK_BYTES <= r->size; r->at++, r->damaged++) {
        while (r->at + BLOCK_BYTES <= r->size && take_text(r)) {
        }
        if (r->at + BLOCK_BYTES > r->size)
            break;
        if (is_to_come(r))
            return 0;
        const uint8_t *p = r->bytes + r->at;
        const uint64_t room = (r->size - r->at - BLOCK_BYTES) / r->record;
        const uint32_t count = ct_load32(p + 4);
        if (ct_load32(p) != BLOCK_MAGIC || count > BLOCK_RECORDS)
            continue;
        const int cut = count > room; /* the writer was stopped inside this block */
        if (!cut && !sound(r, p + BLOCK_BYTES, (size_t)count * r->record, ct_load32(p + 24)))
            continue;
        r->dropped += ct_load64(p + 16);
        r->at += BLOCK_BYTES;
        r->left = cut ? (uint32_t)room : count;
        return 1;
    }
    if (r->growing)
        return 0;
    r->damaged += r->size - r->at;
    r->at = r->size;
    return 0;
}

size_t ct_fractal_reader_next(struct ct_fractal_reader *r, struct ct_fractal_event *out, size_t max)
{
    size_t n = 0;
    while (n < max && r->record) {
        if (!r->left) {
            if (!next_block(r))
                break;
            continue;
        }
        ct_record_unpack(r->info.fields, r->bytes + r->at, &out[n++]);
        r->at += r->record;
        r->left--;
    }
    return n;
}

void ct_fractal_reader_rewind(struct ct_fractal_reader *r)
{
    if (!r || r->name)
        return;
    r->at = r->first_block;
    r->left = 0;
    r->budget = 16 * (uint64_t)r->size;
    r->dropped = r->damaged = 0;
}

void ct_fractal_reader_losses(const struct ct_fractal_reader *r, uint64_t *dropped, uint64_t *damaged)
{
    if (!r || !dropped || !damaged)
        return;
    *dropped = r->dropped;
    *damaged = r->damaged;
}

void ct_fractal_reader_free(struct ct_fractal_reader *r)
{
    if (!r)
        return;
    if (r->own)
        ct_whole_file_free(r->own, r->size);
    free(r->pieces);
    free(r->name);
    free(r->text);
    free(r);
}

/* ---- logs that come in pieces ---- */

int ct_fractal_reader_stream(struct ct_ctx *ctx, const char *name, struct ct_fractal_reader **out)
{
    CT_REQUIRE_OUT(ctx, out, name);
    struct ct_fractal_reader *r = calloc(1, sizeof *r);
    if (!r || !(r->name = strdup(name))) {
        free(r);
        return ct_fail_nomem(ctx, name);
    }
    r->ctx = ctx;
    r->growing = true;
    *out = r;
    return CT_OK;
}

/* Drops the bytes that were read, and appends a piece to the rest. */
static int append(struct ct_fractal_reader *r, const void *data, size_t size)
{
    const size_t kept = r->size - r->at;
    if (r->at && kept)
        memmove(r->pieces, r->pieces + r->at, kept);
    r->at = r->text_seen = 0;
    r->size = kept;
    if (!CT_MAKE_ROOM(r->pieces, r->room, kept + size))
        return ct_fail_nomem(r->ctx, r->name);
    memcpy(r->pieces + kept, data, size);
    r->bytes = r->pieces;
    r->size = kept + size;
    r->budget += 16 * (uint64_t)size;
    return CT_OK;
}

int ct_fractal_reader_push(struct ct_fractal_reader *r, const void *data, size_t size)
{
    CT_REQUIRE_OF(r, r->name, r->growing, data || !size);
    const int rc = size ? append(r, data, size) : CT_OK;
    if (rc || r->record || r->size < HEADER_BYTES)
        return rc;
    /* rejects what cannot begin a log at once; otherwise waits for the whole header */
    const uint32_t header = ct_load32(r->bytes + 8);
    if (memcmp(r->bytes, "CTFRACT1", 8) == 0 && header > r->size && header <= HEADER_MOST)
        return CT_OK;
    return read_header(r, r->name);
}

int ct_fractal_reader_end(struct ct_fractal_reader *r)
{
    CT_REQUIRE_OF(r, r->name);
    r->growing = false;
    return r->record
               ? CT_OK
               : ct_fail(r->ctx, CT_ERR_FORMAT,
                         "%s: this is not a FRACTAL event log, because it ends before the end of its header",
                         r->name);
}
