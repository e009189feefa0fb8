/* SPDX-License-Identifier: Apache-2.0 */
/* coretap fractal: which code accesses which memory, observed at the coherent interconnect.
 *
 * FRACTAL (Ciruolo et al.) listens to the coherence traffic of a processor cluster, follows the page table
 * walks of one process, and translates the physical addresses of its last-level misses back to virtual ones.
 * Nothing here calls a cache or a core: messages go in, commands come out, and the effects of a command come
 * back as messages. The caller writes the loop:
 *
 *     ct_fractal_take_message(f, &m);
 *     while (ct_fractal_next_command(f, &c))
 *         carry_out(&c);    // a line that was read goes to ct_fractal_data
 *     n = ct_fractal_events(f, events, 64);
 *
 * The port guarantees that a command takes effect after the transaction whose message caused it and before
 * the next transaction of the cluster. Hardware does this by delaying its snoop response. */
#ifndef CORETAP_FRACTAL_H
#define CORETAP_FRACTAL_H

#include "coretap/base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CT_FRACTAL_LINE       64 /* bytes of a cache line */
#define CT_FRACTAL_LINE_WORDS 8  /* descriptors of 8 bytes in a line */

/* ---- messages ---- */

/* Operations of the port, independent of its coherence protocol (fractal_wire.h). A core that upgrades a
 * shared line in order to write it appears as CleanInvalid. */
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
    CT_FRACTAL_TLBI_VA,      /* addr: VA, value: ASID; also invalidates walk caches */
    CT_FRACTAL_TLBI_VA_LAST, /* the same for the last level only: walk caches keep their entries */
    CT_FRACTAL_TLBI_VA_ALL,  /* addr: VA, of every ASID */
    CT_FRACTAL_TLBI_ASID,    /* value: ASID */
    CT_FRACTAL_TLBI_ALL,
    CT_FRACTAL_ICI_VA,           /* instruction cache invalidate by VA */
    CT_FRACTAL_DATA,             /* addr: a line that a command requested; its content is passed to
                                    ct_fractal_data */
    CT_FRACTAL_REG_WRITE,        /* addr: offset in the register block, value: 64 bits */
    CT_FRACTAL_TLBI_VA_ALL_LAST, /* as TLBI_VA_ALL, last level only */
    CT_FRACTAL_OP_COUNT,
};

/* Returns the name of an operation ("ReadShared", "TlbiVa", …), and the operation of a name. "?" for an
 * unknown number; CT_ERR_NOT_FOUND for an unknown name. */
CT_API const char *ct_fractal_op_name(unsigned op);
CT_API int ct_fractal_op_by_name(const char *name);

enum ct_fractal_kind {
    CT_FRACTAL_KIND_UNKNOWN, /* the port does not say */
    CT_FRACTAL_KIND_INSN,
    CT_FRACTAL_KIND_DATA,
};

