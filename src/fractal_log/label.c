/* SPDX-License-Identifier: Apache-2.0 */
#include "fractal_log/label.h"

#include <stdio.h>
#include <string.h>

static bool continues_character(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80; /* of UTF-8 */
}

static size_t characters(const char *text)
{
    size_t n = 0;
    for (; *text; text++)
        n += !continues_character(*text);
    return n;
}

/* Copies a demangled function without what is between < and >, or ( and ). Everything before the last space
 * outside of them is the return type. An operator keeps its name: "operator<", "operator()", "operator new".
 */
static void copy_function(const char *name, char *out, size_t room)
{
    static const char word[] = "operator";
    size_t n = 0;
    int depth = 0;
    while (*name && n + 1 < room) {
        const bool is_operator = !depth && strncmp(name, word, sizeof word - 1) == 0;
        if (is_operator) {
            const size_t symbol = strspn(name + sizeof word - 1, "<>=-+!*/%&|^~,[]");
            size_t length = sizeof word - 1 + symbol;
            if (!symbol && strncmp(name + length, "()", 2) == 0)
                length += 2;
            else if (!symbol && name[length] == ' ')
                length += strcspn(name + length, "<(");
            for (; length && n + 1 < room; length--)
                out[n++] = *name++;
            continue;
        }
        const char c = *name++;
        const bool opens = c == '<' || c == '(', closes = c == '>' || c == ')';
        depth += opens ? 1 : closes && depth ? -1 : 0;
        if (depth || opens || closes)
            continue;
        if (c == ' ' && strcmp(name, "const") == 0)
            break; /* of a member function */
        if (c != ' ')
            out[n++] = c;
        else if (*name != '<') /* not the template arguments of "operator< <int>" */
            n = 0;
    }
    out[n] = '\0';
}

bool ct_fractal_label(const char *name, size_t most, char *label, size_t room)
{
    char text[1024];
    if (characters(name) <= most)
        return false;
    const char *file = strrchr(name, '/');
    if (*name == '/' && file[1])
        snprintf(text, sizeof text, "%s", file + 1);
    else if (strchr(name, '('))
        copy_function(name, text, sizeof text);
    else
        snprintf(text, sizeof text, "%s", name);
    const char *from = text;
    for (size_t n = characters(text), cut = n > most ? n - most + 1 : 0; cut; cut--)
        do
            from++;
        while (continues_character(*from));
    snprintf(label, room, "%s%s", from == text ? "" : "\u2026", from);
    return true;
}
