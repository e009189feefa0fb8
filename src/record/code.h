/* The code that a recorded program ran: blocks as the recorder saw them, each with what a trace unit makes of its
 * instructions, and the memory that they lay in. */
#ifndef CT_RECORD_CODE_H
#define CT_RECORD_CODE_H

#include <stdbool.h>

#include "base/arena.h"
#include "coretap/program.h"

/* What the last instruction of a block does besides branching. */
enum ct_code_end {
    CT_CODE_PLAIN,
    CT_CODE_CALL, /* a system call: an exception behind it */
    CT_CODE_TRAP, /* it cannot be executed: an exception before it */
};

/* A waypoint in a block. Only the last instruction of a block can branch. */
struct ct_code_stop {
    uint32_t index; /* of the instruction in the block */
    bool in_it;     /* T32: in an IT block */
    struct ct_insn insn;
    uint64_t end; /* address behind it */
};

struct ct_code_block {
    uint64_t addr;
    uint64_t end;
    uint32_t insns;
    uint32_t stop_count;
    struct ct_code_stop *stops; /* in order */
    const uint8_t *bytes;
    uint8_t isa;     /* enum ct_isa */
    uint8_t level;   /* exception level */
    uint8_t end_how; /* enum ct_code_end */
    uint8_t changed; /* other code ran at these addresses before: memory images cannot tell both */
    uint8_t it_left; /* T32: instructions of an IT block that lie behind the block */
    uint64_t last;   /* address of the last instruction */
};

/* Bytes of memory, a page long. */
struct ct_code_page {
    uint64_t addr;
    uint8_t bytes[4096];
    uint8_t executed[512]; /* a bit a byte */
};

struct ct_code;

/* For cores of this architecture. Waits and barriers are no waypoints of the trace units here. */
int ct_code_new(struct ct_ctx *ctx, const struct ct_arch *arch, struct ct_code **out);
void ct_code_free(struct ct_code *code);

/* Block number `id`, executed at exception level `level`: `size` bytes of `insns` instructions. CT_ERR_NOMEM. */
int ct_code_add_block(struct ct_code *code, uint32_t id, uint64_t addr, enum ct_isa isa, unsigned level,
                      const uint8_t *bytes, size_t size, uint32_t insns);

/* What lay in memory, for what no block says. CT_ERR_NOMEM. */
int ct_code_add_memory(struct ct_code *code, uint64_t addr, const uint8_t *bytes, size_t size);

/* NULL when there is none of this number. */
const struct ct_code_block *ct_code_block(const struct ct_code *code, uint32_t id);

/* Address of instruction `index` of the block, or of its end. */
uint64_t ct_code_insn_addr(const struct ct_code_block *block, uint32_t index);

/* All pages, by address. */
struct ct_code_page *const *ct_code_pages(struct ct_code *code, size_t *count);

#endif
