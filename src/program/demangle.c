/* SPDX-License-Identifier: Apache-2.0 */
/* Demangles names of C++ and Rust with libiberty's demanglers, which c++filt and gdb use. They know both
 * languages, and their licences have an exception for linking. Output is limited, because a short name can
 * stand for 2^60 characters. */
#include "base/printable.h"
#include "coretap/program.h"
#include "program/demangle.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#ifdef CT_HAVE_DEMANGLE
#include <libiberty/demangle.h>
#include <setjmp.h>

#define MOST_NAME (64u << 10) /* the longest name, mangled or not, in characters */

struct text {
    char *bytes;
    size_t size, room;
    jmp_buf give_up;
};

static void append(const char *part, size_t length, void *user)
{
    struct text *text = user;
    if (length > MOST_NAME - text->size)
        longjmp(text->give_up, 1); // NOLINT(cert-err52-cpp): the library has no other way to stop
    if (text->size + length >= text->room) {
        size_t room = 2 * (text->size + length) + 64;
        char *bytes = realloc(text->bytes, room);
        if (!bytes)
            longjmp(text->give_up, 1); // NOLINT(cert-err52-cpp)
        text->bytes = bytes;
        text->room = room;
    }
    memcpy(text->bytes + text->size, part, length);
    text->size += length;
    text->bytes[text->size] = '\0';
}

/* Writes the whole readable name to *text. Returns false when `name` is not mangled. */
static bool write_name(const char *name, struct text *text)
{
    const int style = DMGL_PARAMS | DMGL_ANSI;
    if (setjmp(text->give_up)) // NOLINT(cert-err52-cpp)
        return false;
    if (rust_demangle_callback(name, style, append, text))
        return true;
    text->size = 0;
    return cplus_demangle_v3_callback(name, style, append, text) != 0;
}

static bool is_mangled(const char *name)
{
    const char *first = name[0] == '_' && name[1] == '_' ? name + 1 : name;
    return first[0] == '_' && (first[1] == 'Z' || first[1] == 'R') && strlen(name) <= MOST_NAME;
}

/* Demangles a name of C++ or Rust. */
static char *read_mangled(const char *name)
{
    struct text text = {0};
    if (write_name(name, &text) && text.size)
        return text.bytes;
    free(text.bytes);
    return NULL;
}
#else
static bool is_mangled(const char *name)
{
    (void)name;
    return false;
}

static char *read_mangled(const char *name)
{
    (void)name;
    return NULL;
}
#endif

/* Demangles the name before `plt`, and appends `plt` again. */
static char *demangle_plt(const char *name, const char *plt)
{
    char *mangled = strndup(name, (size_t)(plt - name));
    char *plain = mangled ? ct_demangle(mangled) : NULL;
    free(mangled);
    const size_t length = plain ? strlen(plain) : 0;
    char *label = plain ? realloc(plain, length + strlen(plt) + 1) : NULL;
    if (label)
        memcpy(label + length, plt, strlen(plt) + 1);
    else
        free(plain);
    return label;
}

char *ct_demangle(const char *name)
{
    const char *plt = name ? strrchr(name, '@') : NULL;
    if (!name || !ct_demangle_may(name))
        return NULL;
    if (plt && strcmp(plt, "@plt") == 0)
        return demangle_plt(name, plt);
    char *plain = is_mangled(name) ? read_mangled(name) : ct_demangle_by_rules(name);
    /* A mangled name can stand for unprintable characters; then it is shown as it is. */
    if (!plain || ct_is_printable(plain))
        return plain;
    free(plain);
    return NULL;
}
