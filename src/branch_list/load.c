/* SPDX-License-Identifier: Apache-2.0 */
/* Reads files of branch lists. */
#include "branch_list/branch_list.h"
#include "base/require.h"
#include "branch_list/proto.h"

#include <inttypes.h>
#include <string.h>
#include <zstd.h>

#include "base/bytes.h"
#include "base/ctx.h"
#include "base/digits.h"

static const uint8_t zstd_magic[4] = {0x28, 0xb5, 0x2f, 0xfd};

/* First bytes of a file in the old format: field 1, of 24 bytes. */
static const uint8_t old_start[2] = {CT_PROTO_LIST_MAGIC << 3 | CT_PROTO_BYTES, CT_BRANCH_LIST_MAGIC_SIZE};

/* Offsets in the head of a recording in perf.data format, and the number of simpleperf's feature. */
enum {
    PERF_DATA = 40,     /* offset and size of the data */
    PERF_FEATURES = 72, /* a bit for each of 256 */
    PERF_HEAD = 104,    /* bytes of the head */
    PERF_BRANCH_LIST = 133,
};

static bool has_feature(const uint8_t *head, unsigned feature)
{
    return head[PERF_FEATURES + feature / 8] >> feature % 8 & 1;
}

/* Returns whether a file is a recording with branch lists instead of trace. */
static bool is_recording(const uint8_t *bytes, size_t size)
{
    return size >= PERF_HEAD && !memcmp(bytes, "PERFILE2", 8) && has_feature(bytes, PERF_BRANCH_LIST);
}

/* A file that is being read. */
struct loading {
    struct ct_ctx *ctx;
    struct ct_branch_list *into; /* its contents, until all of it is read */
    const char *name;
    const uint8_t *message; /* the current message */
    uint64_t offset;        /* offset of that message in the file */
    bool packed;            /* the message is compressed */
    uint64_t old_kernel;    /* address of the kernel in the old format */
    bool has_samples;       /* of x86 */
};

/* ---- messages ---- */

static int damaged(const struct loading *l, const uint8_t *at, const char *what)
{
    return ct_fail(l->ctx, CT_ERR_FORMAT,
                   "%s: the branch list is damaged at byte %zu of the %smessage at offset %" PRIu64
                   ": %s; the file was not counted; copy it again",
                   l->name, (size_t)(at - l->message), l->packed ? "compressed " : "", l->offset, what);
}

static struct ct_proto inner(const struct ct_proto_field *field)
{
    return (struct ct_proto){.at = field->bytes, .end = field->bytes + field->size};
}

static int read_branch(const struct loading *l, struct ct_proto m, uint32_t binary, uint64_t addr)
{
    const uint8_t *begin = m.at;
    struct ct_proto_field f, bits = {0};
    uint64_t branches = 0, count = 0;
    while (ct_proto_next(&m, &f)) {
        if (ct_proto_is(&f, CT_PROTO_BRANCH_BITS, CT_PROTO_BYTES))
            bits = f;
        else if (ct_proto_is(&f, CT_PROTO_BRANCH_SIZE, CT_PROTO_NUMBER))
            branches = f.value;
        else if (ct_proto_is(&f, CT_PROTO_BRANCH_COUNT, CT_PROTO_NUMBER))
            count = f.value;
    }
    if (m.bad)
        return damaged(l, m.at, "a branch is truncated");
    if (branches > UINT32_MAX || (branches + 7) / 8 > bits.size)
        return damaged(l, begin, "it has fewer bits than branches");
    return branches ? ct_branch_list_add(l->into, binary, addr, bits.bytes, (uint32_t)branches, count)
                    : CT_OK;
}

static int read_address(const struct loading *l, const struct ct_proto_field *address, uint32_t binary)
{
    struct ct_proto m = inner(address);
    struct ct_proto_field f;
    uint64_t addr = 0;
    int rc = CT_OK;
    while (ct_proto_next(&m, &f))
        if (ct_proto_is(&f, CT_PROTO_ADDRESS_ADDR, CT_PROTO_NUMBER))
            addr = f.value;
    if (m.bad)
        return damaged(l, m.at, "the lists of an address are truncated");
    for (m = inner(address); !rc && ct_proto_next(&m, &f);)
        if (ct_proto_is(&f, CT_PROTO_ADDRESS_BRANCH, CT_PROTO_BYTES))
            rc = read_branch(l, inner(&f), binary, addr);
    return rc;
}

