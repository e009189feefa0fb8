/* SPDX-License-Identifier: Apache-2.0 */
/* Two saved results that are added up: two bytes for the size of the first, the first, the second, each read
 * with the sum that it should have at its end. What must hold: the order does not matter, nor what is added
 * up first; the sum is written as a file that says the same; and a file that cannot be read adds nothing. */
#include "base/bytes.h"
#include "saved.h"

/* Loads files, one after the other, into an analysis of the kind of the first. Returns its text; without
 * bytes when one of them cannot be read. */
static struct written load_all(const struct written *files, size_t count)
{
    struct ct_analysis *sum = saved_new(files[0].bytes, files[0].size);
    struct written text = {0}, before = {0};
    bool fine = true;
    require(sum != NULL);
    for (size_t i = 0; i < count && fine; i++) {
        const int rc = ct_analysis_load(sum, "fuzz", files[i].bytes, files[i].size);
        fine = !rc;
        if (rc && i && !saved_is_shard(sum)) /* of shards that do not fit nothing can be used */
            written_same(before, saved_text(sum));
        else
            free(before.bytes);
        before = (struct written){0};
        if (fine)
            before = saved_text(sum);
    }
    if (fine)
        text = before;
    ct_analysis_free(sum);
    return text;
}

/* Loads two files. Returns the text of their sum. */
static struct written load_two(struct written first, struct written second)
{
    const struct written files[] = {first, second};
    return load_all(files, 2);
}

/* Shards are joined in one order alone, and none is joined with itself. */
static void add_up(struct written a, struct written b)
{
    const struct written ab = load_two(a, b), ba = load_two(b, a), bb = load_two(b, b), abb[] = {a, b, b};
    if (ab.size) {
        const struct written again = load_all(&ab, 1);
        require(again.size == ab.size && !memcmp(again.bytes, ab.bytes, ab.size));
        free(again.bytes);
    }
    if (ab.size && ba.size)
        written_same(load_all(&ab, 1), load_all(&ba, 1));
    if (ab.size && bb.size)
        written_same(load_all(abb, 3), load_two(a, bb));
    free(ab.bytes);
    free(ba.bytes);
    free(bb.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2 || size > SAVED_MOST_BYTES)
        return 0;
    const size_t rest = size - 2;
    const size_t first = ct_load16(data) < rest ? ct_load16(data) : rest;
    const struct written a = saved_mended(data + 2, first), b = saved_mended(data + 2 + first, rest - first);
    add_up(a, b);
    free(a.bytes);
    free(b.bytes);
    return 0;
}