struct ct_fractal_message {
    uint64_t time;     /* cycles of the interconnect; never less than in the message before */
    uint64_t addr;     /* physical address below 2^48, or as the operation says */
    uint64_t value;    /* as the operation says, else 0 */
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

/* Returns the name of a kind of command: "Read", "Peek", "Clean", …; "?" for an unknown number. */
CT_API const char *ct_fractal_command_name(unsigned kind);

/* A command. Each coherence protocol has its own transactions for it (fractal_wire.h). */
struct ct_fractal_command {
    uint64_t pa, va;
    uint16_t asid;
    uint8_t kind;   /* enum ct_fractal_command_kind */
    uint8_t pad[5]; /* 0 */
};

/* ---- events ---- */

#define CT_FRACTAL_NO_POINT UINT32_MAX

/* One last-level read of the target. A physical page that the target maps more than once gives one event for
 * each mapping, one after the other; all but the first have CT_FRACTAL_ALIAS set. */
struct ct_fractal_event {
    uint64_t time;
    uint64_t va, pa; /* of the line, or of the part of it that the port reports (CT_FRACTAL_REG_GEOM) */
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
    uint32_t watermarks; /* maximal number of page table pages followed, 64 to 1 M; 0: 4096 */
    uint32_t points;     /* maximal number of observation points, up to 1 M; 0: 4096 */
    uint32_t ring_bytes; /* size of the logger's ring, 4 KiB to 1 GiB; 0: 256 KiB */
    uint64_t ranges;     /* maximal number of ranges traced at once, up to 256; 0: 16 */
};

/* Makes a tracer and allocates all its memory; `options` may be NULL. CT_ERR_ARG for a value out of range,
 * CT_ERR_NOMEM. */
CT_API int ct_fractal_new(struct ct_ctx *ctx, const struct ct_fractal_options *options,
                          struct ct_fractal **out);
CT_API void ct_fractal_free(struct ct_fractal *f);

/* Takes one message. An impossible message (unknown operation, address out of range, time going back, data
 * that was not requested) is counted in CT_FRACTAL_REG_INCONSISTENT and otherwise ignored: CT_ERR_FORMAT.
 * Commands of the message before must be fetched first: else CT_ERR_LIMIT, and nothing is done. */
CT_API int ct_fractal_take_message(struct ct_fractal *f, const struct ct_fractal_message *m);

/* Takes the content of a line that a READ or PEEK requested, as eight little-endian words. The errors of
 * ct_fractal_take_message. */
CT_API int ct_fractal_data(struct ct_fractal *f, uint64_t time, uint64_t pa,
                           const uint64_t line[CT_FRACTAL_LINE_WORDS]);

/* Takes messages one after the other. Stops at the end, at the first message that is refused, and after the
 * first that causes a command. The result of the last message goes to *status (may be NULL). Returns the
 * number of messages taken. */
CT_API size_t ct_fractal_messages(struct ct_fractal *f, const struct ct_fractal_message *m, size_t count,
                                  int *status);

/* Fetches the next command. Returns 1, or 0 when there is none. */
CT_API int ct_fractal_next_command(struct ct_fractal *f, struct ct_fractal_command *out);

/* Moves logged events out of the ring, at most `max`. Fields that were not recorded are 0. Returns the number
 * of events. */
CT_API size_t ct_fractal_events(struct ct_fractal *f, struct ct_fractal_event *out, size_t max);

/* Returns the bytes of state of a module, by index from 0, and its name in *name. 0 and NULL after the last
 * module. */
CT_API size_t ct_fractal_module_bytes(const struct ct_fractal *f, unsigned index, const char **name);

/* ---- configuration port ---- */

enum ct_fractal_mode {
    CT_FRACTAL_PASSIVE, /* no command disturbs the cluster; accesses hidden by its caches are missed */
    CT_FRACTAL_POINTS,  /* flush at set-up, invalidations for observation points only */
    CT_FRACTAL_ACTIVE,  /* POINTS, and active eviction: every last-level miss in the range is seen */
};

/* Offsets in the register block; ct_fractal_reg_describe has a description of each. 64-bit registers may be
 * written as two halves, low first: the write of the high half takes effect. */
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
#define CT_FRACTAL_CTRL_POINTS_ONLY 8u                   /* log only hits of points */
#define CT_FRACTAL_CTRL_IRQ_FULL    16u                  /* STATUS bit 2 when the ring is full */

#define CT_FRACTAL_STATUS_FULL 1u /* events were dropped since the ring was last emptied */
#define CT_FRACTAL_STATUS_LOST 2u /* there was no room for a point, or a setting was impossible: see docs */
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

/* Describes register `index`, from 0. CT_ERR_NOT_FOUND after the last one. */
CT_API int ct_fractal_reg_describe(unsigned index, struct ct_fractal_reg_info *out);

/* Reads or writes a register at an offset of the block; `bytes` is 4 or 8. CT_ERR_ARG for an offset or size
 * of no register, CT_ERR_CONFIG for an impossible value or a read-only register. */
CT_API int ct_fractal_reg_read(const struct ct_fractal *f, uint32_t offset, unsigned bytes, uint64_t *value);
CT_API int ct_fractal_reg_write(struct ct_fractal *f, uint32_t offset, unsigned bytes, uint64_t value);

/* ---- user library: programs the block through a transport ----
 *
 * A model refuses a register write like ct_fractal_reg_write, and the functions return its error. A device
 * reports no errors, and they return 0: CT_FRACTAL_STATUS_LOST in its CT_FRACTAL_REG_STATUS then says that a
 * setting was impossible. Only one thread may use a port at a time. */

struct ct_fractal_port;

/* Makes a port to a model in this process (not owned). CT_ERR_NOMEM. */
CT_API int ct_fractal_port_model(struct ct_ctx *ctx, struct ct_fractal *f, struct ct_fractal_port **out);
/* Makes a port to a memory-mapped device such as /dev/uio0, whose registers begin at its first byte.
 * CT_ERR_IO, CT_ERR_NOMEM. */
CT_API int ct_fractal_port_map(struct ct_ctx *ctx, const char *path, struct ct_fractal_port **out);
CT_API void ct_fractal_port_free(struct ct_fractal_port *port);

struct ct_fractal_target {
    uint64_t pgd;                /* physical address of the top-level table */
    uint64_t range_lo, range_hi; /* VA of the first byte and of the first after the last */
    uint16_t asid;
    uint8_t granule; /* log2 of the page size: 12, 14 or 16 */
    uint8_t va_bits; /* 25 to 48 */
    uint8_t mode;    /* enum ct_fractal_mode */
    uint8_t target;  /* number in its events */
    uint8_t points_only;
    uint8_t unit_shift; /* log2 of the resolution of the port's addresses in bytes, 3 to 6; 0: a line */
};

/* Starts tracing a target and forgets what was traced before. */
CT_API int ct_fractal_port_start(struct ct_fractal_port *port, const struct ct_fractal_target *target);
CT_API int ct_fractal_port_stop(struct ct_fractal_port *port);
/* Replaces all ranges by one, or adds or removes a point, while running. No event is lost of addresses that
 * stay in the range, or of points that stay. */
CT_API int ct_fractal_port_range(struct ct_fractal_port *port, uint64_t lo, uint64_t hi);
/* Adds a range to those that are traced, or removes one that was added with the same ends. The others
 * continue. CT_ERR_CONFIG: it overlaps one; CT_ERR_LIMIT: all range registers are in use;
 * CT_ERR_NOT_FOUND. */
CT_API int ct_fractal_port_range_add(struct ct_fractal_port *port, uint64_t lo, uint64_t hi, int add);
CT_API int ct_fractal_port_point(struct ct_fractal_port *port, uint64_t va, int add);
/* Announces a new ASID of the target, for example after an operating system has used up its numbers. From
 * here on invalidations of the new ASID apply to the target. */
CT_API int ct_fractal_port_asid(struct ct_fractal_port *port, uint16_t asid);
/* Sets which initiators run the target now, bit i for initiator i. To be called from a hook in the context
 * switch of an operating system. Reads of other initiators give no events. Initially all initiators run
 * it. */
CT_API int ct_fractal_port_context(struct ct_fractal_port *port, uint64_t initiators);
/* Reads a register of 4 or 8 bytes by its offset. CT_ERR_ARG when there is none. */
CT_API int ct_fractal_port_read(struct ct_fractal_port *port, uint32_t offset, uint64_t *value);

/* ---- event logs (docs/fractal.md has the format) ---- */

struct ct_fractal_log_info {
    uint64_t clock_hz; /* of the time field; 0: unknown */
    uint64_t pgd, range_lo, range_hi;
    uint32_t fields; /* enum ct_fractal_field bits */
    uint16_t asid;
    uint8_t mode, granule;
    const char *text; /* additional lines "key=value", such as program=…; may be NULL */
};

struct ct_fractal_writer;

/* Opens a log for writing at `path` ("-": standard output). CT_ERR_ARG for a log without fields,
 * CT_ERR_NOMEM, CT_ERR_IO. */
CT_API int ct_fractal_writer_new(struct ct_ctx *ctx, const char *path, const struct ct_fractal_log_info *info,
                                 struct ct_fractal_writer **out);
/* Writes a log to `write`, up to its end in ct_fractal_writer_close; messages call it `name`. Errors:
 * CT_ERR_ARG for a log without fields, CT_ERR_NOMEM, what `write` returned. */
CT_API int ct_fractal_writer_to(struct ct_ctx *ctx, ct_write_fn *write, void *user, const char *name,
                                const struct ct_fractal_log_info *info, struct ct_fractal_writer **out);
/* Writes events; `dropped` events were lost just before them. CT_ERR_IO. */
CT_API int ct_fractal_writer_add(struct ct_fractal_writer *w, const struct ct_fractal_event *events,
                                 size_t count, uint64_t dropped);
/* Adds lines to the log's text that became known while it was written. CT_ERR_ARG for a text that is too
 * long, CT_ERR_IO. */
CT_API int ct_fractal_writer_text(struct ct_fractal_writer *w, const char *text);
/* Writes what is buffered and closes the file, unless it belongs to the caller. Frees the writer whatever the
 * result. */
CT_API int ct_fractal_writer_close(struct ct_fractal_writer *w);

struct ct_fractal_reader;
/* Opens a log for reading. CT_ERR_IO, CT_ERR_FORMAT when it does not begin like a log, CT_ERR_NOMEM. */
CT_API int ct_fractal_reader_open(struct ct_ctx *ctx, const char *path, struct ct_fractal_reader **out);
/* The same from memory, which stays the caller's and must stay valid as long as the reader. */
CT_API int ct_fractal_reader_open_bytes(struct ct_ctx *ctx, const void *bytes, size_t size,
                                        struct ct_fractal_reader **out);
/* Makes a reader of a log that is still written and comes in pieces; messages call it `name`.
 * CT_ERR_NOMEM. */
CT_API int ct_fractal_reader_stream(struct ct_ctx *ctx, const char *name, struct ct_fractal_reader **out);
/* Takes the next piece of such a log, of any size. ct_fractal_reader_next then gives the events of all
 * complete blocks, and 0 until there are more. CT_ERR_FORMAT when it does not begin like a log; CT_ERR_ARG:
 * the reader is of another kind, or was ended; CT_ERR_NOMEM. */
CT_API int ct_fractal_reader_push(struct ct_fractal_reader *r, const void *data, size_t size);
/* Ends such a log: the rest of a cut block can be read then. CT_ERR_FORMAT: the header is missing;
 * CT_ERR_ARG. */
CT_API int ct_fractal_reader_end(struct ct_fractal_reader *r);
/* Returns the header, zeros before it was read. Its text grows while the log is read, and is complete after
 * the last event. */
CT_API const struct ct_fractal_log_info *ct_fractal_reader_info(const struct ct_fractal_reader *r);
/* Returns the resolution of the addresses of events in bytes: 64, a line, or less where the log says so. 0
 * for NULL. */
CT_API uint32_t ct_fractal_reader_unit(const struct ct_fractal_reader *r);
/* Reads up to `max` events. Damaged blocks are skipped and counted. Returns the number of events; 0 at the
 * end. */
CT_API size_t ct_fractal_reader_next(struct ct_fractal_reader *r, struct ct_fractal_event *out, size_t max);
/* Goes back to the first event; the text is kept. */
CT_API void ct_fractal_reader_rewind(struct ct_fractal_reader *r);
/* Returns what is missing so far: events that the tracer dropped, and damaged bytes of the file. */
CT_API void ct_fractal_reader_losses(const struct ct_fractal_reader *r, uint64_t *dropped, uint64_t *damaged);
CT_API void ct_fractal_reader_free(struct ct_fractal_reader *r);

/* ---- recorded message streams: one line a message, docs/fractal.md ---- */

/* First line of a stream. */
#define CT_FRACTAL_MESSAGES_HEADER "time,op,initiator,kind,addr,value"

/* Parses one line (no newline needed). `line` receives the content when the operation is Data. CT_ERR_FORMAT,
 * with the reason in the context. */
CT_API int ct_fractal_message_parse(struct ct_ctx *ctx, const char *text, size_t length,
                                    struct ct_fractal_message *m, uint64_t line[CT_FRACTAL_LINE_WORDS]);
/* Writes a line without newline; `out` holds at least 256 bytes. Returns its length. */
CT_API size_t ct_fractal_message_print(const struct ct_fractal_message *m,
                                       const uint64_t line[CT_FRACTAL_LINE_WORDS], char out[256]);

#ifdef __cplusplus
}
#endif
#endif