/* Reads a build id. Returns its size, or SIZE_MAX when it is invalid. */
static size_t read_build_id(const struct ct_proto_field *f, uint8_t id[CT_BRANCH_LIST_ID])
{
    if (f->size > 2 * CT_BRANCH_LIST_ID || f->size % 2)
        return SIZE_MAX;
    for (size_t i = 0; i < f->size / 2; i++) {
        const int high = ct_hex_digit_any_case(f->bytes[2 * i]);
        const int low = ct_hex_digit_any_case(f->bytes[2 * i + 1]);
        if (high < 0 || low < 0)
            return SIZE_MAX;
        id[i] = (uint8_t)(high << 4 | low);
    }
    return f->size / 2;
}

/* Reads the description of a binary, everything except its lists. */
static int read_head(const struct loading *l, struct ct_proto m, char path[CT_BRANCH_LIST_PATH + 1],
                     uint8_t id[CT_BRANCH_LIST_ID], struct ct_branch_list_binary *out)
{
    struct ct_proto_field f, g;
    while (ct_proto_next(&m, &f)) {
        if (ct_proto_is(&f, CT_PROTO_BINARY_PATH, CT_PROTO_BYTES)) {
            if (!f.size || f.size > CT_BRANCH_LIST_PATH || memchr(f.bytes, 0, f.size))
                return damaged(l, f.bytes, "the path of a binary is empty, too long or has a zero byte");
            memcpy(path, f.bytes, f.size);
            path[f.size] = '\0';
        } else if (ct_proto_is(&f, CT_PROTO_BINARY_BUILD_ID, CT_PROTO_BYTES)) {
            out->build_id_size = read_build_id(&f, id);
            if (out->build_id_size == SIZE_MAX)
                return damaged(l, f.bytes, "a build id does not have up to 40 hexadecimal digits");
        } else if (ct_proto_is(&f, CT_PROTO_BINARY_KIND, CT_PROTO_NUMBER)) {
            out->kind = (uint32_t)f.value;
        } else if (ct_proto_is(&f, CT_PROTO_BINARY_KERNEL, CT_PROTO_BYTES)) {
            struct ct_proto kernel = inner(&f);
            while (ct_proto_next(&kernel, &g))
                if (ct_proto_is(&g, CT_PROTO_KERNEL_START, CT_PROTO_NUMBER))
                    out->kernel_start = g.value;
        }
    }
    return m.bad ? damaged(l, m.at, "a binary is truncated") : CT_OK;
}

static int read_binary(const struct loading *l, const struct ct_proto_field *binary)
{
    char path[CT_BRANCH_LIST_PATH + 1] = "";
    uint8_t id[CT_BRANCH_LIST_ID] = {0};
    struct ct_branch_list_binary head = {.path = path, .build_id = id};
    struct ct_proto m = inner(binary);
    struct ct_proto_field f;
    uint32_t number;
    int rc = read_head(l, m, path, id, &head);
    if (!rc && !*path)
        return damaged(l, binary->bytes, "a binary has no path");
    if (!rc && head.kind > CT_BRANCH_LIST_MODULE) {
        ct_log(l->ctx, CT_LOG_WARNING,
               "%s: %s is of kind %" PRIu32
               ", which is neither a program nor the kernel nor a kernel module; its branches were left out",
               l->name, path, head.kind);
        return CT_OK;
    }
    if (head.kind == CT_BRANCH_LIST_KERNEL && !head.kernel_start)
        head.kernel_start = l->old_kernel;
    if (!rc)
        rc = ct_branch_list_add_binary(l->into, &head, &number);
    while (!rc && ct_proto_next(&m, &f))
        if (ct_proto_is(&f, CT_PROTO_BINARY_ADDRESS, CT_PROTO_BYTES))
            rc = read_address(l, &f, number);
    return rc;
}

