/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* st_mtim, st_ctim */
#include "fleet/digest.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ctx.h"
#include "base/digits.h"
#include "base/library.h"
#include "base/require.h"

#define READ_SIZE (1u << 20)

/* The environment variable with a file that replaces the library. */
#define VARIABLE "CORETAP_CRYPTO"

/* Functions of OpenSSL, which is loaded for the first digest. */
#define ENTRIES(X)                                                                                           \
    X(EVP_MD_CTX_new)                                                                                        \
    X(EVP_MD_CTX_free)                                                                                       \
    X(EVP_sha256)                                                                                            \
    X(EVP_DigestInit_ex)                                                                                     \
    X(EVP_DigestUpdate)                                                                                      \
    X(EVP_DigestFinal_ex)

CT_LIBRARY(crypto, ENTRIES);

struct ct_digest {
    struct ct_ctx *ctx;
    union crypto crypto;
    EVP_MD_CTX *md;
    uint8_t *buffer; /* READ_SIZE bytes, allocated for the first file */
    bool failed;
};

int ct_digest_new(struct ct_ctx *ctx, struct ct_digest **out)
{
    struct ct_digest *d = calloc(1, sizeof *d);
    const char *named = getenv(VARIABLE);
    errno = 0;
    if (d && !CT_LIBRARY_FIND(named ? named : "libcrypto.so.3", &d->crypto, ENTRIES)) {
        free(d);
        return ct_unless_nomem(ctx, "libcrypto",
                               ct_fail(ctx, CT_ERR_UNSUPPORTED,
                                       "libcrypto cannot be loaded, so captures cannot be identified by "
                                       "their contents; install it (Debian: libssl3)"));
    }
    const struct crypto_functions *f = d ? &d->crypto.f : NULL;
    if (d)
        d->md = f->EVP_MD_CTX_new();
    if (!d || !d->md || f->EVP_DigestInit_ex(d->md, f->EVP_sha256(), NULL) != 1) {
        ct_digest_free(d);
        return ct_fail_nomem(ctx, "digest");
    }
    d->ctx = ctx;
    *out = d;
    return CT_OK;
}

void ct_digest_begin(struct ct_digest *d)
{
    d->failed = d->crypto.f.EVP_DigestInit_ex(d->md, NULL, NULL) != 1; /* with the algorithm that it has */
}

void ct_digest_free(struct ct_digest *d)
{
    if (!d)
        return;
    d->crypto.f.EVP_MD_CTX_free(d->md);
    free(d->buffer);
    free(d);
}

void ct_digest_add(struct ct_digest *d, const void *data, size_t size)
{
    d->failed |= d->crypto.f.EVP_DigestUpdate(d->md, data, size) != 1;
}

void ct_digest_add_text(struct ct_digest *d, const char *text)
{
    ct_digest_add(d, text, strlen(text) + 1);
}

static int add_open_file(struct ct_digest *d, int fd, const char *path, uint64_t *size)
{
    ssize_t got;
    do {
        got = read(fd, d->buffer, READ_SIZE);
        if (got > 0) {
            ct_digest_add(d, d->buffer, (size_t)got);
            if (size)
                *size += (uint64_t)got;
        }
    } while (got > 0 || (got < 0 && errno == EINTR));
    return got < 0 ? ct_fail(d->ctx, CT_ERR_IO, "%s: cannot be read: %s", path, strerror(errno)) : CT_OK;
}

/* Adds the bytes of a file, and their number to *size, which may be NULL. CT_ERR_IO. */
static int add_file(struct ct_digest *d, const char *path, uint64_t *size)
{
    if (!d->buffer && !(d->buffer = malloc(READ_SIZE)))
        return ct_fail_nomem(d->ctx, path);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return ct_fail(d->ctx, CT_ERR_IO, "%s: cannot be opened: %s", path, strerror(errno));
    const int rc = add_open_file(d, fd, path, size);
    close(fd);
    return rc;
}

int ct_digest_file(struct ct_ctx *ctx, const char *path, uint8_t out[CT_FLEET_DIGEST])
{
    struct ct_digest *d;
    int rc = ct_digest_new(ctx, &d);
    if (rc)
        return rc;
    rc = add_file(d, path, NULL) ?: ct_digest_end(d, out);
    ct_digest_free(d);
    return rc;
}

