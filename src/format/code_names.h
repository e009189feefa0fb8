/* SPDX-License-Identifier: Apache-2.0 */
/* Names of addresses in a capture. Programs are loaded when an address of their memory is first looked up. */
#pragma once

#include "coretap/event.h"
#include "coretap/input.h"
#include "coretap/programs.h"
#include "format/address_name.h"

/* The caller sets the first group of members; all others start as zeros. */
struct ct_code_names {
    struct ct_ctx *ctx;
    struct ct_programs *programs; /* whose names are used (not owned); NULL: nothing has a name */
    void *user;                   /* passed to `unnamed` */
    /* As in struct ct_event_write_options. */
    int (*unnamed)(void *user, const struct ct_program *program);

    struct ct_address_names *names;
    const struct ct_maps *maps; /* the maps of programs that are loaded by memory, or NULL */
    size_t known;               /* number of programs whose names were loaded */
    uint32_t renewals;          /* counts changes of the programs */
    /* bit mask of memories whose programs were searched */
    uint64_t memories[(CT_EVENT_MEMORY_MOST + 63) / 64];
    const struct ct_program_place *places;
    size_t place_count;
};

/* Opens the names. `capture` tells where programs were loaded, and may be NULL. The errors of
 * ct_event_writer_new. */
int ct_code_names_open(struct ct_code_names *names, const struct ct_capture *capture);
void ct_code_names_close(struct ct_code_names *names);

/* Finds the name of an address in a memory (ct_node.memory), valid until the next call. Sets *out to NULL
 * when there is none. The errors of ct_event_writer_add. */
int ct_code_names_find(struct ct_code_names *names, uint64_t addr, uint32_t memory,
                       const struct ct_address_name **out);

/* Returns the place of the program with code at an address whose name was looked up, or NULL. */
const struct ct_program_place *ct_code_names_place(const struct ct_code_names *names, uint64_t addr,
                                                   uint32_t memory);