/* Reads a message. `old`: in the old format, which has the magic in the message. */
static int read_message(struct loading *l, const uint8_t *bytes, size_t size, bool old)
{
    struct ct_proto m = {.at = bytes, .end = bytes + size};
    struct ct_proto_field f;
    bool named = !old;
    int rc = CT_OK;
    l->message = bytes;
    while (ct_proto_next(&m, &f)) {
        if (ct_proto_is(&f, CT_PROTO_LIST_MAGIC, CT_PROTO_BYTES))
            named = named || (f.size == CT_BRANCH_LIST_MAGIC_SIZE &&
                              !memcmp(f.bytes, CT_BRANCH_LIST_MAGIC, CT_BRANCH_LIST_MAGIC_SIZE));
        else if (ct_proto_is(&f, CT_PROTO_LIST_LBR, CT_PROTO_NUMBER))
            l->old_kernel = f.value;
        else if (ct_proto_is(&f, CT_PROTO_LIST_LBR, CT_PROTO_BYTES))
            l->has_samples = true;
    }
    if (m.bad)
        return damaged(l, m.at, "a field is truncated");
    if (!named)
        return ct_fail(l->ctx, CT_ERR_FORMAT,
                       "%s: this is not a branch list of simpleperf, because it does not begin with "
                       "\"" CT_BRANCH_LIST_MAGIC "\" first",
                       l->name);
    for (m.at = bytes; !rc && ct_proto_next(&m, &f);)
        if (ct_proto_is(&f, CT_PROTO_LIST_BINARY, CT_PROTO_BYTES))
            rc = read_binary(l, &f);
    return rc;
}

/* ---- files ---- */

/* Finds the branch lists in a recording of 'simpleperf record --decode-etm': they are the section of a
 * feature, whose position is in a table behind the data. CT_ERR_FORMAT. */
static int find_in_recording(const struct loading *l, const uint8_t **bytes, size_t *size)
{
    const uint64_t data_end = ct_load64(*bytes + PERF_DATA) + ct_load64(*bytes + PERF_DATA + 8);
    uint64_t at = data_end;
    for (unsigned i = 0; i < PERF_BRANCH_LIST; i++)
        at += 16u * (unsigned)has_feature(*bytes, i);
    const bool fits = at >= data_end && at <= *size && *size - at >= 16;
    const uint64_t offset = fits ? ct_load64(*bytes + at) : 0, length = fits ? ct_load64(*bytes + at + 8) : 0;
    if (!fits || offset > *size || length > *size - offset)
        return ct_fail(l->ctx, CT_ERR_FORMAT,
                       "%s: the branch lists of this simpleperf recording are truncated at the end of the "
                       "file; the file was not counted; copy it again",
                       l->name);
    *bytes += offset;
    *size = (size_t)length;
    return CT_OK;
}

/* Decompresses one frame into `out`. The frame may lack its size. */
static int unpack(const struct loading *l, const uint8_t *bytes, size_t size, struct ct_grown *out)
{
    ZSTD_DCtx *zstd = ZSTD_createDCtx();
    ZSTD_inBuffer from = {bytes, size, 0};
    size_t left = 1;
    while (zstd && left && !ZSTD_isError(left) && out->size <= CT_BRANCH_LIST_MESSAGE) {
        const size_t piece = ZSTD_DStreamOutSize();
        uint8_t *room = ct_grown_add(out, piece);
        if (!room)
            break;
        ZSTD_outBuffer to = {room, piece, 0};
        left = ZSTD_decompressStream(zstd, &to, &from);
        out->size -= piece - to.pos;
        if (from.pos == size && to.pos < piece)
            break;
    }
    ZSTD_freeDCtx(zstd);
    if (!zstd || out->failed)
        return ct_fail_nomem(l->ctx, l->name);
    if (out->size > CT_BRANCH_LIST_MESSAGE)
        return ct_fail(
            l->ctx, CT_ERR_LIMIT,
            "%s: the message at offset %" PRIu64
            " has more than 2^31 bytes when decompressed, which is the limit; the file was not counted",
            l->name, l->offset);
    if (left)
        return ct_fail(l->ctx, CT_ERR_FORMAT,
                       "%s: the branch list is damaged: the compressed message at offset %" PRIu64
                       " is %s; the file was not counted; copy it again",
                       l->name, l->offset, ZSTD_isError(left) ? "damaged" : "truncated");
    return CT_OK;
}

/* Returns whether an uncompressed file begins like one in the old format. */
static bool starts_old(const uint8_t *bytes, size_t size)
{
    return size >= sizeof old_start + CT_BRANCH_LIST_MAGIC_SIZE &&
           !memcmp(bytes, old_start, sizeof old_start) &&
           !memcmp(bytes + sizeof old_start, CT_BRANCH_LIST_MAGIC, CT_BRANCH_LIST_MAGIC_SIZE);
}

static int read_packed(struct loading *l, const uint8_t *bytes, size_t size, bool old)
{
    struct ct_grown whole = {0};
    int rc = unpack(l, bytes, size, &whole);
    l->packed = true;
    if (!rc && old && !starts_old(whole.bytes, whole.size))
        rc = ct_fail(l->ctx, CT_ERR_FORMAT,
                     "%s: is compressed with zstd, and what it contains is no branch list; other files are "
                     "not read compressed; unpack it with 'unzstd' first",
                     l->name);
    if (!rc)
        rc = read_message(l, whole.bytes, whole.size, old);
    ct_grown_free(&whole);
    return rc;
}

