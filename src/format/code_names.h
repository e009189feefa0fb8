/* SPDX-License-Identifier: Apache-2.0 */
/* Names of addresses of a capture. Its programs are loaded when the memories that they lay in are first
 * met. */
#ifndef CT_FORMAT_CODE_NAMES_H
#define CT_FORMAT_CODE_NAMES_H

#include "coretap/event.h"
#include "coretap/input.h"
#include "coretap/programs.h"
#include "format/address_name.h"

/* The members of the first group are for the caller to set; all others are zero at first. */
struct ct_code_names {
    struct ct_ctx *ctx;
    struct ct_programs *programs; /* whose names are meant (not owned); NULL: nothing has a name */
    void *user;                   /* of the following, which may be NULL */
    /* As in struct ct_event_write_options. */
    int (*unnamed)(void *user, const struct ct_program *program);

    struct ct_address_names *names;
    const struct ct_maps *maps; /* the maps whose programs are added when their memory is met, or NULL */
    size_t known;               /* how many programs had their names loaded */
    uint32_t renewals;          /* how often the programs became others */
    uint64_t memories[(CT_EVENT_MEMORY_MOST + 63) / 64]; /* a bit for each memory whose programs were looked
                                                            for */
    const struct ct_program_place *places;
    size_t place_count;
};

/* Opens the names; `capture` says which programs lay where, and may be NULL. The errors of
 * ct_event_writer_new. */
int ct_code_names_open(struct ct_code_names *names, const struct ct_capture *capture);
void ct_code_names_close(struct ct_code_names *names);

/* Finds the name of an address in a memory (ct_node.memory), valid until the next call; *out is NULL when it
 * has none. The errors of ct_event_writer_add. */
int ct_code_names_find(struct ct_code_names *names, uint64_t addr, uint32_t memory,
                       const struct ct_address_name **out);

/* Returns the place of the program that has code at an address whose name was looked for; NULL when none
 * has. */
const struct ct_program_place *ct_code_names_place(const struct ct_code_names *names, uint64_t addr,
                                                   uint32_t memory);

#endif
