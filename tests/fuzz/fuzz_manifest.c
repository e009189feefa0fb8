/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes manifests of captures. What must hold: each capture has its own path and contents; a manifest that
 * was read is written as one that reads and writes to the same bytes; one that cannot be read is refused with
 * a text. */
#include "coretap/fleet.h"
#include "written.h"

static void look_at(const struct ct_manifest *manifest)
{
    const size_t count = ct_manifest_count(manifest);
    require(ct_manifest_at(manifest, count) == NULL);
    for (size_t i = 0; i < count; i++) {
        const struct ct_fleet_capture *capture = ct_manifest_at(manifest, i);
        require(*capture->path != '\0');
        for (size_t k = 0; k < capture->build_id_count; k++)
            require(capture->build_ids[k] != NULL);
        for (size_t k = 0; k < i && k < 8; k++)
            require(memcmp(capture->digest, ct_manifest_at(manifest, k)->digest, CT_FLEET_DIGEST) != 0);
    }
}

/* Reads a manifest and returns what is written of it, which has no bytes when it cannot be read or has no
 * capture. */
static struct written read_and_write(struct ct_ctx *ctx, const void *data, size_t size)
{
    struct ct_manifest *manifest;
    struct written text = {0};
    require(ct_manifest_new(ctx, &manifest) == CT_OK);
    if (ct_manifest_read(manifest, "fuzz", data, size) == CT_OK) {
        look_at(manifest);
        require(ct_manifest_write(manifest, written_append, &text) == CT_OK);
        require(!text.size == !ct_manifest_count(manifest));
    } else
        require(*ct_ctx_error(ctx) != '\0');
    ct_manifest_free(manifest);
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return written_twice(read_and_write, data, size);
}
