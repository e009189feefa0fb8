/* SPDX-License-Identifier: Apache-2.0 */
/* Reads from the headers of an ELF file what is needed to identify the program that ran, and where it was
 * loaded. Reads through the reader's files, one header or note at a time. */
#pragma once

#include <stdbool.h>

#include "base/files.h"

#define CT_BUILD_ID_MAX     20u
#define CT_ELF_LOOK_HEADERS 64u /* maximal number of program headers read */

struct ct_build_id {
    uint8_t size; /* 0 for none */
    uint8_t bytes[CT_BUILD_ID_MAX];
};

/* A segment of code. */
struct ct_elf_code {
    uint64_t offset, size; /* in the file */
    uint64_t addr;         /* without load bias */
    uint64_t memory_size;
    bool writable; /* the segment may contain data */
};

struct ct_elf_look {
    bool is_elf;
    bool is_core;   /* a copy of memory */
    bool is_fixed;  /* a program that can only run at the addresses in the file */
    bool maps_head; /* a segment contains the beginning of the file, at head_addr */
    uint64_t head_addr;
    uint16_t machine;
    struct ct_build_id id;
    size_t code_count;
    struct ct_elf_code code[CT_ELF_LOOK_HEADERS];
};

/* Reads the headers of a file. Returns false when it cannot be read. */
bool ct_elf_look(const struct ct_files *files, const char *path, struct ct_elf_look *out);

/* Finds an ELF note by its name and type, and copies the beginning of its description to `out`. Returns the
 * number of bytes copied; 0: there is none. */
size_t ct_elf_note(const struct ct_files *files, const char *path, const char *name, uint32_t type, char *out,
                   size_t room);

/* Finds the load bias of a file with this code, of which `size` bytes from `offset` on were mapped at `addr`.
 * Returns false when none of them is code. */
bool ct_elf_code_bias(const struct ct_elf_code *code, size_t count, uint64_t addr, uint64_t offset,
                      uint64_t size, uint64_t *bias);

/* Writes the id in hexadecimal digits. */
void ct_build_id_text(const struct ct_build_id *id, char text[2 * CT_BUILD_ID_MAX + 1]);
