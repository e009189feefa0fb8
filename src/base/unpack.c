/* SPDX-License-Identifier: Apache-2.0 */
#include "base/unpack.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>
#ifdef CT_HAVE_LZMA
#include <lzma.h>
#endif

#include "base/ctx.h"

#define FIRST_ROOM  ((size_t)256 << 10)
#define MOST_MEMORY (UINT64_C(128) << 20) /* memory that unpacking xz may use */

static const uint8_t xz_magic[6] = {0xfd, '7', 'z', 'X', 'Z', 0};
static const uint8_t zstd_magic[4] = {0x28, 0xb5, 0x2f, 0xfd};
static const uint8_t gzip_magic[3] = {0x1f, 0x8b, 8};

/* The state of unpacking. */
enum step {
    STEP_MORE, /* all input was used, or the output is full */
    STEP_END,
    STEP_BAD,
    STEP_NOMEM,
};

/* A file that is being unpacked. Each format continues where it stopped: it takes bytes from `in` and writes
 * to `out`. A file may have several compressed parts, one after the other, for example when they were
 * compressed in parallel. */
struct unpacking {
    const uint8_t *in;
    size_t left;
    uint8_t *out;
    size_t room; /* free bytes of `out` */
    void *state;
    enum step (*go_on)(struct unpacking *u);
};

static enum step unpack_zstd(struct unpacking *u)
{
    ZSTD_inBuffer from = {u->in, u->left, 0};
    ZSTD_outBuffer to = {u->out, u->room, 0};
    const size_t rest = ZSTD_decompressStream(u->state, &to, &from);
    u->in += from.pos;
    u->left -= from.pos;
    u->out += to.pos;
    u->room -= to.pos;
    return ZSTD_isError(rest) ? STEP_BAD : rest || u->left ? STEP_MORE : STEP_END;
}

static enum step unpack_gzip(struct unpacking *u)
{
    z_stream *z = u->state;
    z->next_in = (Bytef *)(uintptr_t)u->in;
    z->next_out = u->out;
    z->avail_in = u->left < UINT32_MAX ? (uInt)u->left : UINT32_MAX;
    z->avail_out = u->room < UINT32_MAX ? (uInt)u->room : UINT32_MAX;
    const int rc = inflate(z, Z_NO_FLUSH);
    u->left -= (size_t)(z->next_in - u->in);
    u->in = z->next_in;
    u->room -= (size_t)(z->next_out - u->out);
    u->out = z->next_out;
    if (rc == Z_STREAM_END)
        return u->left && inflateReset(z) == Z_OK ? STEP_MORE : STEP_END;
    return rc == Z_OK ? STEP_MORE : rc == Z_MEM_ERROR ? STEP_NOMEM : STEP_BAD;
}

#ifdef CT_HAVE_LZMA
static enum step unpack_xz(struct unpacking *u)
{
    lzma_stream *xz = u->state;
    xz->next_in = u->in;
    xz->avail_in = u->left;
    xz->next_out = u->out;
    xz->avail_out = u->room;
    const lzma_ret rc = lzma_code(xz, LZMA_FINISH);
    u->in = xz->next_in;
    u->left = xz->avail_in;
    u->out = xz->next_out;
    u->room = xz->avail_out;
    return rc == LZMA_STREAM_END  ? STEP_END
           : rc == LZMA_OK        ? STEP_MORE
           : rc == LZMA_MEM_ERROR ? STEP_NOMEM
                                  : STEP_BAD;
}
#endif

bool ct_unpack_is(const uint8_t *start, size_t size)
{
    return size >= sizeof xz_magic &&
           (!memcmp(start, xz_magic, sizeof xz_magic) || !memcmp(start, zstd_magic, sizeof zstd_magic) ||
            !memcmp(start, gzip_magic, sizeof gzip_magic));
}

