/* SPDX-License-Identifier: Apache-2.0 */
/* coretap branch_list: branch list files of simpleperf, which say which branches the programs of a phone
 * took.
 *
 *     ct_branch_list_new(ctx, &list);
 *     ct_branch_list_load(list, "branches.data", bytes, size);    // any number of files, which add up
 *     for (uint32_t i = 0; i < ct_branch_list_binaries(list); i++)
 *         ct_branch_list_count(list, i, program, cover, &counted);    // its program file
 *     ct_branch_list_write(list, write, user);
 *     ct_branch_list_free(list);
 *
 * 'simpleperf inject --output branch-list' writes these files. They are protobuf messages with the schema
 * branch_list.proto (formerly etm_branch_list.proto) of simpleperf, in the Android Open Source Project. A
 * list is an address in a program and, for each branch from there on, whether it was taken. */
#ifndef CORETAP_BRANCH_LIST_H
#define CORETAP_BRANCH_LIST_H

#include "coretap/base.h"
#include "coretap/cover.h"
#include "coretap/programs.h"

#ifdef __cplusplus
extern "C" {
#endif

enum ct_branch_list_kind {
    CT_BRANCH_LIST_ELF,    /* a program or shared object */
    CT_BRANCH_LIST_KERNEL, /* vmlinux */
    CT_BRANCH_LIST_MODULE, /* a kernel module, .ko */
};

/* A binary file that ran. */
struct ct_branch_list_binary {
    const char *path;        /* on the phone; 1 to 4096 bytes */
    const uint8_t *build_id; /* NULL: unknown */
    size_t build_id_size;    /* 0 to 20 bytes; shorter ids are padded with zeros, as simpleperf does */
    uint64_t kernel_start;   /* for a kernel: where its .text was loaded. 0, and for all others: addresses are
                                those of the file */
    uint32_t kind;           /* enum ct_branch_list_kind */
    uint32_t pad;            /* 0 */
};

struct ct_branch_list;

/* Makes an object without lists. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_branch_list_new(struct ct_ctx *ctx, struct ct_branch_list **out);
CT_API void ct_branch_list_free(struct ct_branch_list *list);

/* Returns 1 when a file that begins with these bytes may hold branch lists, else 0. It may be a recording of
 * simpleperf that holds branch lists in place of trace. Old files may be compressed with zstd. 104 bytes are
 * enough. */
CT_API int ct_branch_list_is_file(const void *start, size_t size);

/* Adds the contents of a file, called `name` in messages. It accepts the old format, a message that may be
 * compressed, and version 1; a recording may contain both (`simpleperf record --decode-etm`). Nothing is
 * taken from a damaged file. Samples of x86 processors are left out with a warning. CT_ERR_FORMAT,
 * CT_ERR_UNSUPPORTED: another version; CT_ERR_LIMIT: a message has more than 2^31 bytes; CT_ERR_ARG,
 * CT_ERR_NOMEM. */
CT_API int ct_branch_list_load(struct ct_branch_list *list, const char *name, const void *bytes, size_t size);

/* Finds the number of a binary, or adds the binary. Two binaries are the same when all members are equal.
 * CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_branch_list_add_binary(struct ct_branch_list *list, const struct ct_branch_list_binary *binary,
                                     uint32_t *number);

/* Returns the number of binaries, and one of them by number. What it points to belongs to the list. */
CT_API size_t ct_branch_list_binaries(const struct ct_branch_list *list);
CT_API struct ct_branch_list_binary ct_branch_list_binary_at(const struct ct_branch_list *list,
                                                             uint32_t number);

/* Adds a list that occurred `count` times. Execution was at `addr` (bit 0 set: T32 code), and waypoint i of
 * the next `branches` was taken when bit i % 8 of taken[i / 8] is set. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_branch_list_add(struct ct_branch_list *list, uint32_t binary, uint64_t addr,
                              const uint8_t *taken, uint32_t branches, uint64_t count);

/* Multiplies all counts by `times`. Counts stop at 2^64 - 1. CT_ERR_ARG. */
CT_API int ct_branch_list_scale(struct ct_branch_list *list, uint64_t times);

/* Numbers of lists of one program, each list counted as often as it occurred. */
struct ct_branch_list_counted {
    uint64_t lists;
    uint64_t contradicted; /* lists that contradict the program: an unconditional branch was not taken, or
                              execution left the code. They are not counted in coverage */
    uint64_t branches;     /* in all lists */
    uint64_t unfollowed;   /* branches after an indirect branch, whose target no list contains */
};

/* Returns how many lists a binary has, and how many branches are in them. Each list counts as often as it
 * occurred; zeros for an unknown number. */
CT_API struct ct_branch_list_counted ct_branch_list_totals(const struct ct_branch_list *list,
                                                           uint32_t binary);

/* Follows all lists of a binary along its program file and adds what ran to `cover`. Adds nothing when more
 * than one list in a hundred contradicts the program, which is then another version. Targets of indirect
 * branches stay unknown. The program must be of a set with the addresses of the files (options.moved 0). The
 * errors of ct_program_symbols, ct_program_memory and ct_program_layout; CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_branch_list_count(struct ct_branch_list *list, uint32_t binary, struct ct_program *program,
                                struct ct_cover *cover, struct ct_branch_list_counted *counted);

/* Returns 1 when the counts show that the program is another version, else 0. */
CT_API int ct_branch_list_is_other(const struct ct_branch_list_counted *counted);

/* Writes a file of version 1, not compressed. The bytes do not depend on the order in which lists were added.
 * CT_ERR_NOMEM, what `write` returned. */
CT_API int ct_branch_list_write(struct ct_branch_list *list, ct_write_fn *write, void *user);

#ifdef __cplusplus
}
#endif
#endif
