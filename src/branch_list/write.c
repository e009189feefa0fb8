/* SPDX-License-Identifier: Apache-2.0 */
/* Writes files of branch lists: version 1, not compressed. */
#include "base/search.h"
#include "branch_list/branch_list.h"

#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/protobuf.h"
#include "base/require.h"

/* A message is written once it has this many bytes. Readers hold one in memory. */
#define MESSAGE_FULL (UINT32_C(16) << 20)

struct writing {
    struct ct_branch_list *list;
    ct_write_fn *write;
    void *user;
    struct ct_grown message;
    struct ct_grown binary;  /* a message in the file */
    struct ct_grown address; /* a message in `binary` */
    struct ct_grown branch;  /* a message in `address` */
};

/* Adds a number, unless it has the default value 0. */
static void put_number(struct ct_grown *to, unsigned field, uint64_t number)
{
    if (number)
        ct_protobuf_number(to, field, number);
}

static void put_build_id(struct ct_grown *to, const struct ct_branch_binary *binary)
{
    char text[2 * CT_BRANCH_LIST_ID + 1];
    for (size_t i = 0; i < CT_BRANCH_LIST_ID; i++) {
        text[2 * i] = "0123456789abcdef"[binary->build_id[i] >> 4];
        text[2 * i + 1] = "0123456789abcdef"[binary->build_id[i] & 15];
    }
    if (binary->build_id_size)
        ct_protobuf_bytes(to, CT_PROTO_BINARY_BUILD_ID, text, sizeof text - 1);
}

/* Begins a binary. A kernel's start address is a message, even if it is 0. */
static void begin_binary(struct writing *w, const struct ct_branch_binary *binary)
{
    struct ct_grown kernel = {0};
    ct_protobuf_bytes(&w->binary, CT_PROTO_BINARY_PATH, binary->path, strlen(binary->path));
    put_build_id(&w->binary, binary);
    put_number(&w->binary, CT_PROTO_BINARY_KIND, binary->kind);
    if (binary->kind != CT_BRANCH_LIST_KERNEL)
        return;
    put_number(&kernel, CT_PROTO_KERNEL_START, binary->kernel_start);
    ct_protobuf_bytes(&w->binary, CT_PROTO_BINARY_KERNEL, kernel.bytes, kernel.size);
    w->binary.failed |= kernel.failed;
    ct_grown_free(&kernel);
}

/* Puts a message into its outer message. */
static void end_message(struct ct_grown *to, unsigned field, struct ct_grown *message)
{
    ct_protobuf_bytes(to, field, message->bytes, message->size);
    to->failed |= message->failed;
    message->size = 0;
}

static void put_branch(struct writing *w, const struct ct_branch_entry *e)
{
    ct_protobuf_bytes(&w->branch, CT_PROTO_BRANCH_BITS, ct_branch_bits(w->list, e),
                      ((size_t)e->branches + 7) / 8);
    put_number(&w->branch, CT_PROTO_BRANCH_SIZE, e->branches);
    put_number(&w->branch, CT_PROTO_BRANCH_COUNT, e->count);
    end_message(&w->address, CT_PROTO_ADDRESS_BRANCH, &w->branch);
}

/* Writes the message. */
static int flush(struct writing *w)
{
    uint8_t size[4];
    for (unsigned i = 0; i < sizeof size; i++)
        size[i] = (uint8_t)(w->message.size >> 8 * i);
    if (w->message.failed)
        return ct_fail_nomem(w->list->ctx, "branch lists");
    int rc = w->message.size ? w->write(w->user, size, sizeof size) : CT_OK;
    if (!rc && w->message.size)
        rc = w->write(w->user, w->message.bytes, w->message.size);
    w->message.size = 0;
    return rc;
}

