/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the file kallsyms next to a copy of a kernel's memory: its lines, and the functions made of them.
 * What must hold: names and modules are inside of their line; functions are in order, in code, and none
 * reaches into the next one. */
#include <elf.h>
#include <string.h>

#include "base/kallsyms.h"
#include "coretap/program.h"
#include "folder.h"

#define MOST_BYTES 16384
#define KERNEL     UINT64_C(0xffff800010000000)
#define SIZE       0x1000u

static void read_lines(char *text, size_t size)
{
    char *const end = text + size;
    for (char *at = text; at < end;) {
        struct ct_kallsyms_symbol symbol;
        char *const line = at;
        const int found = ct_kallsyms_read(&at, end, &symbol);
        require(at > line && at <= end);
        if (!found)
            continue;
        require(symbol.name > line && symbol.name_length && symbol.name + symbol.name_length <= at);
        require(!memchr(symbol.name, '\n', symbol.name_length));
        if (symbol.module_length)
            require(symbol.module > symbol.name && symbol.module[symbol.module_length] == ']' &&
                    symbol.module + symbol.module_length < at);
    }
}

static void check_symbols(const struct ct_symbols *symbols)
{
    size_t count;
    const struct ct_symbol *all = ct_symbols_all(symbols, &count);
    for (size_t i = 0; i < count; i++) {
        require(*all[i].name && strlen(all[i].name) <= MOST_BYTES);
        require(all[i].addr >= KERNEL && all[i].addr + all[i].size <= KERNEL + SIZE);
        require(i == 0 || all[i - 1].addr + all[i - 1].size <= all[i].addr);
    }
}

/* Loads the symbols of a kcore with one segment, in a folder of its own with the text as kallsyms. */
static void load(const char *text, size_t size)
{
    static struct {
        Elf64_Ehdr head;
        Elf64_Phdr segment;
        uint8_t code[SIZE];
    } core = {.head = {.e_ident = ELFMAG "\2\1\1",
                       .e_type = ET_CORE,
                       .e_machine = EM_AARCH64,
                       .e_version = 1,
                       .e_phoff = sizeof core.head,
                       .e_ehsize = sizeof core.head,
                       .e_phentsize = sizeof(Elf64_Phdr),
                       .e_phnum = 1},
              .segment = {.p_type = PT_LOAD,
                          .p_flags = PF_R | PF_X,
                          .p_offset = sizeof core.head + sizeof core.segment,
                          .p_vaddr = KERNEL,
                          .p_filesz = SIZE,
                          .p_memsz = SIZE}};
    struct folder folder;
    struct ct_symbols *symbols;
    folder_begin(&folder);
    const char *kcore = folder_add(&folder, "kcore", &core, sizeof core);
    folder_add(&folder, "kallsyms", text, size);
    if (ct_symbols_load(NULL, kcore, 0, &symbols) == CT_OK) {
        check_symbols(symbols);
        ct_symbols_free(symbols);
    }
    folder_end(&folder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size || size > MOST_BYTES)
        return 0;
    char *text = malloc(size + 1);
    require(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    load(text, size);
    read_lines(text, size);
    free(text);
    return 0;
}
