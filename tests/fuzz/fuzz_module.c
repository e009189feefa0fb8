/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes kernel modules. A byte, whose lowest bit says that the addresses of three sections are known and
 * follow, eight bytes each; then the file. What must hold: a module that can be linked reads as a program,
 * whose code is where its segments say, and calls of the kernel can be directed there. */
#include <stdio.h>
#include <string.h>

#include "base/whole_file.h"
#include "coretap/program.h"
#include "fuzz.h"
#include "program/module.h"
#include "support/test_file.h"

#define MOST_BYTES 32768
#define KNOWN      3u /* sections whose addresses may be known */
#define BASE       UINT64_C(0xffff800001000000)

static void read_symbols(struct ct_ctx *ctx, const char *path, const struct ct_module_place *placed)
{
    const struct ct_symbol_options options = {.size = sizeof options, .bias = BASE, .placed = placed};
    struct ct_symbols *symbols;
    size_t count;
    if (ct_symbols_load_with(ctx, path, &options, &symbols) != CT_OK) {
        require(*ct_ctx_error(ctx) != '\0');
        return;
    }
    const struct ct_symbol *all = ct_symbols_all(symbols, &count);
    for (size_t i = 0; i < count; i++)
        require(strlen(all[i].name) < MOST_BYTES && (i == 0 || all[i - 1].addr < all[i].addr));
    ct_symbols_free(symbols);
}

/* Links a module in memory of just its size, which is not written to. */
static void link_bytes(struct ct_ctx *ctx, const uint8_t *data, size_t size,
                       const struct ct_module_place *placed)
{
    uint8_t *bytes = fuzz_file(data, size), *linked = NULL;
    size_t linked_size;
    bool is;
    require(ct_module_is(ctx, "fuzz", bytes, size, &is) == CT_OK);
    if (is && ct_module_link(ctx, "fuzz", placed, bytes, size, &linked, &linked_size) == CT_OK) {
        require(linked_size > size);
        ct_whole_file_free(linked, linked_size);
    } else
        require(!is || (!linked && *ct_ctx_error(ctx)));
    require(memcmp(bytes, data, size) == 0);
    free(bytes);
}

/* Reads the first bytes of the code, where the rules place it and where it is known to be. */
static void read_code(struct ct_ctx *ctx, const char *path, const struct ct_module_place *placed)
{
    const struct ct_image image = {
        .path = path, .addr = BASE, .space = CT_SPACE_ANY, .is_elf = 1, .placed = placed};
    struct ct_memory *memory;
    size_t size;
    require(ct_memory_new(ctx, &memory) == CT_OK);
    if (ct_memory_add_image(memory, &image) == CT_OK && ct_memory_link(memory) == CT_OK) {
        for (size_t i = 0; i <= (placed ? KNOWN : 0); i++) {
            const uint64_t addr = BASE + (i ? placed->sections[i - 1].addr : 0);
            const uint8_t *bytes = ct_memory_at(memory, addr, CT_SPACE_EL1N, &size);
            volatile uint8_t sink = bytes ? bytes[size - 1] : 0;
            (void)sink;
        }
    } else
        require(*ct_ctx_error(ctx) != '\0');
    ct_memory_free(memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[KNOWN] = {".text", ".init.text", ".plt"};
    struct ct_module_section sections[KNOWN];
    const struct ct_module_place place = {sections, KNOWN};
    char path[40];
    if (!size || size > MOST_BYTES)
        return 0;
    const int known = data[0] & 1;
    const size_t head = known ? 1 + 8 * KNOWN : 1;
    if (size <= head)
        return 0;
    for (size_t i = 0; known && i < KNOWN; i++) {
        sections[i].name = names[i];
        memcpy(&sections[i].addr, data + 1 + 8 * i, 8);
    }
    struct ct_ctx *ctx = ct_ctx_new();
    FILE *file = test_file(data + head, size - head, path);
    require(ctx && file);
    link_bytes(ctx, data + head, size - head, known ? &place : NULL);
    read_symbols(ctx, path, known ? &place : NULL);
    read_code(ctx, path, known ? &place : NULL);
    fclose(file);
    ct_ctx_free(ctx);
    return 0;
}
