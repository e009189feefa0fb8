/* SPDX-License-Identifier: Apache-2.0 */
/* Files that hold the loaded symbols or lines of a program, for other processes of the same machine. A file
 * is a head and some sections, which are arrays as they are in memory; a pointer to a text is the offset of
 * the text in the section of texts. It is used only by the same version of coretap, which wrote it. */
#pragma once

#include "base/addr_map.h"
#include "program/kept_parts.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ct_ctx;
struct ct_symbols;
struct ct_lines;

#define CT_PART_SECTIONS 8

/* The sections that both kinds have. */
enum {
    CT_PART_ORIGIN, /* a text: what the part was made of */
    CT_PART_TEXTS,
    CT_PART_FIRST, /* the first section of the kind's own */
};

struct ct_part_section {
    void *bytes;
    size_t size;
};

/* A file that was read. */
struct ct_part_file {
    uint8_t *bytes; /* mapped or read; changes stay in this process */
    size_t size;
    uint32_t search; /* see struct ct_part_pack */
    struct ct_part_section sections[CT_PART_SECTIONS];
};

/* What is written to a file. */
struct ct_part_pack {
    struct ct_part_section sections[CT_PART_SECTIONS];
    uint32_t
        search; /* how a separate file was searched: 0 not at all, 1 on this machine, 2 also at servers */
    char *texts;
    size_t texts_size, texts_room;
    struct ct_addr_map places; /* offsets of the texts, by their addresses */
    void *copy;                /* an array in which offsets stand for pointers; to be freed */
    void *other;               /* another array to be freed */
};

/* Opens and checks a file. Returns NULL when there is none, or when it is damaged, of another kind, or made
 * by a machine of another byte order. Maps it if the context allows that. */
struct ct_part_file *ct_part_file_open(struct ct_ctx *ctx, const char *path, enum ct_part_kind kind);
void ct_part_file_close(struct ct_part_file *file);

/* Writes a file. Returns 0 or an errno value. */
int ct_part_file_write(int fd, enum ct_part_kind kind, const struct ct_part_pack *pack);

/* Adds a text, unless it is there. Returns what stands for the pointer to it: NULL for NULL. Sets *fine to
 * false when out of memory. */
const char *ct_part_text(struct ct_part_pack *pack, const char *text, bool *fine);

/* Returns the pointer for what ct_part_text returned. */
const char *ct_part_text_at(const struct ct_part_file *file, const char *text);

void ct_part_pack_free(struct ct_part_pack *pack);

/* Fill in the sections of a pack. They borrow from the part. Return false when out of memory. */
bool ct_symbols_pack(const struct ct_symbols *symbols, struct ct_part_pack *pack);
bool ct_lines_pack(const struct ct_lines *lines, struct ct_part_pack *pack);

/* Make a part of a file, which is the part's from then on if they succeed. `path` is that of the program.
 * Return NULL when the sections do not fit, or out of memory. */
struct ct_symbols *ct_symbols_unpack(struct ct_ctx *ctx, const char *path, bool raw_names,
                                     struct ct_part_file *file);
struct ct_lines *ct_lines_unpack(struct ct_ctx *ctx, const char *path, const struct ct_debug_files *files,
                                 struct ct_part_file *file);
