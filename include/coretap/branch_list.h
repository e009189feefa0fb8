/* SPDX-License-Identifier: Apache-2.0 */
/* coretap branch_list: files of simpleperf that say which branches a phone's programs took.
 *
 *     ct_branch_list_new(ctx, &list);
 *     ct_branch_list_load(list, "branches.data", bytes, size);      any number of files, which add up
 *     for (uint32_t i = 0; i < ct_branch_list_binaries(list); i++)
 *         ct_branch_list_count(list, i, program, cover, &counted);  with the file that each of them is of
 *     ct_branch_list_write(list, write, user);
 *     ct_branch_list_free(list);
 *
 * 'simpleperf inject --output branch-list' writes them: protobuf messages whose schema is branch_list.proto
 * (and was etm_branch_list.proto) of simpleperf, in the Android Open Source Project. A list is an address of
 * a program and, for each branch from there on, whether it was taken. */
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

/* A file that ran. */
struct ct_branch_list_binary {
    const char *path;        /* on the phone; 1 to 4096 bytes */
    const uint8_t *build_id; /* NULL: not known */
    size_t build_id_size;    /* 0 to 20 bytes; shorter ones are filled up with zeros, as simpleperf does */
    uint64_t kernel_start; /* of a kernel: where its .text lay. 0: addresses are those in the file, as of all
                              others */
    uint32_t kind;         /* enum ct_branch_list_kind */
    uint32_t pad;          /* 0 */
};

struct ct_branch_list;

/* Makes an object without lists. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_branch_list_new(struct ct_ctx *ctx, struct ct_branch_list **out);
CT_API void ct_branch_list_free(struct ct_branch_list *list);

/* Returns 1 when a file that begins with these bytes may be one of branch lists, else 0. It may be a
 * recording of simpleperf that has these in the place of trace. Old ones can be compressed by zstd. 104 bytes
 * are enough. */
CT_API int ct_branch_list_is_file(const void *start, size_t size);

/* Adds what a file holds, called `name` in messages. Its formats are the old one, a message that may be
 * compressed, and version 1; both can be inside of a recording (`simpleperf record --decode-etm`). Of a file
 * that is damaged nothing is taken. Samples of x86 processors in it are left out with a warning.
 * CT_ERR_FORMAT, CT_ERR_UNSUPPORTED: another version; CT_ERR_LIMIT: a message has more than 2^31 bytes;
 * CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_branch_list_load(struct ct_branch_list *list, const char *name, const void *bytes, size_t size);

/* Gives the number of a binary, which is added when it is not there. Those are the same that are equal in all
 * members. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_branch_list_add_binary(struct ct_branch_list *list, const struct ct_branch_list_binary *binary,
                                     uint32_t *number);

/* Returns how many binaries there are, and one by its number. What it points to belongs to the list. */
CT_API size_t ct_branch_list_binaries(const struct ct_branch_list *list);
CT_API struct ct_branch_list_binary ct_branch_list_binary_at(const struct ct_branch_list *list,
                                                             uint32_t number);

/* Adds a list that came `count` times: execution was at `addr` (bit 0 set: in T32 code), and of the next
 * `branches` waypoints number i was taken when bit i % 8 of taken[i / 8] is set. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_branch_list_add(struct ct_branch_list *list, uint32_t binary, uint64_t addr,
                              const uint8_t *taken, uint32_t branches, uint64_t count);

/* Lets everything count `times` times. Counts stop at 2^64 - 1. CT_ERR_ARG. */
CT_API int ct_branch_list_scale(struct ct_branch_list *list, uint64_t times);

/* What lists say of a program, each as often as it came. */
struct ct_branch_list_counted {
    uint64_t lists;
    uint64_t contradicted; /* of them contradict the program: a branch without a condition was not taken, or
                              execution left the code. They do not count */
    uint64_t branches;     /* in all of them */
    uint64_t unfollowed;   /* branches behind an indirect branch, whose target no list tells */
};

/* Returns how many lists a binary has, each as often as it came, and how many branches are in them; zeros
 * when it is not there. */
CT_API struct ct_branch_list_counted ct_branch_list_totals(const struct ct_branch_list *list,
                                                           uint32_t binary);

/* Follows all lists of a binary along the program that it is, and adds what ran to `cover`: but nothing when
 * more than one in a hundred contradicts the program, which is another version then. Where indirect branches
 * went is not known. The program is of a set whose addresses are those of the files (options.moved 0). The
 * errors of ct_program_symbols, ct_program_memory and ct_program_layout; CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_branch_list_count(struct ct_branch_list *list, uint32_t binary, struct ct_program *program,
                                struct ct_cover *cover, struct ct_branch_list_counted *counted);

/* Returns 1 when these counts are of a program that is another version, else 0. */
CT_API int ct_branch_list_is_other(const struct ct_branch_list_counted *counted);

/* Writes a file of version 1, not compressed: the same bytes whatever the order in which lists came.
 * CT_ERR_NOMEM, what `write` returned. */
CT_API int ct_branch_list_write(struct ct_branch_list *list, ct_write_fn *write, void *user);

#ifdef __cplusplus
}
#endif
#endif
