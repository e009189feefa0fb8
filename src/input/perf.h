/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the perf.data reader. One pass over the records collects their contents; buffers,
 * maps and images are then made from these. The trace stays in the file. */
#pragma once

#include <stdbool.h>

#include "base/elf_look.h"
#include "base/pair_map.h"
#include "input/perf_format.h"
#include "input/reader.h"

/* Limits for damaged and hostile files. */
#define CT_PERF_EVENTS_MAX ((size_t)1 << 22) /* entries of each table below */
#define CT_PERF_NO_CPU     UINT32_MAX

/* Maximal number of ELF files named, of one generation and in total. */
#define CT_PERF_PROGRAMS_MAX 1024u

/* ---- perf_file.c ---- */

struct ct_perf_file {
    const struct ct_files *files;
    const char *path;
    uint64_t size;
    char *window; /* the bytes read last */
    uint64_t at;
    size_t have;
};

int ct_perf_file_open(struct ct_perf_file *file, struct ct_ctx *ctx, const struct ct_files *files,
                      const char *path);
void ct_perf_file_close(struct ct_perf_file *file);

/* Returns `size` (at most 64 KiB) bytes at `offset`, valid until the next call; NULL when the file does not
 * contain them. */
const uint8_t *ct_perf_file_bytes(struct ct_perf_file *file, uint64_t offset, size_t size);

/* ---- collected contents ---- */

struct ct_perf_attr {
    uint64_t sample_type, flags;
    uint32_t type;
};

/* The sample ID of a record; UINT32_MAX and 0 for unknown members. */
struct ct_perf_sample {
    uint64_t time;
    uint32_t tid, cpu;
};

/* A trace unit as the recording describes it. */
struct ct_perf_cpu {
    struct ct_source source;
    uint32_t cpu;
    uint32_t sink;        /* where its trace goes, if known */
    bool unused;          /* no record gave it a trace ID, so it did not run */
    bool virtual_counter; /* timestamps are from CNTVCT */
};

/* Trace bytes in the file. */
struct ct_perf_trace {
    uint64_t aux;    /* position of the first byte in the AUX stream of its buffer */
    uint64_t offset; /* offset of the first byte in the file */
    uint64_t size;
    uint32_t idx, tid, cpu;
};

/* A part of an AUX stream that was traced without interruption. */
struct ct_perf_aux {
    uint64_t begin, end;
    uint64_t flags;
    uint64_t there; /* number of its bytes in the file */
    struct ct_perf_sample sample;
};

struct ct_perf_hw_id {
    uint64_t value;
    uint32_t cpu;
};

/* A name and its build id, from the recording's list. */
struct ct_perf_listed {
    const char *name;
    struct ct_build_id id;
};

enum ct_perf_event_kind {
    CT_PERF_EVENT_MAP,
    CT_PERF_EVENT_COMM,
    CT_PERF_EVENT_EXEC,
    CT_PERF_EVENT_FORK,
    CT_PERF_EVENT_CONTAINER, /* the process has a different view of file names */
};

/* An event that changes the process of a thread, or what is mapped. */
struct ct_perf_event {
    uint64_t time;
    uint64_t addr, size, file_offset; /* MAP */
    const char *name;                 /* of a file or a program */
    const struct ct_build_id *id;     /* of MAP; may be NULL */
    uint32_t order;                   /* number in the file */
    uint32_t pid, tid;
    uint32_t parent;     /* FORK: the process that forked */
    uint32_t parent_tid; /* FORK: the thread that forked */
    uint8_t kind;        /* enum ct_perf_event_kind */
    bool kernel;         /* of MAP: in the kernel */
};

struct ct_perf {
    struct ct_opening *opening;
    const struct ct_capture_options *options; /* options for opening the capture */
    struct ct_arena arena;                    /* for data that is not needed once the capture is open */
    struct ct_perf_file file;
    const char *folder; /* of a recording that is a directory; else NULL */
    bool pipe;
    uint64_t data, data_end;    /* the range of the records */
    bool unclosed;              /* the header does not contain the end of the records */
    bool cut;                   /* the file ends before the records do */
    bool attrs_differ;          /* sample IDs have different layouts */
    bool attrs_lack_identifier; /* a sample ID does not end with the event's ID */

    struct ct_perf_attr *attrs;
    size_t attr_count;
    struct ct_pair_map attr_ids; /* the index in `attrs` of each event ID; the second number is 0 */
    struct ct_perf_cpu *cpus;
    size_t cpu_count;
    bool has_info;
    uint64_t info_version;
    uint32_t pmu;
    struct ct_perf_trace *traces;
    size_t trace_count;
    struct ct_perf_aux *auxes;
    size_t aux_count;
    struct ct_perf_hw_id *hw_ids;
    size_t hw_id_count;
    struct ct_perf_listed *build_ids;
    size_t build_id_count;
    struct ct_perf_event *events;
    size_t event_count;
    struct ct_clock clock;
    const char *release;           /* of the kernel; may be NULL */
    const char *kcore;             /* the kernel's memory, for which files only give names; or NULL */
    char *kallsyms, *kallsyms_end; /* the text of the target's kallsyms, terminated by NUL; or NULL */
    bool kallsyms_read;            /* it was searched */
    uint64_t lost;                 /* records that the kernel could not write */
    uint64_t lossy;                /* AUX records that say that trace was lost */
    uint64_t bad;                  /* records too short for their type, or with impossible numbers */
    uint64_t bad_at;               /* offset of the first of them */
};

