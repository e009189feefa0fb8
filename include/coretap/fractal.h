/* SPDX-License-Identifier: Apache-2.0 */
/* coretap fractal: who touches which memory, seen from the coherent interconnect.
 *
 * FRACTAL (Ciruolo et al.) listens to the coherence traffic of a processor cluster, follows the page
 * table walks of one process, and translates the physical addresses of its last-level misses back to
 * virtual ones. Nothing here calls a cache or a core: messages go in, commands come out, and what a
 * command did comes back as messages. The loop is the caller's:
 *
 *     ct_fractal_take_message(f, &m);
 *     while (ct_fractal_next_command(f, &c)) { …carry it out; a line that was read goes to ct_fractal_data… }
 *     n = ct_fractal_events(f, events, 64);
 *
 * The contract of the port: a command takes effect after the transaction whose message asked for it
 * and before the cluster's next transaction. Hardware has this by holding back its snoop response. */
#ifndef CORETAP_FRACTAL_H
#define CORETAP_FRACTAL_H

#include "coretap/base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CT_FRACTAL_LINE       64 /* bytes of a cache line */
#define CT_FRACTAL_LINE_WORDS 8  /* descriptors of 8 bytes in a line */

/* ---- messages ---- */

/* Operations of the port, whichever coherence protocol it speaks (fractal_wire.h). A core that upgrades a
 * shared line to write it shows as CleanInvalid. */
enum ct_fractal_op {
    CT_FRACTAL_READ_ONCE,
    CT_FRACTAL_READ_SHARED,
    CT_FRACTAL_READ_CLEAN,
    CT_FRACTAL_READ_NOT_SHARED_DIRTY,
    CT_FRACTAL_READ_UNIQUE,
    CT_FRACTAL_CLEAN_SHARED,
    CT_FRACTAL_CLEAN_INVALID,
    CT_FRACTAL_MAKE_INVALID,
    CT_FRACTAL_WRITE,
    CT_FRACTAL_WRITE_BACK,
    CT_FRACTAL_TLBI_VA,      /* addr: VA, value: ASID; walk caches too */
    CT_FRACTAL_TLBI_VA_LAST, /* the same, last level only: walk caches keep their entries */
    CT_FRACTAL_TLBI_VA_ALL,  /* addr: VA, of every ASID */
    CT_FRACTAL_TLBI_ASID,    /* value: ASID */
    CT_FRACTAL_TLBI_ALL,
    CT_FRACTAL_ICI_VA,    /* instruction cache invalidate by VA */
    CT_FRACTAL_DATA,      /* addr: a line that a command asked for; its content goes with ct_fractal_data */
    CT_FRACTAL_REG_WRITE, /* addr: offset in the register block, value: 64 bits */
    CT_FRACTAL_TLBI_VA_ALL_LAST, /* as TLBI_VA_ALL, last level only */
    CT_FRACTAL_OP_COUNT,
};

/* Returns the name of an operation ("ReadShared", "TlbiVa", …), and the operation of a name. "?" for a number
 * that is none; CT_ERR_NOT_FOUND for a name that is none. */
CT_API const char *ct_fractal_op_name(unsigned op);
CT_API int ct_fractal_op_by_name(const char *name);

enum ct_fractal_kind {
    CT_FRACTAL_KIND_UNKNOWN, /* the port does not tell */
    CT_FRACTAL_KIND_INSN,
    CT_FRACTAL_KIND_DATA,
};

struct ct_fractal_message {
    uint64_t time;     /* cycles of the interconnect; never smaller than the message before */
    uint64_t addr;     /* physical address below 2^48, or what the operation says */
    uint64_t value;    /* what the operation says, else 0 */
    uint8_t op;        /* enum ct_fractal_op */
    uint8_t initiator; /* 0 to 63: a core, a DMA engine */
    uint8_t kind;      /* enum ct_fractal_kind */
};

/* ---- commands ---- */

enum ct_fractal_command_kind {
    CT_FRACTAL_CMD_READ,      /* read the line at pa; cached copies of it become shared */
    CT_FRACTAL_CMD_PEEK,      /* read the line at pa and leave the caches as they are (ReadOnce) */
    CT_FRACTAL_CMD_CLEAN,     /* clean and invalidate the line at pa in every data and unified cache */
    CT_FRACTAL_CMD_ICI,       /* invalidate the line of va (at pa) in the instruction caches */
    CT_FRACTAL_CMD_TLBI_VA,   /* invalidate the last-level translation of va for asid */
    CT_FRACTAL_CMD_TLBI_ASID, /* invalidate all translations and walk caches of asid */
    CT_FRACTAL_CMD_KIND_COUNT,
};

