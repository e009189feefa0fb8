/* SPDX-License-Identifier: Apache-2.0 */
/* The contents of the .ini files of a snapshot, from which a capture is made. */
#pragma once

#include "input/snapshot_states.h"

struct ct_device {
    const char *path; /* of its .ini file */
    const char *name, *class_name, *type;
    struct ct_source_regs regs;
    const char *events[CT_SOURCE_EVENTS]; /* their names, or NULL */
    uint64_t given;                       /* mask of the registers that are given, for ct_regs_check */
    struct ct_image_spec *dumps;
    size_t dump_count;
};

/* Reads a device file; strings and arrays belong to the arena. CT_ERR_CONFIG, CT_ERR_FORMAT, … with file and
 * line. */
int ct_device_read(struct ct_opening *opening, const char *path, const char *wanted_by, const char *folder,
                   struct ct_device *device);

/* A line key=value in a section that is a list. */
struct ct_ini_pair {
    const char *key, *value;
    unsigned line;
};

/* A section of the trace file that may describe a buffer. */
struct ct_buffer_section {
    const char *section, *name, *file, *format;
    unsigned line;
};

struct ct_trace_file {
    const char *path;
    const char *buffers; /* value of buffers=; NULL when it is missing */
    unsigned buffers_line;
    struct ct_buffer_section *sections;
    size_t section_count;
    struct ct_ini_pair *sources; /* [source_buffers] */
    size_t source_count;
    struct ct_ini_pair *cores; /* [core_trace_sources] */
    size_t core_count;
    struct ct_snapshot_states states;
};

/* Reads the trace file; `folder` is that of the snapshot. */
int ct_trace_file_read(struct ct_opening *opening, const char *path, const char *wanted_by,
                       const char *folder, struct ct_trace_file *trace);

/* Adds a copy of the item's key and value. CT_ERR_LIMIT beyond CT_ITEMS_MAX. */
int ct_pair_add(struct ct_opening *opening, const struct ct_ini_item *item, struct ct_ini_pair **pairs,
                size_t *count);
