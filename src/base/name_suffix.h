/* SPDX-License-Identifier: Apache-2.0 */
/* Suffixes that compilers add to the names of copies and parts of functions. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* The relation of a symbol to a function, from its name. With several suffixes all their bits are set. */
enum ct_name_suffix {
    CT_NAME_COPY = 1,  /* a variant of the function for some of its calls, or under another name: it is
                          entered like the function */
    CT_NAME_COLD = 2,  /* its seldom executed code */
    CT_NAME_PART = 4,  /* what follows its first conditions, as a function that the rest calls */
    CT_NAME_WHOLE = 8, /* the function, named without its parameters, which C++ appends to the name */
};

/* Reads one suffix, as in a symbol (".isra.0", ".cold") or as written by demanglers (" [clone .isra.0]").
 * Returns the text after it, and adds to *kinds; NULL: there is no known suffix. */
static inline const char *ct_name_suffix(const char *text, unsigned *kinds)
{
    static const struct {
        const char *text;
        unsigned kind;
    } known[] = {{".constprop", CT_NAME_COPY}, {".isra", CT_NAME_COPY}, {".lto_priv", CT_NAME_COPY},
                 {".llvm", CT_NAME_COPY},      {".part", CT_NAME_PART}, {".cold", CT_NAME_COLD}};
    static const char clone[] = " [clone ";
    const bool spelt_out = strncmp(text, clone, sizeof clone - 1) == 0;
    text += spelt_out ? sizeof clone - 1 : 0;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const size_t length = strlen(known[i].text);
        if (strncmp(text, known[i].text, length) != 0)
            continue;
        text += length;
        text += *text == '.' ? 1 + strspn(text + 1, "0123456789") : 0;
        *kinds |= known[i].kind;
        return !spelt_out ? text : *text == ']' ? text + 1 : NULL;
    }
    return NULL;
}

/* Returns the text after the parameters of a C++ function and their qualifiers, or `text` itself. */
static inline const char *ct_name_behind_parameters(const char *text)
{
    static const char *const qualifiers[] = {" const", " volatile", " &&", " &"};
    const char *end = text;
    size_t depth = 0;
    if (*text != '(')
        return text;
    do {
        depth += *end == '(';
        depth -= *end++ == ')';
    } while (depth && *end);
    if (depth)
        return text;
    for (size_t i = 0; i < sizeof qualifiers / sizeof *qualifiers; i++) {
        const size_t length = strlen(qualifiers[i]);
        end += strncmp(end, qualifiers[i], length) == 0 ? length : 0;
    }
    return end;
}

/* Returns the relation of a symbol called `name` to the function `of`: bits of enum ct_name_suffix; 0:
 * none. */
static inline unsigned ct_name_is_of(const char *name, const char *of)
{
    const size_t length = strlen(of);
    unsigned kinds;
    if (strncmp(name, of, length) != 0)
        return 0;
    const char *rest = ct_name_behind_parameters(name + length);
    kinds = rest > name + length ? CT_NAME_WHOLE : 0;
    while (rest && *rest)
        rest = ct_name_suffix(rest, &kinds);
    return rest ? kinds : 0;
}

/* Returns true when calling the symbol `name` means entering the function `of`: it is the whole or a copy. */
static inline bool ct_name_enters(const char *name, const char *of)
{
    const unsigned kinds = ct_name_is_of(name, of);
    return kinds && !(kinds & ~(unsigned)(CT_NAME_COPY | CT_NAME_WHOLE));
}

/* Returns true when `name` is a part of function `of`: "name.cold" and "name.cold.1" are parts of "name". */
static inline bool ct_is_cold_part(const char *name, const char *of)
{
    return ct_name_is_of(name, of) == CT_NAME_COLD;
}