/* Returns the name of a kind of command: "Read", "Peek", "Clean", …; "?" for a number that is none. */
CT_API const char *ct_fractal_command_name(unsigned kind);

/* A command. Each coherence protocol has transactions of its own for it (fractal_wire.h). */
struct ct_fractal_command {
    uint64_t pa, va;
    uint16_t asid;
    uint8_t kind;   /* enum ct_fractal_command_kind */
    uint8_t pad[5]; /* 0 */
};

/* ---- events ---- */

#define CT_FRACTAL_NO_POINT UINT32_MAX

/* One last-level read of the target. A physical page that the target maps more than once gives one
 * event for each mapping, one after the other: all but the first carry CT_FRACTAL_ALIAS. */
struct ct_fractal_event {
    uint64_t time;
    uint64_t va, pa; /* of the line, or of the part of it that the port tells (CT_FRACTAL_REG_GEOM) */
    uint32_t point;  /* observation point or CT_FRACTAL_NO_POINT */
    uint8_t op, initiator, kind;
    uint8_t flags;  /* CT_FRACTAL_ALIAS */
    uint8_t target; /* as set with CT_FRACTAL_REG_TARGET */
};

#define CT_FRACTAL_ALIAS 1u

/* ---- the machine ---- */

struct ct_fractal;

struct ct_fractal_options {
    size_t size;         /* sizeof this struct */
    uint32_t rtlb_sets;  /* power of two, 1 to 65536; 0: 512 */
    uint32_t rtlb_ways;  /* 1 to 16; 0: 4 */
    uint32_t watermarks; /* page table pages that can be followed, 64 to 1 M; 0: 4096 */
    uint32_t points;     /* observation points that can be set, up to 1 M; 0: 4096 */
    uint32_t ring_bytes; /* the logger's ring, 4 KiB to 1 GiB; 0: 256 KiB */
    uint64_t ranges;     /* ranges that can be traced at once, up to 256; 0: 16 */
};

/* Makes a machine and takes all the memory that it ever needs; `options` may be NULL. CT_ERR_ARG for a value
 * out of range, CT_ERR_NOMEM. */
CT_API int ct_fractal_new(struct ct_ctx *ctx, const struct ct_fractal_options *options,
                          struct ct_fractal **out);
CT_API void ct_fractal_free(struct ct_fractal *f);

/* Takes one message. A message that cannot be (unknown operation, address out of range, time going back,
 * data nobody asked for) is counted in CT_FRACTAL_REG_INCONSISTENT and otherwise ignored: CT_ERR_FORMAT.
 * Commands of the message before have to be fetched first: CT_ERR_LIMIT, and nothing is done. */
CT_API int ct_fractal_take_message(struct ct_fractal *f, const struct ct_fractal_message *m);

/* Takes the content of a line that a READ or PEEK asked for, as eight little-endian words. The errors are
 * those of ct_fractal_take_message. */
CT_API int ct_fractal_data(struct ct_fractal *f, uint64_t time, uint64_t pa,
                           const uint64_t line[CT_FRACTAL_LINE_WORDS]);

/* Takes messages one after the other. It stops at the end, at the first that is refused, and behind the first
 * after which a command waits. The result of the last one goes to *status (may be NULL). Result: how many
 * were taken. */
CT_API size_t ct_fractal_messages(struct ct_fractal *f, const struct ct_fractal_message *m, size_t count,
                                  int *status);

/* Fetches the next command. Result: 1, or 0 when there is none. */
CT_API int ct_fractal_next_command(struct ct_fractal *f, struct ct_fractal_command *out);

/* Moves logged events out of the ring, at most `max`. Fields that were not recorded are 0. Result:
 * how many. */
CT_API size_t ct_fractal_events(struct ct_fractal *f, struct ct_fractal_event *out, size_t max);

/* Returns how many bytes of state a module has, by index from 0; the module's name in *name. 0 and NULL after
 * the last. */
CT_API size_t ct_fractal_module_bytes(const struct ct_fractal *f, unsigned index, const char **name);

/* ---- configuration port ---- */

enum ct_fractal_mode {
    CT_FRACTAL_PASSIVE, /* no command disturbs the cluster; what its caches hide is missed */
    CT_FRACTAL_POINTS,  /* flush at set-up, invalidations for observation points only */
    CT_FRACTAL_ACTIVE,  /* and active eviction: every last-level miss in the range is seen */
};

