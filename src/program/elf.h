/* SPDX-License-Identifier: Apache-2.0 */
/* ELF files of Arm targets, opened and checked. */
#pragma once

#include "coretap/base.h"

#include <gelf.h>

struct ct_elf {
    Elf *elf;
    GElf_Ehdr header;
    size_t segments; /* number of program headers: as many as the file claims and can hold */
};

/* Opens the bytes of a file, called `name` in messages; they must stay valid until ct_elf_close. Only 32-bit
 * and 64-bit little-endian files for Arm are accepted: CT_ERR_FORMAT, CT_ERR_UNSUPPORTED. */
int ct_elf_open(struct ct_ctx *ctx, const char *name, const uint8_t *bytes, size_t size, struct ct_elf *out);

/* Opens the file `fd`, of `size` bytes, without reading it whole: to read its headers, sections and build
 * id. */
int ct_elf_open_fd(struct ct_ctx *ctx, const char *name, int fd, size_t size, struct ct_elf *out);
void ct_elf_close(struct ct_elf *elf);
