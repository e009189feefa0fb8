/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes named events: two bytes with the size of the section of names, the section, writes to ports of nine
 * bytes each. */
#include "coretap/named_event.h"
#include "fuzz.h"
#include "support/named_elf.h"

#include <stdlib.h>

/* Checks one named event: a short buffer gets the start of the whole text. */
static void look(const struct ct_named_event *named, const struct ct_named_table *table)
{
    char whole[4096];
    char part[16];
    require(named->entry && named->count <= named->entry->count &&
            named->cut == (named->count < named->entry->count));
    const size_t size = ct_named_event_text(named, table, 0, whole, sizeof whole);
    require(ct_named_event_text(named, table, 0, part, sizeof part) == size);
    const size_t shown = size < sizeof whole ? size : sizeof whole - 1;
    require(strlen(whole) <= shown && strlen(part) <= sizeof part - 1);
    require(memcmp(whole, part, shown < sizeof part - 1 ? shown : sizeof part - 1) == 0);
}

static void read_writes(const struct ct_named_table *table, const uint8_t *data, size_t size)
{
    struct ct_named_reader *reader;
    struct ct_named_event named;
    if (ct_named_reader_new(NULL, table, &reader) != CT_OK)
        return;
    for (; size >= 9; data += 9, size -= 9) {
        static const uint16_t bits[4] = {16, 32, 32, 8};
        struct ct_event e = {
            .type = CT_EVENT_SW, .a = CT_SW_STIMULUS, .b = bits[data[0] & 3], .extra = data[0] >> 6};
        memcpy(&e.value, data + 1, sizeof e.value);
        e.value &= (UINT64_C(1) << e.b) - 1;
        if (ct_named_reader_take(reader, &e, &named) == CT_NAMED_WHOLE)
            look(&named, table);
    }
    while (ct_named_reader_cut(reader, &named))
        look(&named, table);
    ct_named_reader_free(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ct_named_table *table;
    char path[40];
    if (size < 2)
        return 0;
    size_t names = data[0] | (size_t)data[1] << 8;
    names = names < size - 2 ? names : size - 2;
    uint8_t *file = malloc(NAMED_SECTION + names);
    const size_t bytes = file ? named_elf_build(file, data + 2, names, names) : 0;
    FILE *opened = file ? test_file(file, bytes, path) : NULL;
    if (opened && ct_named_table_load(NULL, path, &table) == CT_OK) {
        read_writes(table, data + 2 + names, size - 2 - names);
        ct_named_table_free(table);
    }
    if (opened)
        fclose(opened);
    free(file);
    return 0;
}