/* Writes the lists of a binary, the entries from *at on, in as many messages as needed. */
static int put_binary(struct writing *w, uint32_t number, size_t *at)
{
    const struct ct_branch_entry *e = w->list->entries;
    const size_t count = w->list->count;
    int rc = CT_OK;
    begin_binary(w, &w->list->binaries[number]);
    while (*at < count && e[*at].binary == number && !rc) {
        const uint64_t addr = e[*at].addr;
        put_number(&w->address, CT_PROTO_ADDRESS_ADDR, addr);
        for (; *at < count && e[*at].binary == number && e[*at].addr == addr; ++*at)
            put_branch(w, &e[*at]);
        end_message(&w->binary, CT_PROTO_BINARY_ADDRESS, &w->address);
        if (w->message.size + w->binary.size < MESSAGE_FULL)
            continue;
        end_message(&w->message, CT_PROTO_LIST_BINARY, &w->binary);
        rc = flush(w);
        begin_binary(w, &w->list->binaries[number]);
    }
    end_message(&w->message, CT_PROTO_LIST_BINARY, &w->binary);
    return rc;
}

/* ---- the order of binaries ---- */

static int by_name(const void *a, const void *b)
{
    const struct ct_branch_binary *x = *(const struct ct_branch_binary *const *)a;
    const struct ct_branch_binary *y = *(const struct ct_branch_binary *const *)b;
    return strcmp(x->path, y->path)
           ?: memcmp(x->build_id, y->build_id, sizeof x->build_id)
           ?: ct_order(x->kind, y->kind)
           ?: ct_order(x->kernel_start, y->kernel_start);
}

/* Sorts and renumbers the binaries by path and build id, independently of the order in which they were
 * added. */
static int sort_binaries(struct ct_branch_list *list)
{
    const size_t count = list->binary_count;
    const struct ct_branch_binary **order = calloc(count + 1, sizeof *order);
    struct ct_branch_binary *sorted = calloc(count + 1, sizeof *sorted);
    uint32_t *numbers = calloc(count + 1, sizeof *numbers);
    const bool fine = order && sorted && numbers;
    for (size_t i = 0; fine && i < count; i++)
        order[i] = &list->binaries[i];
    if (fine && count)
        qsort(order, count, sizeof *order, by_name);
    for (size_t i = 0; fine && i < count; i++) {
        sorted[i] = *order[i];
        numbers[order[i] - list->binaries] = (uint32_t)i;
    }
    for (size_t i = 0; fine && i < list->count; i++)
        list->entries[i].binary = numbers[list->entries[i].binary];
    if (fine)
        memcpy(list->binaries, sorted, count * sizeof *sorted);
    list->settled = 0;
    free(order);
    free(sorted);
    free(numbers);
    return fine ? CT_OK : ct_fail_nomem(list->ctx, "branch lists");
}

static int write_all(struct writing *w)
{
    static const uint8_t tail[CT_BRANCH_LIST_HEAD - CT_BRANCH_LIST_MAGIC_SIZE] = {
        1}; /* version, not compressed */
    size_t at = 0;
    int rc = w->write(w->user, CT_BRANCH_LIST_MAGIC, CT_BRANCH_LIST_MAGIC_SIZE);
    if (!rc)
        rc = w->write(w->user, tail, sizeof tail);
    for (uint32_t i = 0; i < w->list->binary_count && !rc; i++)
        rc = put_binary(w, i, &at);
    return rc ? rc : flush(w);
}

int ct_branch_list_write(struct ct_branch_list *list, ct_write_fn *write, void *user)
{
    CT_REQUIRE_OF(list, write);
    struct writing w = {.list = list, .write = write, .user = user};
    int rc = list->binary_count ? sort_binaries(list) : CT_OK;
    if (!rc && list->count)
        ct_branch_list_settle(list);
    if (!rc)
        rc = write_all(&w);
    ct_grown_free(&w.message);
    ct_grown_free(&w.binary);
    ct_grown_free(&w.address);
    ct_grown_free(&w.branch);
    return rc;
}
