/* SPDX-License-Identifier: Apache-2.0 */
/* Two branch lists of simpleperf that are added up: two bytes for the size of the first, the first, the
 * second. What must hold: the order does not matter, nor what is added up first; the sum is written as a file
 * that says the same; and a file that cannot be read adds nothing. */
#include "base/bytes.h"
#include "coretap/branch_list.h"
#include "written.h"

#define MOST_BYTES 65536

static struct written write_list(struct ct_branch_list *list)
{
    struct written file = {0};
    require(ct_branch_list_write(list, written_append, &file) == CT_OK);
    return file;
}

/* Loads files, one after the other. Returns what is written of their sum; without bytes when one of them
 * cannot be read. */
static struct written load_all(const struct written *files, size_t count)
{
    struct ct_branch_list *list = NULL;
    struct ct_ctx *ctx = ct_ctx_new();
    require(ctx && ct_branch_list_new(ctx, &list) == CT_OK);
    struct written sum = write_list(list);
    for (size_t i = 0; i < count && sum.size; i++) {
        if (ct_branch_list_load(list, "input", files[i].bytes, files[i].size) == CT_OK) {
            free(sum.bytes);
            sum = write_list(list);
        } else {
            written_same(sum, write_list(list));
            sum = (struct written){0};
        }
    }
    ct_branch_list_free(list);
    ct_ctx_free(ctx);
    return sum;
}

/* Loads two files. Returns what is written of their sum. */
static struct written load_two(struct written first, struct written second)
{
    const struct written files[] = {first, second};
    return load_all(files, 2);
}

static void add_up(struct written a, struct written b)
{
    const struct written ab = load_two(a, b), bb = load_two(b, b), abb[] = {a, b, b};
    if (ab.size) {
        written_same(load_all(abb, 3), load_two(a, bb));
        written_same(load_two(b, a), load_all(&ab, 1));
        const struct written again = load_all(&ab, 1);
        require(again.size == ab.size && !memcmp(again.bytes, ab.bytes, ab.size));
        free(again.bytes);
    }
    free(ab.bytes);
    free(bb.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2 || size > MOST_BYTES)
        return 0;
    const size_t rest = size - 2;
    const size_t first = ct_load16(data) < rest ? ct_load16(data) : rest;
    const struct written a = {(char *)data + 2, first}, b = {(char *)data + 2 + first, rest - first};
    add_up(a, b);
    return 0;
}
