/* SPDX-License-Identifier: Apache-2.0 */
/* The code that a recorded program executed: blocks from the recorder with their waypoints, and their
 * memory. */
#pragma once

#include <stdbool.h>

#include "base/arena.h"
#include "coretap/program.h"

/* Other effects of the last instruction of a block than a branch. */
enum ct_code_end {
    CT_CODE_PLAIN,
    CT_CODE_CALL, /* a system call: an exception follows */
    CT_CODE_TRAP, /* cannot be executed: an exception comes before it */
};

/* A waypoint in a block. Only the last instruction of a block can branch. */
struct ct_code_stop {
    uint32_t index; /* index of the instruction in the block */
    bool in_it;     /* T32: in an IT block */
    struct ct_insn insn;
    uint64_t end; /* address behind the instruction */
};

#define CT_CODE_SG_SIZE 4u /* bytes of an SG instruction */

struct ct_code_block {
    uint64_t addr;
    uint64_t end;
    uint32_t insns;
    uint32_t stop_count;
    struct ct_code_stop *stops; /* sorted by index */
    const uint8_t *bytes;
    uint8_t isa;     /* enum ct_isa */
    uint8_t level;   /* exception level, or CT_UNIT_SECURE */
    uint8_t it_left; /* instructions of an IT block that it begins with */
    bool after_sg;   /* an SG instruction is directly before it */
    uint8_t end_how; /* enum ct_code_end */
    uint64_t last;   /* address of the last instruction */
    /* The places of its first and last byte, and the versions of memory there; NULL when there is no second
     * place, or there were too many versions. */
    struct ct_code_place *places[2];
    struct ct_code_page *pages[2];
};

#define CT_CODE_PAGE UINT64_C(4096)

/* The contents of a page of memory for some time. Two versions differ in some byte that was executed in
 * both. */
struct ct_code_page {
    struct ct_code_place *place;
    uint32_t version;           /* 0 for the first at this place */
    struct ct_code_page *older; /* the previous version, or NULL */
    uint8_t bytes[CT_CODE_PAGE];
    uint8_t executed[CT_CODE_PAGE / 8]; /* a bit for each byte */
};

/* A page of the address space. */
struct ct_code_place {
    uint64_t addr;
    struct ct_code_page *first, *newest;
    uint32_t changing; /* number among the places with several versions, from 1; 0: none */
};

struct ct_code;

/* Makes an object for cores with this architecture, for which waits and barriers are not waypoints. */
int ct_code_new(struct ct_ctx *ctx, const struct ct_arch *arch, struct ct_code **out);
void ct_code_free(struct ct_code *code);

/* Adds block number `id`: `size` bytes with head->insns instructions, executed at head->level. Its `addr`,
 * `isa`, `level`, `it_left`, `after_sg` and `insns` are given. CT_ERR_NOMEM. */
int ct_code_add_block(struct ct_code *code, uint32_t id, const struct ct_code_block *head,
                      const uint8_t *bytes, size_t size);

/* Adds contents of memory that are in no block. CT_ERR_NOMEM. */
int ct_code_add_memory(struct ct_code *code, uint64_t addr, const uint8_t *bytes, size_t size);

/* Returns a block by its number, or NULL. */
struct ct_code_block *ct_code_block(const struct ct_code *code, uint32_t id);

/* Returns the address of instruction `index` of the block, or the block's end. */
uint64_t ct_code_insn_addr(const struct ct_code_block *block, uint32_t index);

/* Lists all places, sorted by address. The caller frees the list. NULL: out of memory. */
struct ct_code_place **ct_code_places(const struct ct_code *code, size_t *count);

struct ct_code_page *ct_code_version(const struct ct_code_place *place, uint32_t version);

/* Returns whether there is T32 code, whose instructions may lie in two pages. */
bool ct_code_has_t32(const struct ct_code *code);

/* Returns a pointer to the current number of places with several versions. */
const uint32_t *ct_code_changing(const struct ct_code *code);

/* The current versions for a core: initially the first ones. */
struct ct_code_view;

int ct_code_view_new(struct ct_code *code, struct ct_code_view **out);
void ct_code_view_free(struct ct_code_view *view);

/* Executes a block: its versions become current, unless the current ones have the same bytes. *shown false:
 * there were too many versions to keep one. With `view` NULL only the first versions count. CT_ERR_NOMEM. */
int ct_code_view_show(struct ct_code_view *view, struct ct_code_block *block, bool *shown);

/* Returns a pointer to a number that grows whenever another version becomes current. */
const uint32_t *ct_code_view_epoch(const struct ct_code_view *view);

/* Returns the current version at the place with this number. */
uint32_t ct_code_view_version(const struct ct_code_view *view, uint32_t changing);

/* Makes earlier versions current again: versions[i] at the place with the number i + 1, and the first version
 * at places beyond `count`. */
void ct_code_view_set(struct ct_code_view *view, const uint32_t *versions, uint32_t count);
