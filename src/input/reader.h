/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the readers of capture formats: the capture that they fill in, and the table of readers. */
#pragma once

#include "base/arena.h"
#include "base/ctx.h"
#include "coretap/input.h"
#include "base/files.h"
#include "input/ini.h"

/* Limits that no sensible capture reaches; they keep a hostile one from using all time and memory. */
#define CT_INI_TEXT_MAX ((size_t)16 << 20) /* bytes of all .ini files of a capture */
#define CT_ITEMS_MAX    4096               /* of devices, of buffers, and of sources */
#define CT_IMAGES_MAX   16384              /* of all buffers together */
#define CT_PROBE_BYTES  4096

/* The path to open, examined once for all readers. */
struct ct_path_to_open {
    const char *path;
    enum ct_file_kind kind;
    uint64_t size;
    char head[CT_PROBE_BYTES];
    size_t head_size;
    char section[32]; /* name of the first section if the head looks like an .ini file, else "" */
};

/* A capture while it is being opened. */
struct ct_opening {
    struct ct_ctx *ctx;
    const struct ct_files *files;
    const struct ct_capture_options *options; /* never NULL */
    struct ct_arena *arena;                   /* of the capture */
    struct ct_capture *capture;
    size_t text_left;   /* rest of CT_INI_TEXT_MAX */
    size_t images_left; /* rest of CT_IMAGES_MAX */
};

struct ct_reader {
    const char *kind;
    /* Returns 1 when the reader can open it, else 0, with the reason in `why`. */
    int (*probe)(const struct ct_files *files, const struct ct_path_to_open *target, char *why, size_t cap);
    int (*open)(struct ct_opening *opening, const struct ct_path_to_open *target);
};

/* Returns what a file that no reader opens is, with the remedy, as words behind its path; NULL: unknown. */
const char *ct_other_kind(const struct ct_path_to_open *target);

extern const struct ct_reader ct_reader_snapshot;
extern const struct ct_reader ct_reader_raw;
extern const struct ct_reader ct_reader_perf;

/* Opens a capture like ct_capture_open_with, from other files than the system's. `options` may be NULL. */
int ct_capture_open_files(struct ct_ctx *ctx, const struct ct_files *files, const char *path,
                          const struct ct_capture_options *options, struct ct_capture **out);

/* Returns the folder of `path` with its last slash ("" when it has none), in the arena. */
const char *ct_path_folder(struct ct_arena *arena, const char *path);

/* Returns `name` relative to `folder`; an absolute name does not change. */
const char *ct_path_join(struct ct_arena *arena, const char *folder, const char *name);

/* Returns the path of a file that an .ini names, relative to `folder`, in the arena. Tools on Windows write
 * backslashes: they are slashes when that finds a file and the name as it stands does not. NULL: no memory.
 */
const char *ct_path_of_file(struct ct_opening *opening, const char *folder, const char *name);

/* Returns the value of an item, a file name, as ct_path_of_file does. CT_ERR_FORMAT, CT_ERR_NOMEM. */
int ct_ini_file(struct ct_opening *opening, const char *folder, const struct ct_ini_item *item,
                const char **path);

/* Reads and parses an .ini file. `wanted_by` names what refers to it, for the message when it is missing. */
int ct_read_ini(struct ct_opening *opening, const char *path, const char *wanted_by, ct_ini_fn *fn,
                void *user);

/* Returns the protocol of a source by its type ("ETM4.2", "PFT1.1") or short name ("etmv4i"); NONE when
 * unknown. */
enum ct_protocol ct_protocol_by_type(const char *type);

/* Sets the defaults of docs/formats.md for registers that are not given. */
void ct_regs_defaults(struct ct_source_regs *regs);

/* Handles an item that may be a register of a trace source ("TRCIDR0(id:0x078)"). If it is, stores its value,
 * sets its bit in *given, and *known = 1. CT_ERR_CONFIG for a bad value or one that contradicts an earlier
 * line. */
int ct_regs_set(const struct ct_ini_item *item, struct ct_source_regs *regs, uint64_t *given, int *known);

/* Checks that all registers needed by `protocol` are given; else CT_ERR_CONFIG with the name of one. `path`
 * and `name` are the file and the source, for the message. */
int ct_regs_check(struct ct_ctx *ctx, enum ct_protocol protocol, uint64_t given, const char *path,
                  const char *name);

/* Returns the trace ID in the registers of a source. */
uint8_t ct_regs_trace_id(enum ct_protocol protocol, const struct ct_source_regs *regs);

/* Returns whether the register with the trace ID is given; sets it from an ID that is known otherwise. */
int ct_regs_id_given(enum ct_protocol protocol, uint64_t given);
void ct_regs_put_id(enum ct_protocol protocol, uint8_t id, struct ct_source_regs *regs, uint64_t *given);

/* Handles a line NAME=N of an [event] section: NAME becomes the name of event N of a trace unit.
 * CT_ERR_CONFIG for a bad number, a bad name, or a second one of either; CT_ERR_NOMEM. */
int ct_event_set(struct ct_opening *opening, const struct ct_ini_item *item,
                 const char *events[CT_SOURCE_EVENTS]);

/* Handles a line NAME=ID of a [context] section: NAME becomes the name of the context with this ID. The list
 * is sorted by context. CT_ERR_CONFIG for a bad ID or one that has a name, CT_ERR_NOMEM. */
int ct_context_set(struct ct_opening *opening, const struct ct_ini_item *item, struct ct_context_name **names,
                   size_t *count);

/* Names the events of a source that the capture has not named, from its registers. CT_ERR_NOMEM. */
int ct_source_name_events(struct ct_opening *opening, struct ct_source *source);

/* Checks the trace IDs of a framed buffer. CT_ERR_CONFIG when two sources have the same; warns when one has
 * an ID that no source can have. `path` is the file with the description of the buffer. */
int ct_buffer_check_ids(struct ct_ctx *ctx, const char *path, const struct ct_buffer *buffer);

/* Returns a memory space by its name in .ini files; 0 when unknown. */
uint32_t ct_space_by_name(const char *name);

/* Returns why no trace can be read from the file at `path`: it is missing, or not a regular file. NULL when
 * it can be read. */
const char *ct_why_no_trace(const struct ct_files *files, const char *path);

/* Makes the names of buffers, sources and processes, and the texts of the capture, printable
 * (base/printable.h), after everything was read. CT_ERR_NOMEM. */
int ct_capture_labels(struct ct_opening *opening);

/* Adds a text to capture->missing, without duplicates. */
int ct_add_missing(struct ct_opening *opening, const char *text);

/* Adds a file that ran and does not exist here, so that its code can be named, with its build id in
 * hexadecimal digits, or NULL. At most 256 are kept, without duplicates. CT_ERR_NOMEM. */
int ct_add_gone(struct ct_opening *opening, const struct ct_image *image, const char *build_id);

/* An image as given in an .ini file. */
struct ct_image_spec {
    const char *file; /* NULL when not given */
    uint64_t addr, offset, size;
    uint32_t space;
    uint8_t has_addr, has_size, is_elf;
    const char *where; /* "path:line: [section]" */
};

/* Adds the image to a buffer's list, without duplicates. An image whose file is missing becomes an entry of
 * capture->missing. *images and *count grow. */
int ct_image_add(struct ct_opening *opening, const struct ct_image_spec *spec, struct ct_image **images,
                 size_t *count);

/* Finds the architecture of a source's core by its model. CT_ERR_CONFIG names the core when it is unknown. */
int ct_core_arch(struct ct_ctx *ctx, const char *where, const char *core, const char *model,
                 struct ct_arch *arch);
