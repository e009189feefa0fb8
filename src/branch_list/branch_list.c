/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of branches without duplicates, and the count of each. */
#define _GNU_SOURCE /* qsort_r */
#include "base/search.h"
#include "branch_list/branch_list.h"

#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/require.h"
#include "base/room.h"
#include "base/saturate.h"

int ct_branch_list_new(struct ct_ctx *ctx, struct ct_branch_list **out)
{
    CT_REQUIRE_OUT(ctx, out);
    struct ct_branch_list *list = calloc(1, sizeof *list);
    if (!list)
        return ct_fail_nomem(ctx, "branch lists");
    list->ctx = ctx;
    *out = list;
    return CT_OK;
}

void ct_branch_list_free(struct ct_branch_list *list)
{
    if (!list)
        return;
    for (size_t i = 0; i < list->binary_count; i++)
        free(list->binaries[i].path);
    free(list->binaries);
    free(list->entries);
    ct_grown_free(&list->bits);
    free(list);
}

/* ---- binaries ---- */

/* Copies what distinguishes binaries, so that two of them are equal if a file could not distinguish them: a
 * build id is padded with zeros, and one of only zeros is none; only a kernel has a start address. */
static struct ct_branch_binary key_of(const struct ct_branch_list_binary *b)
{
    static const uint8_t none[CT_BRANCH_LIST_ID];
    struct ct_branch_binary key = {.kernel_start = b->kind == CT_BRANCH_LIST_KERNEL ? b->kernel_start : 0,
                                   .kind = b->kind};
    if (b->build_id_size)
        memcpy(key.build_id, b->build_id, b->build_id_size);
    key.build_id_size = memcmp(key.build_id, none, sizeof none) != 0 ? sizeof none : 0;
    return key;
}

static bool is_same(const struct ct_branch_binary *a, const struct ct_branch_binary *key, const char *path)
{
    return a->kind == key->kind && a->kernel_start == key->kernel_start && !strcmp(a->path, path) &&
           !memcmp(a->build_id, key->build_id, sizeof a->build_id);
}

static int check_binary(struct ct_ctx *ctx, const struct ct_branch_list_binary *b)
{
    const size_t length = b->path ? strnlen(b->path, CT_BRANCH_LIST_PATH + 1) : 0;
    if (length && length <= CT_BRANCH_LIST_PATH && b->build_id_size <= CT_BRANCH_LIST_ID &&
        (b->build_id || !b->build_id_size) && b->kind <= CT_BRANCH_LIST_MODULE)
        return CT_OK;
    return ct_fail(ctx, CT_ERR_ARG,
                   "ct_branch_list_add_binary: the path must have 1 to %u bytes, the build id at most %u, "
                   "and the kind must be at most %u; they are %zu, %zu and %u; nothing was added",
                   CT_BRANCH_LIST_PATH, CT_BRANCH_LIST_ID, CT_BRANCH_LIST_MODULE, length, b->build_id_size,
                   b->kind);
}

int ct_branch_list_add_binary(struct ct_branch_list *list, const struct ct_branch_list_binary *binary,
                              uint32_t *number)
{
    CT_REQUIRE_OF(list, binary, number);
    if (check_binary(list->ctx, binary))
        return CT_ERR_ARG;
    const struct ct_branch_binary key = key_of(binary);
    for (size_t i = 0; i < list->binary_count; i++)
        if (is_same(&list->binaries[i], &key, binary->path)) {
            *number = (uint32_t)i;
            return CT_OK;
        }
    char *path = CT_PUSH_ROOM(list->binaries, list->binary_count) ? strdup(binary->path) : NULL;
    if (!path)
        return ct_fail_nomem(list->ctx, "branch lists");
    list->binaries[list->binary_count] = key;
    list->binaries[list->binary_count].path = path;
    *number = (uint32_t)list->binary_count++;
    return CT_OK;
}

size_t ct_branch_list_binaries(const struct ct_branch_list *list)
{
    return list ? list->binary_count : 0;
}

struct ct_branch_list_binary ct_branch_list_binary_at(const struct ct_branch_list *list, uint32_t number)
{
    if (!list || number >= list->binary_count)
        return (struct ct_branch_list_binary){0};
    const struct ct_branch_binary *b = &list->binaries[number];
    return (struct ct_branch_list_binary){.path = b->path,
                                          .build_id = b->build_id_size ? b->build_id : NULL,
                                          .build_id_size = b->build_id_size,
                                          .kernel_start = b->kernel_start,
                                          .kind = b->kind};
}

/* ---- lists ---- */

static int by_place(const void *a, const void *b, void *user)
{
    const struct ct_branch_entry *x = a, *y = b;
    return ct_order(x->binary, y->binary)
           ?: ct_order(x->addr, y->addr)
           ?: ct_order(x->branches, y->branches)
           ?: memcmp(ct_branch_bits(user, x), ct_branch_bits(user, y), (x->branches + UINT64_C(7)) / 8);
}

void ct_branch_list_settle(struct ct_branch_list *list)
{
    if (list->settled == list->count)
        return;
    qsort_r(list->entries, list->count, sizeof *list->entries, by_place, list);
    size_t n = 0;
    for (size_t i = 1; i < list->count; i++) {
        if (by_place(&list->entries[n], &list->entries[i], list) == 0)
            ct_add_up(&list->entries[n].count, list->entries[i].count);
        else
            list->entries[++n] = list->entries[i];
    }
    list->count = list->settled = n + 1;
}

/* Makes room for one more entry. */
static int grow(struct ct_branch_list *list)
{
    if (list->count == list->room)
        ct_branch_list_settle(list);
    if (list->count <= list->room / 2 && list->room)
        return CT_OK;
    return CT_MAKE_ROOM(list->entries, list->room, list->room + 1) ? CT_OK
                                                                   : ct_fail_nomem(list->ctx, "branch lists");
}

/* Copies bits. Those behind the last branch become zeros, so that equal lists have equal bytes. */
static void put_bits(struct ct_branch_list *list, const uint8_t *taken, uint32_t branches)
{
    const size_t size = ((size_t)branches + 7) / 8;
    ct_grown_put(&list->bits, taken, size);
    if (!list->bits.failed && branches % 8)
        list->bits.bytes[list->bits.size - 1] &= (uint8_t)((1u << branches % 8) - 1);
}

int ct_branch_list_add(struct ct_branch_list *list, uint32_t binary, uint64_t addr, const uint8_t *taken,
                       uint32_t branches, uint64_t count)
{
    CT_REQUIRE_OF(list, taken);
    if (binary >= list->binary_count)
        return ct_fail(list->ctx, CT_ERR_ARG,
                       "ct_branch_list_add: binary %u is not below %zu; nothing was added", binary,
                       list->binary_count);
    if (!branches || !count)
        return CT_OK;
    const int rc = list->count < list->room ? CT_OK : grow(list);
    if (rc)
        return rc;
    const size_t bits = list->bits.size;
    put_bits(list, taken, branches);
    if (list->bits.failed)
        return ct_fail_nomem(list->ctx, "branch lists");
    list->entries[list->count++] = (struct ct_branch_entry){
        .addr = addr, .count = count, .bits = bits, .branches = branches, .binary = binary};
    return CT_OK;
}

int ct_branch_list_scale(struct ct_branch_list *list, uint64_t times)
{
    CT_REQUIRE_OF(list, times);
    for (size_t i = 0; i < list->count; i++) {
        uint64_t *count = &list->entries[i].count;
        *count = *count > UINT64_MAX / times ? UINT64_MAX : *count * times;
    }
    return CT_OK;
}