/* Unpacks to the end. The output so far is in *out also when it fails. */
static int unpack_all(struct ct_ctx *ctx, const char *name, struct unpacking *u, size_t limit, uint8_t **out,
                      size_t *size)
{
    size_t room = 0;
    enum step step = STEP_MORE;
    while (step == STEP_MORE) {
        if (*size == room) {
            if (room >= limit)
                return ct_fail(ctx, CT_ERR_LIMIT,
                               "%s: the file has more than %zu bytes when decompressed, which is "
                               "the limit; decompress it before",
                               name, limit);
            room = room ? 2 * room : FIRST_ROOM;
            room = room < limit ? room : limit;
            uint8_t *more = realloc(*out, room);
            if (!more)
                return ct_fail_nomem(ctx, name);
            *out = more;
        }
        const size_t left = u->left;
        u->out = *out + *size;
        u->room = room - *size;
        step = u->go_on(u);
        const size_t made = room - u->room - *size;
        *size += made;
        if (step == STEP_MORE && !made && left == u->left)
            step = STEP_BAD; /* the packed data ends too early */
    }
    if (step == STEP_NOMEM)
        return ct_fail_nomem(ctx, name);
    return step == STEP_END && *size ? CT_OK
                                     : ct_fail(ctx, CT_ERR_FORMAT,
                                               "%s: the compressed file is truncated or damaged; get a "
                                               "complete copy",
                                               name);
}

static int run_zstd(struct ct_ctx *ctx, const char *name, struct unpacking *u, size_t limit, uint8_t **out,
                    size_t *size)
{
    u->state = ZSTD_createDStream();
    u->go_on = unpack_zstd;
    const int rc = u->state ? unpack_all(ctx, name, u, limit, out, size) : ct_fail_nomem(ctx, name);
    ZSTD_freeDStream(u->state);
    return rc;
}

static int run_gzip(struct ct_ctx *ctx, const char *name, struct unpacking *u, size_t limit, uint8_t **out,
                    size_t *size)
{
    z_stream z = {0};
    if (inflateInit2(&z, 15 + 16) != Z_OK)
        return ct_fail_nomem(ctx, name);
    u->state = &z;
    u->go_on = unpack_gzip;
    const int rc = unpack_all(ctx, name, u, limit, out, size);
    inflateEnd(&z);
    u->state = NULL;
    return rc;
}

static int run_xz(struct ct_ctx *ctx, const char *name, struct unpacking *u, size_t limit, uint8_t **out,
                  size_t *size)
{
#ifdef CT_HAVE_LZMA
    lzma_stream xz = LZMA_STREAM_INIT;
    if (lzma_stream_decoder(&xz, MOST_MEMORY, LZMA_CONCATENATED) != LZMA_OK)
        return ct_fail_nomem(ctx, name);
    u->state = &xz;
    u->go_on = unpack_xz;
    const int rc = unpack_all(ctx, name, u, limit, out, size);
    lzma_end(&xz);
    u->state = NULL;
    return rc;
#else
    (void)u, (void)limit, (void)out, (void)size;
    return ct_fail(
        ctx, CT_ERR_UNSUPPORTED,
        "%s: the file is compressed with xz, but this coretap was built without liblzma; decompress it "
        "before",
        name);
#endif
}

int ct_unpack(struct ct_ctx *ctx, const char *name, const uint8_t *bytes, size_t size, size_t limit,
              uint8_t **out, size_t *out_size)
{
    struct unpacking u = {.in = bytes, .left = size};
    *out = NULL;
    *out_size = 0;
    const int rc = !memcmp(bytes, xz_magic, sizeof xz_magic) ? run_xz(ctx, name, &u, limit, out, out_size)
                   : !memcmp(bytes, zstd_magic, sizeof zstd_magic)
                       ? run_zstd(ctx, name, &u, limit, out, out_size)
                       : run_gzip(ctx, name, &u, limit, out, out_size);
    if (rc) {
        free(*out);
        *out = NULL;
    }
    return rc;
}
