/* SPDX-License-Identifier: Apache-2.0 */
/* Branch lists, for the code that reads, writes and follows them. The schema is simpleperf's
 * branch_list.proto, whose field numbers are below. */
#pragma once

#include <stdbool.h>

#include "base/grown.h"
#include "coretap/branch_list.h"

#define CT_BRANCH_LIST_MAGIC      "simpleperf:EtmBranchList"
#define CT_BRANCH_LIST_MAGIC_SIZE 24u
#define CT_BRANCH_LIST_HEAD       29u /* size of the head of version 1: magic, version, a compression flag */
#define CT_BRANCH_LIST_ID         20u /* bytes of a build id */
#define CT_BRANCH_LIST_PATH       4096u
#define CT_BRANCH_LIST_MESSAGE    (UINT64_C(1) << 31) /* most bytes of a message */

/* Field numbers of messages. */
enum {
    CT_PROTO_LIST_MAGIC = 1,
    CT_PROTO_LIST_BINARY = 2,
    CT_PROTO_LIST_LBR = 3, /* samples of x86; in the old format a number, the address of the kernel */
    CT_PROTO_BINARY_PATH = 1,
    CT_PROTO_BINARY_BUILD_ID = 2, /* in hexadecimal digits */
    CT_PROTO_BINARY_ADDRESS = 3,
    CT_PROTO_BINARY_KIND = 4,
    CT_PROTO_BINARY_KERNEL = 5,
    CT_PROTO_KERNEL_START = 1,
    CT_PROTO_ADDRESS_ADDR = 1,
    CT_PROTO_ADDRESS_BRANCH = 2,
    CT_PROTO_BRANCH_BITS = 1,
    CT_PROTO_BRANCH_SIZE = 2,
    CT_PROTO_BRANCH_COUNT = 3,
};

struct ct_branch_binary {
    char *path;
    uint8_t build_id[CT_BRANCH_LIST_ID];
    size_t build_id_size;
    uint64_t kernel_start;
    uint32_t kind;
};

struct ct_branch_entry {
    uint64_t addr;
    uint64_t count;
    size_t bits; /* position of its bits in `bits`, in bytes */
    uint32_t branches;
    uint32_t binary;
};

struct ct_branch_list {
    struct ct_ctx *ctx;
    struct ct_branch_binary *binaries;
    size_t binary_count;
    struct ct_branch_entry *entries;
    size_t count, room;
    size_t settled; /* first entries that are sorted, without duplicates */
    struct ct_grown bits;
};

/* Returns the bits of an entry. */
static inline const uint8_t *ct_branch_bits(const struct ct_branch_list *list,
                                            const struct ct_branch_entry *entry)
{
    return list->bits.bytes + entry->bits;
}

/* Sorts the entries by binary, address and bits, and merges equal ones. */
void ct_branch_list_settle(struct ct_branch_list *list);