int ct_digest_end(struct ct_digest *d, uint8_t out[CT_FLEET_DIGEST])
{
    if (d->crypto.f.EVP_DigestFinal_ex(d->md, out, NULL) != 1 || d->failed)
        return ct_fail_nomem(d->ctx, "digest");
    return CT_OK;
}

void ct_digest_text(const uint8_t digest[CT_FLEET_DIGEST], char out[CT_DIGEST_TEXT])
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < CT_FLEET_DIGEST; i++) {
        out[2 * i] = digits[digest[i] >> 4];
        out[2 * i + 1] = digits[digest[i] & 15];
    }
    out[2 * CT_FLEET_DIGEST] = 0;
}

bool ct_digest_read(const char *text, uint8_t out[CT_FLEET_DIGEST])
{
    if (strlen(text) != 2 * CT_FLEET_DIGEST)
        return false;
    for (size_t i = 0; i < CT_FLEET_DIGEST; i++) {
        const int high = ct_hex_digit(text[2 * i]), low = ct_hex_digit(text[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        out[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

/* ---- captures ---- */

/* Adds one file of a capture: its name, its size and its bytes. */
static int add_capture_file(struct ct_digest *d, const struct ct_capture_file *file, uint64_t *size)
{
    uint64_t bytes = 0;
    char number[24];
    ct_digest_add_text(d, file->name);
    const int rc = add_file(d, file->path, &bytes);
    snprintf(number, sizeof number, "%" PRIu64, bytes);
    ct_digest_add_text(d, number);
    *size += bytes;
    return rc;
}

/* Adds one file of a capture: its name, and the numbers that change when it is written or replaced. */
static int add_looks(struct ct_digest *d, const struct ct_capture_file *file, uint64_t *size)
{
    char numbers[120];
    struct stat st;
    if (stat(file->path, &st))
        return ct_fail(d->ctx, CT_ERR_IO, "%s: cannot be read: %s", file->path, strerror(errno));
    ct_digest_add_text(d, file->name);
    snprintf(numbers, sizeof numbers, "%" PRIu64 " %" PRIu64 " %" PRId64 ".%09ld %" PRId64 ".%09ld",
             (uint64_t)st.st_size, (uint64_t)st.st_ino, (int64_t)st.st_mtim.tv_sec, st.st_mtim.tv_nsec,
             (int64_t)st.st_ctim.tv_sec, st.st_ctim.tv_nsec);
    ct_digest_add_text(d, numbers);
    *size += (uint64_t)st.st_size;
    return CT_OK;
}

/* Makes the digest of a capture. `add` adds the data of each file. */
static int digest_each(struct ct_ctx *ctx, const struct ct_capture_files *files,
                       int (*add)(struct ct_digest *d, const struct ct_capture_file *file, uint64_t *size),
                       uint8_t digest[CT_FLEET_DIGEST], uint64_t *size)
{
    struct ct_digest *d;
    *size = 0;
    int rc = ct_digest_new(ctx, &d);
    if (rc)
        return rc;
    for (size_t i = 0; i < files->count && !rc; i++)
        rc = add(d, &files->list[i], size);
    if (!rc)
        rc = ct_digest_end(d, digest);
    ct_digest_free(d);
    return rc;
}

int ct_digest_files(struct ct_ctx *ctx, const struct ct_capture_files *files, uint8_t digest[CT_FLEET_DIGEST],
                    uint64_t *size)
{
    return digest_each(ctx, files, add_capture_file, digest, size);
}

int ct_digest_looks(struct ct_ctx *ctx, const struct ct_capture_files *files, uint8_t digest[CT_FLEET_DIGEST],
                    uint64_t *size)
{
    return digest_each(ctx, files, add_looks, digest, size);
}

int ct_fleet_digest(struct ct_ctx *ctx, const char *path, uint8_t digest[CT_FLEET_DIGEST], uint64_t *size)
{
    CT_REQUIRE(ctx, path, digest, size);
    struct ct_capture_files files = {0};
    *size = 0;
    int rc = ct_capture_files_find(ctx, path, &files) ?: ct_digest_files(ctx, &files, digest, size);
    ct_capture_files_free(&files);
    return rc;
}
