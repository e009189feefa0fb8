/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes ELF files, as memory, as symbols and as a layout. One byte that selects the load bias, then the
 * file. What must hold: functions are in order, stay in the address space and are found at their first byte
 * unless another one is there; pieces of code between functions are in none; memory that is found can be read
 * to its end. */
#include <stdlib.h>
#include <string.h>

#include "coretap/program.h"
#include "fuzz.h"
#include "program/layout.h"
#include "program/memory.h"

/* Larger inputs are no better test, and segments of many pages are slow. */
#define MOST_BYTES 65536

static void check_symbols(const struct ct_symbols *symbols)
{
    size_t count;
    const struct ct_symbol *all = ct_symbols_all(symbols, &count);
    for (size_t i = 0; i < count; i++) {
        require(i == 0 || all[i - 1].addr < all[i].addr);
        require(all[i].addr + all[i].size >= all[i].addr);
        require(strlen(all[i].name) < MOST_BYTES);
        uint64_t offset;
        const struct ct_symbol *found = ct_symbols_at(symbols, all[i].addr, &offset);
        require(all[i].size == 0 || (found == &all[i] && offset == 0));
        found = ct_symbols_at(symbols, all[i].addr + all[i].size, &offset);
        require(!found || offset < found->size);
    }
    const size_t functions = count;
    all = ct_symbols_all_code(symbols, &count);
    for (size_t i = 0; i < count; i++) {
        char text[64];
        require(ct_symbols_label(symbols, &all[i]) != NULL);
        require(strlen(ct_symbols_describe(symbols, all[i].addr, text, sizeof text)) < sizeof text);
        require(all[i].size == 0 || ct_symbols_code_at(symbols, all[i].addr, NULL) == &all[i]);
        require(i < functions || (all[i].size && all[i].source == CT_SYMBOL_CODE));
    }
    size_t size;
    const uint8_t *id = ct_symbols_build_id(symbols, &size);
    require((id != NULL) == (size != 0));
}

/* Reads the first and the last byte of the memory at an address. */
static void read_ends(const struct ct_memory *memory, uint64_t addr)
{
    size_t size;
    const uint8_t *bytes = ct_memory_at(memory, addr, CT_SPACE_EL1N, &size);
    if (!bytes)
        return;
    volatile uint8_t sink = bytes[0];
    sink = bytes[size - 1];
    (void)sink;
}

static void load_memory(const uint8_t *data, size_t size, uint64_t bias)
{
    struct ct_mapped_file *file = calloc(1, sizeof *file + sizeof "fuzz");
    struct ct_memory *memory;
    if (!file || ct_memory_new(NULL, &memory) != CT_OK)
        exit(1);
    file->bytes = data;
    file->size = size;
    memcpy(file->path, "fuzz", sizeof "fuzz");
    (void)ct_memory_add_elf(memory, file, bias, CT_SPACE_ANY);
    for (size_t at = 0; at + 8 <= size && at < 1024; at += 8) {
        uint64_t addr;
        memcpy(&addr, data + at, sizeof addr);
        read_ends(memory, addr + bias);
        read_ends(memory, (uint32_t)addr + bias);
    }
    ct_memory_free(memory);
    free(file);
}

static void load_layout(const uint8_t *data, size_t size, uint64_t bias)
{
    struct ct_layout *layout;
    if (ct_layout_make(NULL, "fuzz", data, size, bias, &layout) != CT_OK)
        return;
    for (size_t i = 0; i < layout->object_count; i++)
        require(*layout->objects[i].name && strlen(layout->objects[i].name) < MOST_BYTES);
    for (size_t i = 0; i < layout->section_count; i++)
        require(strlen(layout->sections[i].name) < MOST_BYTES && layout->sections[i].size);
    ct_layout_free(layout);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 || size > MOST_BYTES)
        return 0;
    uint64_t bias = (uint64_t)data[0] << 56;
    uint8_t *file = fuzz_file(data + 1, --size);
    struct ct_symbols *symbols;
    if (ct_symbols_load_bytes(NULL, "fuzz", file, size, bias, &symbols) == CT_OK) {
        check_symbols(symbols);
        ct_symbols_free(symbols);
    }
    load_memory(file, size, bias);
    load_layout(file, size, bias);
    free(file);
    return 0;
}