struct ct_perf_record {
    const uint8_t *body; /* after the header of 8 bytes */
    size_t size;         /* of the body */
    uint64_t offset;     /* of the record, or of the compressed record that contains it */
    uint32_t type;
    uint16_t misc;
};

/* Adds an entry to one of the tables. CT_ERR_NOMEM, CT_ERR_LIMIT. */
int ct_perf_push(struct ct_perf *perf, void *array, size_t *count, size_t size, void **room);

/* Records that a part of the file is missing. CT_ERR_NOMEM. */
int ct_perf_damage(struct ct_perf *perf, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---- perf_header.c ---- */

int ct_perf_read_header(struct ct_perf *perf);
int ct_perf_read_features(struct ct_perf *perf);

/* Finds the section of a feature, after the data. Returns false when the file has none. */
bool ct_perf_section(struct ct_perf *perf, enum ct_perf_feature feature, uint64_t *offset, uint64_t *size);

/* Adds an attribute of `size` bytes. *out is NULL when it is damaged. */
int ct_perf_add_attr(struct ct_perf *perf, const uint8_t *bytes, size_t size, struct ct_perf_attr **out);

/* Adds an event ID of the last attribute. CT_ERR_NOMEM. */
int ct_perf_add_attr_id(struct ct_perf *perf, uint64_t id);

/* Reads the contents of a feature. */
int ct_perf_feature(struct ct_perf *perf, uint64_t feature, const uint8_t *bytes, size_t size);

/* Reads an entry of the list of build ids: a record with `misc`, without its header. */
int ct_perf_add_build_id(struct ct_perf *perf, const uint8_t *body, size_t size, unsigned misc);

/* ---- perf_records.c ---- */

/* Reads all records. */
int ct_perf_read_records(struct ct_perf *perf);

/* ---- perf_events.c ---- */

/* Collects the contents of a record. */
int ct_perf_take(struct ct_perf *perf, const struct ct_perf_record *record);

/* ---- perf_sources.c ---- */

int ct_perf_take_info(struct ct_perf *perf, const struct ct_perf_record *record);

/* Sets the IDs of trace units that later records contain. */
int ct_perf_finish_sources(struct ct_perf *perf);

/* ---- perf_pieces.c ---- */

/* Makes the buffers. */
int ct_perf_make_buffers(struct ct_perf *perf);

/* ---- perf_maps.c ---- */

struct ct_perf_objects;
struct ct_perf_object;

/* Makes the maps: what processes had mapped, and when. */
int ct_perf_make_maps(struct ct_perf *perf, struct ct_perf_objects *objects, struct ct_maps **out);

/* Records a mapping whose file is missing, so that code in it can be named. CT_ERR_NOMEM. */
int ct_perf_add_gone(struct ct_perf *perf, const struct ct_perf_object *object, uint64_t addr, uint64_t size);

/* ---- perf_names.c ---- */

/* Lists the names of threads, by thread, then by time. The events must be in order of time. CT_ERR_NOMEM. */
int ct_perf_name_threads(struct ct_perf *perf, const struct ct_context_name **names, size_t *count);

/* ---- perf_programs.c ---- */

/* Lists the ELF files of the processes with trace, if the recording says whose trace it is. */
int ct_perf_name_programs(struct ct_perf *perf, const struct ct_maps *maps);

/* ---- perf_kernel.c ---- */

/* Finds the images that all processes share: those of the kernel. */
int ct_perf_kernel_images(struct ct_perf *perf, struct ct_perf_objects *objects, struct ct_image **images,
                          size_t *count);

/* ---- perf_modules.c ---- */

/* Finds where the sections of a kernel module were loaded: *place becomes NULL when no file of the target
 * says it. `path` is its file here. CT_ERR_NOMEM. */
int ct_perf_place_module(struct ct_perf *perf, const char *path, const struct ct_perf_event *map,
                         const struct ct_module_place **place);

/* ---- perf_objects.c ---- */

/* A file that was mapped on the target. */
struct ct_perf_object {
    struct ct_perf_object *next;  /* the next one with the same hash */
    const char *name;             /* its path on the target */
    const struct ct_build_id *id; /* may be NULL */
    bool container;               /* the path is valid inside of a container */
    const char *path;             /* its path here; NULL when it was not found */
    uint64_t size;                /* of the file */
    size_t code_count;            /* of an ELF file: its segments of code */
    const struct ct_elf_code *code;
};

int ct_perf_objects_new(struct ct_perf *perf, struct ct_perf_objects **out);

/* Finds the object of a mapping. It is searched on first use, and listed as missing when it is not found.
 * `id` may be NULL. */
int ct_perf_objects_find(struct ct_perf_objects *objects, const char *name, const struct ct_build_id *id,
                         bool container, const struct ct_perf_object **out);

/* Returns the build id that the recording lists for a name, or NULL. */
const struct ct_build_id *ct_perf_listed_id(const struct ct_perf *perf, const char *name);

/* Returns `path` if the file there can have the build id `id` (or NULL); else NULL, and the reason. `path`
 * may be NULL. */
const char *ct_perf_check_file(const struct ct_perf *perf, const char *path, const struct ct_build_id *id,
                               const char **reason);

/* Returns the file with a build id in the cache, under one of the names in a NULL-terminated list; or
 * NULL. */
const char *ct_perf_cached(const struct ct_perf *perf, const struct ct_build_id *id,
                           const char *const *names);

/* Returns the file with a build id from a debuginfod server (base/debuginfod.h), in the arena of the capture;
 * or NULL. */
const char *ct_perf_debuginfod(const struct ct_perf *p, const struct ct_build_id *id);

/* Adds a text to the list of missing files. */
int ct_perf_missing(struct ct_perf *perf, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