/* Reads the messages of a file of version 1. */
static int read_messages(struct loading *l, const uint8_t *bytes, size_t size)
{
    const uint32_t version = ct_load32(bytes + CT_BRANCH_LIST_MAGIC_SIZE);
    const uint8_t packed = bytes[CT_BRANCH_LIST_HEAD - 1];
    int rc = CT_OK;
    if (version != 1 || packed > 1)
        return ct_fail(l->ctx, CT_ERR_UNSUPPORTED,
                       "%s: the branch list has version %u%s, but only version 1 is supported; write it with "
                       "a simpleperf that writes version 1",
                       l->name, version, packed > 1 ? " and an unknown compression" : "");
    for (size_t at = CT_BRANCH_LIST_HEAD; at < size && !rc;) {
        const size_t length = size - at < 4 ? 0 : ct_load32(bytes + at);
        if (size - at < 4 || length > size - at - 4)
            return ct_fail(l->ctx, CT_ERR_FORMAT,
                           "%s: the branch list is damaged: the message at offset %zu is truncated at the "
                           "end of the file; the file was not counted; copy it again",
                           l->name, at);
        l->offset = at;
        at += 4;
        rc = packed ? read_packed(l, bytes + at, length, false) : read_message(l, bytes + at, length, false);
        at += length;
    }
    return rc;
}

static int read_file(struct loading *l, const uint8_t *bytes, size_t size)
{
    if (is_recording(bytes, size)) {
        const int rc = find_in_recording(l, &bytes, &size);
        if (rc)
            return rc;
    }
    if (size >= CT_BRANCH_LIST_MAGIC_SIZE && !memcmp(bytes, CT_BRANCH_LIST_MAGIC, CT_BRANCH_LIST_MAGIC_SIZE))
        return size >= CT_BRANCH_LIST_HEAD ? read_messages(l, bytes, size)
                                           : ct_fail(l->ctx, CT_ERR_FORMAT,
                                                     "%s: the branch list is damaged: its header is "
                                                     "truncated; the file was not counted; copy it again",
                                                     l->name);
    return size >= sizeof zstd_magic && !memcmp(bytes, zstd_magic, sizeof zstd_magic)
               ? read_packed(l, bytes, size, true)
               : read_message(l, bytes, size, true);
}

int ct_branch_list_is_file(const void *start, size_t size)
{
    const uint8_t *bytes = start;
    if (!bytes || size < CT_BRANCH_LIST_MAGIC_SIZE + sizeof old_start)
        return 0;
    return is_recording(bytes, size) || !memcmp(bytes, CT_BRANCH_LIST_MAGIC, CT_BRANCH_LIST_MAGIC_SIZE) ||
           !memcmp(bytes, zstd_magic, sizeof zstd_magic) || starts_old(bytes, size);
}

/* Adds everything from another object. */
static int add_all(struct ct_branch_list *list, const struct ct_branch_list *other)
{
    int rc = CT_OK;
    uint32_t number = 0;
    for (uint32_t i = 0; i < other->binary_count && !rc; i++) {
        const struct ct_branch_list_binary binary = ct_branch_list_binary_at(other, i);
        rc = ct_branch_list_add_binary(list, &binary, &number);
        for (size_t k = 0; k < other->count && !rc; k++) {
            const struct ct_branch_entry *e = &other->entries[k];
            if (e->binary == i)
                rc = ct_branch_list_add(list, number, e->addr, ct_branch_bits(other, e), e->branches,
                                        e->count);
        }
    }
    return rc;
}

int ct_branch_list_load(struct ct_branch_list *list, const char *name, const void *bytes, size_t size)
{
    CT_REQUIRE_OF(list, name, bytes || !size);
    struct loading l = {.ctx = list->ctx, .name = name};
    int rc = ct_branch_list_new(list->ctx, &l.into) ?: read_file(&l, bytes, size);
    if (!rc && l.has_samples)
        ct_log(list->ctx, CT_LOG_WARNING,
               "%s: the file also contains samples of an x86 processor; they were left out, and only the "
               "branches of Arm processors were read",
               name);
    if (!rc)
        rc = add_all(list, l.into);
    ct_branch_list_free(l.into);
    return rc;
}