/* Offsets in the register block; ct_fractal_reg gives their text. 64-bit registers may be written as
 * two halves, low first: the write of the high half takes effect. */
enum ct_fractal_reg {
    CT_FRACTAL_REG_ID = 0x000,
    CT_FRACTAL_REG_VERSION = 0x004,
    CT_FRACTAL_REG_CTRL = 0x008,
    CT_FRACTAL_REG_STATUS = 0x00c,
    CT_FRACTAL_REG_PGD = 0x010,
    CT_FRACTAL_REG_ASID = 0x018,
    CT_FRACTAL_REG_GEOM = 0x01c,
    CT_FRACTAL_REG_RANGE_LO = 0x020,
    CT_FRACTAL_REG_RANGE_HI = 0x028,
    CT_FRACTAL_REG_RANGE_COMMIT = 0x030,
    CT_FRACTAL_REG_TARGET = 0x034,
    CT_FRACTAL_REG_CONTEXT = 0x038,
    CT_FRACTAL_REG_POINT_VA = 0x040,
    CT_FRACTAL_REG_POINT_CMD = 0x048,
    CT_FRACTAL_REG_POINT_COUNT = 0x04c,
    CT_FRACTAL_REG_LOG_FIELDS = 0x050,
    CT_FRACTAL_REG_LOG_LEVEL = 0x054,
    CT_FRACTAL_REG_RTLB_GEOM = 0x058,
    CT_FRACTAL_REG_RTLB_USED = 0x05c,
    CT_FRACTAL_REG_POINT_ID = 0x060,
    CT_FRACTAL_REG_RANGE_CMD = 0x064,
    CT_FRACTAL_REG_RANGE_COUNT = 0x068,
    CT_FRACTAL_REG_SNOOPS = 0x080,
    CT_FRACTAL_REG_EVENTS = 0x088,
    CT_FRACTAL_REG_DROPPED = 0x090,
    CT_FRACTAL_REG_WALKS = 0x098,
    CT_FRACTAL_REG_REFILLS = 0x0a0,
    CT_FRACTAL_REG_EVICTIONS = 0x0a8,
    CT_FRACTAL_REG_DVM = 0x0b0,
    CT_FRACTAL_REG_COMMANDS = 0x0b8,
    CT_FRACTAL_REG_POINT_HITS = 0x0c0,
    CT_FRACTAL_REG_INCONSISTENT = 0x0c8,
    CT_FRACTAL_REG_BLOCK_SIZE = 0x100,
};

#define CT_FRACTAL_CTRL_ENABLE      1u
#define CT_FRACTAL_CTRL_MODE(m)     ((uint32_t)(m) << 1) /* bits 2:1, enum ct_fractal_mode */
#define CT_FRACTAL_CTRL_POINTS_ONLY 8u                   /* log hits of points and nothing else */
#define CT_FRACTAL_CTRL_IRQ_FULL    16u                  /* STATUS bit 2 when the ring is full */

#define CT_FRACTAL_STATUS_FULL 1u /* events were dropped since the ring was last emptied */
#define CT_FRACTAL_STATUS_LOST 2u /* a point had no place or a setting could not be: see docs */
#define CT_FRACTAL_STATUS_IRQ  4u

#define CT_FRACTAL_RANGE_ADD    1u
#define CT_FRACTAL_RANGE_REMOVE 2u
#define CT_FRACTAL_RANGE_CLEAR  3u

#define CT_FRACTAL_POINT_ADD    1u
#define CT_FRACTAL_POINT_REMOVE 2u
#define CT_FRACTAL_POINT_CLEAR  3u

/* Fields of a log record, as bits of CT_FRACTAL_REG_LOG_FIELDS; records hold them in this order. */
enum ct_fractal_field {
    CT_FRACTAL_FIELD_TIME = 1,
    CT_FRACTAL_FIELD_VA = 2,
    CT_FRACTAL_FIELD_PA = 4,
    CT_FRACTAL_FIELD_POINT = 8,
    CT_FRACTAL_FIELD_OP = 16,
    CT_FRACTAL_FIELD_INITIATOR = 32,
    CT_FRACTAL_FIELD_KIND = 64,
    CT_FRACTAL_FIELD_FLAGS = 128,
    CT_FRACTAL_FIELD_TARGET = 256,
    CT_FRACTAL_FIELD_ALL = 511,
};

struct ct_fractal_reg_info {
    const char *name, *text;
    uint16_t offset;
    uint8_t bytes; /* 4 or 8 */
    uint8_t writable;
};

