/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the user's file of targets. Its lines are: "PLACE: PLACE…", a computed branch or call and its
 * targets; "learnt PLACE: PLACE…", the same, from a trace; "noreturn FUNCTION"; "function PLACE", code that
 * nothing in the program calls. A place is an address, a symbol, or a symbol with an offset (main+0x20). #
 * begins a comment. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "program/cfg.h"

#define LONGEST 4096

struct line {
    struct ct_cfg *cfg;
    const char *file;
    unsigned number;
    bool before_blocks;
};

static int mistake(const struct line *line, const char *what, const char *word)
{
    ct_fail(line->cfg->ctx, CT_ERR_FORMAT,
            "%s:%u: %s: '%s'; write the line as \"PLACE: PLACE…\", \"noreturn FUNCTION\" or \"function "
            "PLACE\" (docs/analysis.md)",
            line->file, line->number, what, word);
    return CT_ERR_FORMAT;
}

static const struct ct_symbol *symbol_named(const struct ct_cfg *cfg, const char *name, size_t length)
{
    size_t count;
    const struct ct_symbol *all = ct_symbols_all(cfg->symbols, &count);
    for (size_t i = 0; i < count; i++)
        if (strncmp(all[i].name, name, length) == 0 && all[i].name[length] == '\0')
            return &all[i];
    return NULL;
}

/* Returns the instruction set at a place, which is that of its function. Without a function it is A64, or in
 * a 32-bit program A32, or T32 if bit 0 is set. */
static enum ct_isa isa_at(const struct ct_cfg *cfg, uint64_t *addr)
{
    if (cfg->is_a64)
        return CT_ISA_A64;
    const struct ct_symbol *symbol = ct_symbols_at(cfg->symbols, *addr & ~UINT64_C(1), NULL);
    bool t32 = *addr & 1 || (symbol && symbol->isa == CT_ISA_T32);
    *addr &= ~UINT64_C(1);
    return t32 ? CT_ISA_T32 : CT_ISA_A32;
}

static int place(const struct line *line, const char *word, uint64_t *addr, enum ct_isa *isa)
{
    const char *plus = strrchr(word, '+');
    const char *number = isdigit((unsigned char)word[0]) ? word : plus ? plus + 1 : NULL;
    uint64_t base = line->cfg->bias;
    *addr = 0;
    if (number) {
        char *end;
        errno = 0;
        *addr = strtoull(number, &end, 0);
        if (errno || *end || end == number)
            return mistake(line, "this is not a number", number);
    }
    if (number != word) {
        const size_t length = plus ? (size_t)(plus - word) : strlen(word);
        const struct ct_symbol *symbol = symbol_named(line->cfg, word, length);
        const char *module = ct_symbols_module(line->cfg->symbols);
        if (!symbol && (!plus || strncmp(module, word, length) != 0 || module[length]))
            return mistake(line, "there is no such function", word);
        base = symbol ? symbol->addr : line->cfg->bias;
    }
    *addr += base;
    *isa = isa_at(line->cfg, addr);
    return CT_OK;
}

static int make_function(struct ct_cfg *cfg, uint64_t addr, enum ct_isa isa, uint32_t *function)
{
    const struct ct_symbol *symbol = ct_symbols_at(cfg->symbols, addr, NULL);
    return ct_cfg_function_make(cfg, addr, isa, symbol && symbol->addr == addr ? symbol->name : NULL,
                                function);
}

static int entry(const struct line *line, const char *word, uint32_t *function)
{
    uint64_t addr;
    enum ct_isa isa;
    int rc = place(line, word, &addr, &isa) ?: make_function(line->cfg, addr, isa, function);
    if (!rc && *function == CT_CFG_NONE)
        return mistake(line, "there is no code at this place", word);
    return rc;
}

/* Records that a function does not return, as if it had no return. */
static int no_return(const struct line *line, const char *word)
{
    uint32_t function;
    const int rc = entry(line, word, &function);
    if (!rc)
        line->cfg->funcs.at[function].never = true;
    return rc;
}

static int targets(const struct line *line, const char *from, char *rest, enum ct_cfg_origin origin)
{
    uint64_t branch;
    enum ct_isa isa;
    char *save;
    int rc = place(line, from, &branch, &isa);
    for (char *word = strtok_r(rest, " \t,", &save); !rc && word; word = strtok_r(NULL, " \t,", &save)) {
        uint64_t addr;
        uint32_t edge;
        rc = place(line, word, &addr, &isa) ?: ct_cfg_add_edge(line->cfg, branch, addr, isa, origin, &edge);
        if (rc == CT_ERR_NOT_FOUND)
            return mistake(line, "there is no computed branch at this place, or its target is not code",
                           from);
    }
    return rc;
}

static int read_line(const struct line *line, char *text)
{
    char *save;
    char *colon = strchr(text, ':');
    if (colon && line->before_blocks)
        return CT_OK;
    if (colon) {
        *colon = '\0';
        const char *from = strtok_r(text, " \t", &save);
        const char *place_of = from ? strtok_r(NULL, " \t", &save) : NULL;
        bool learnt = place_of && strcmp(from, "learnt") == 0;
        if (!from || (place_of && !learnt))
            return mistake(line, from ? "exactly one place must be before the ':'" : "the place is missing",
                           text);
        return targets(line, learnt ? place_of : from, colon + 1, learnt ? CT_CFG_LEARNT : CT_CFG_USER);
    }
    const char *verb = strtok_r(text, " \t", &save);
    const char *word = verb ? strtok_r(NULL, " \t", &save) : NULL;
    if (!verb || !line->before_blocks)
        return CT_OK;
    if (word && strcmp(verb, "noreturn") == 0)
        return no_return(line, word);
    if (word && strcmp(verb, "function") == 0)
        return entry(line, word, &(uint32_t){0});
    return mistake(line, "the line has an unknown form", verb);
}

int ct_cfg_targets_read(struct ct_cfg *cfg, const char *name, const char *text, bool before_blocks)
{
    struct line line = {.cfg = cfg, .file = name ? name : "targets", .before_blocks = before_blocks};
    int rc = CT_OK;
    while (!rc && *text) {
        char copy[LONGEST];
        size_t length = strcspn(text, "\n");
        size_t used = strcspn(text, "\n#\r");
        line.number++;
        if (used >= sizeof copy)
            return mistake(&line, "the line is longer than 4095 characters", "…");
        memcpy(copy, text, used);
        copy[used] = '\0';
        rc = read_line(&line, copy);
        text += length + (text[length] == '\n');
    }
    return rc;
}