/* Describes register `index`, from 0 on. CT_ERR_NOT_FOUND after the last. */
CT_API int ct_fractal_reg_describe(unsigned index, struct ct_fractal_reg_info *out);

/* Reads or writes a register at an offset of the block; `bytes` is 4 or 8. CT_ERR_ARG for an offset or size
 * that is none, CT_ERR_CONFIG for a value that cannot be or a register that cannot be written. */
CT_API int ct_fractal_reg_read(const struct ct_fractal *f, uint32_t offset, unsigned bytes, uint64_t *value);
CT_API int ct_fractal_reg_write(struct ct_fractal *f, uint32_t offset, unsigned bytes, uint64_t value);

/* ---- user library: programs the block through a transport ----
 *
 * A model refuses a register as ct_fractal_reg_write does, and the functions return its error. A device tells
 * of none, and they return 0: CT_FRACTAL_STATUS_LOST in its CT_FRACTAL_REG_STATUS says that a setting could
 * not be. A port belongs to one thread at a time. */

struct ct_fractal_port;

/* Makes a port to a model in this process, which it does not own. CT_ERR_NOMEM. */
CT_API int ct_fractal_port_model(struct ct_ctx *ctx, struct ct_fractal *f, struct ct_fractal_port **out);
/* Makes a port to a memory-mapped device such as /dev/uio0, registers from its first byte on. CT_ERR_IO,
 * CT_ERR_NOMEM. */
CT_API int ct_fractal_port_map(struct ct_ctx *ctx, const char *path, struct ct_fractal_port **out);
CT_API void ct_fractal_port_free(struct ct_fractal_port *port);

struct ct_fractal_target {
    uint64_t pgd;                /* physical address of the top-level table */
    uint64_t range_lo, range_hi; /* VA of the first byte and of the first after the last */
    uint16_t asid;
    uint8_t granule; /* log2 of the page size: 12, 14 or 16 */
    uint8_t va_bits; /* 25 to 48 */
    uint8_t mode;    /* enum ct_fractal_mode */
    uint8_t target;  /* number that events carry */
    uint8_t points_only;
    uint8_t unit_shift; /* log2 of the bytes that addresses of the port tell apart, 3 to 6; 0: a line */
};

/* Starts tracing a target; whatever was traced before is forgotten. */
CT_API int ct_fractal_port_start(struct ct_fractal_port *port, const struct ct_fractal_target *target);
CT_API int ct_fractal_port_stop(struct ct_fractal_port *port);
/* Makes a range the only one, or sets or takes away a point, while running: no event of what stays in the
 * range, or of a point that stays, is lost. */
CT_API int ct_fractal_port_range(struct ct_fractal_port *port, uint64_t lo, uint64_t hi);
/* Adds a range to those that are traced, or takes one away that was added with the same ends; the others go
 * on. CT_ERR_CONFIG: it overlaps one; CT_ERR_LIMIT: all range registers are taken; CT_ERR_NOT_FOUND. */
CT_API int ct_fractal_port_range_add(struct ct_fractal_port *port, uint64_t lo, uint64_t hi, int add);
CT_API int ct_fractal_port_point(struct ct_fractal_port *port, uint64_t va, int add);
/* Says that the target got another ASID, as all do when an operating system's numbers ran out. Its
 * invalidations are heeded by the new one from here on. */
CT_API int ct_fractal_port_asid(struct ct_fractal_port *port, uint16_t asid);
/* Says which initiators run the target now, bit i for initiator i: a hook in the context switch of an
 * operating system calls it. Reads of others are no events. Without it all do. */
CT_API int ct_fractal_port_context(struct ct_fractal_port *port, uint64_t initiators);
/* Reads a register, of 4 or 8 bytes, by its offset. CT_ERR_ARG when there is none. */
CT_API int ct_fractal_port_read(struct ct_fractal_port *port, uint32_t offset, uint64_t *value);

/* ---- event logs (docs/fractal.md has the format) ---- */

struct ct_fractal_log_info {
    uint64_t clock_hz; /* of the time field; 0: not stated */
    uint64_t pgd, range_lo, range_hi;
    uint32_t fields; /* enum ct_fractal_field bits */
    uint16_t asid;
    uint8_t mode, granule;
    const char *text; /* free lines "key=value", such as program=…; may be NULL */
};

struct ct_fractal_writer;

/* Opens a log for writing at `path` ("-": standard output). CT_ERR_ARG for a log without fields,
 * CT_ERR_NOMEM, CT_ERR_IO. */
CT_API int ct_fractal_writer_new(struct ct_ctx *ctx, const char *path, const struct ct_fractal_log_info *info,
                                 struct ct_fractal_writer **out);
/* Gives what is written to `write`, up to the end of ct_fractal_writer_close; messages call it `name`.
 * Errors: CT_ERR_ARG for a log without fields, CT_ERR_NOMEM, what `write` returned. */
CT_API int ct_fractal_writer_to(struct ct_ctx *ctx, ct_write_fn *write, void *user, const char *name,
                                const struct ct_fractal_log_info *info, struct ct_fractal_writer **out);
/* Writes events; `dropped` is how many were lost just before these. CT_ERR_IO. */
CT_API int ct_fractal_writer_add(struct ct_fractal_writer *w, const struct ct_fractal_event *events,
                                 size_t count, uint64_t dropped);
/* Adds lines to the log's text, learned while it was written. CT_ERR_ARG for a text that is too long,
 * CT_ERR_IO. */
CT_API int ct_fractal_writer_text(struct ct_fractal_writer *w, const char *text);
/* Writes what is left and closes the file, unless it is the caller's; frees
 * the writer whatever the result. */
CT_API int ct_fractal_writer_close(struct ct_fractal_writer *w);

struct ct_fractal_reader;
/* Opens a log for reading. CT_ERR_IO, CT_ERR_FORMAT when it does not begin as a log does, CT_ERR_NOMEM. */
CT_API int ct_fractal_reader_open(struct ct_ctx *ctx, const char *path, struct ct_fractal_reader **out);
/* The same from memory, which stays the caller's and has to live as long as the reader. */
CT_API int ct_fractal_reader_open_bytes(struct ct_ctx *ctx, const void *bytes, size_t size,
                                        struct ct_fractal_reader **out);
/* Makes a reader of a log that is still written and comes in pieces; messages call it `name`. CT_ERR_NOMEM.
 */
CT_API int ct_fractal_reader_stream(struct ct_ctx *ctx, const char *name, struct ct_fractal_reader **out);
/* Takes the next piece of such a log, of any size; ct_fractal_reader_next then gives the events of the blocks
 * that are whole by now, and 0 until there are more. CT_ERR_FORMAT when it does not begin as a log does;
 * CT_ERR_ARG: of another reader, or behind the end; CT_ERR_NOMEM. */
CT_API int ct_fractal_reader_push(struct ct_fractal_reader *r, const void *data, size_t size);
/* Says that no piece follows: what is left of a block that was cut can be read. CT_ERR_FORMAT: the header did
 * not come; CT_ERR_ARG. */
CT_API int ct_fractal_reader_end(struct ct_fractal_reader *r);
/* Returns what the header says, and nothing before that has come; the text is what was read so far, and whole
 * after the last event. */
CT_API const struct ct_fractal_log_info *ct_fractal_reader_info(const struct ct_fractal_reader *r);
/* Returns how many bytes the addresses of events tell apart: 64, a line, or less where the log says so. 0 for
 * NULL. */
CT_API uint32_t ct_fractal_reader_unit(const struct ct_fractal_reader *r);
/* Reads up to `max` events. Damaged blocks are skipped and counted. Result: how many; 0 at the end. */
CT_API size_t ct_fractal_reader_next(struct ct_fractal_reader *r, struct ct_fractal_event *out, size_t max);
/* Goes back to the first event; the text stays. */
CT_API void ct_fractal_reader_rewind(struct ct_fractal_reader *r);
/* Tells what is missing so far: events that the tracer dropped, and bytes of the file that made no sense. */
CT_API void ct_fractal_reader_losses(const struct ct_fractal_reader *r, uint64_t *dropped, uint64_t *damaged);
CT_API void ct_fractal_reader_free(struct ct_fractal_reader *r);

/* ---- recorded message streams: one line a message, docs/fractal.md ---- */

/* First line of a stream. */
#define CT_FRACTAL_MESSAGES_HEADER "time,op,initiator,kind,addr,value"

/* Parses one line (no newline needed). `line` receives the content when the operation is Data.
 * CT_ERR_FORMAT with the reason in the context. */
CT_API int ct_fractal_message_parse(struct ct_ctx *ctx, const char *text, size_t length,
                                    struct ct_fractal_message *m, uint64_t line[CT_FRACTAL_LINE_WORDS]);
/* Writes a line without newline; `out` holds at least 256 bytes. Returns its length. */
CT_API size_t ct_fractal_message_print(const struct ct_fractal_message *m,
                                       const uint64_t line[CT_FRACTAL_LINE_WORDS], char out[256]);

#ifdef __cplusplus
}
#endif
#endif
