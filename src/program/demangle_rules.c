/* SPDX-License-Identifier: Apache-2.0 */
/* Demangles names of Fortran, OCaml and Haskell. Names of other languages may look similar by chance, so a
 * name must have several signs of its language. */
#include "program/demangle.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char fortran[] = "__", procedure[] = "_MOD_", ocaml[] = "caml";

static bool begins(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

static bool ends(const char *name, const char *with)
{
    const size_t length = strlen(name), end = strlen(with);
    return length >= end && strcmp(name + length - end, with) == 0;
}

/* Returns whether the suffix is one that GHC gives to code of functions. */
static bool is_code_of_ghc(const char *name)
{
    return ends(name, "_info") || ends(name, "_slow");
}

bool ct_demangle_may(const char *name)
{
    return name[0] == '_' || begins(name, ocaml) || is_code_of_ghc(name);
}

/* ---- Fortran ---- */

/* Reads a name of gfortran, which writes `work` of module `grid` as `__grid_MOD_work`, in lower case. */
static char *read_fortran(const char *name)
{
    const char *module = name + strlen(fortran), *mark = strstr(module, procedure);
    if (!mark || mark == module || !mark[strlen(procedure)])
        return NULL;
    for (const char *p = module; p < mark; p++)
        if (isupper((unsigned char)*p))
            return NULL;
    char *plain = malloc(strlen(name));
    if (!plain)
        return NULL;
    const size_t length = (size_t)(mark - module);
    memcpy(plain, module, length);
    strcpy(plain + length, "::");
    strcpy(plain + length + 2, mark + strlen(procedure));
    return plain;
}

/* ---- OCaml ---- */

static int hex(char digit)
{
    return isdigit((unsigned char)digit) ? digit - '0' : digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

/* Reads a name of ocamlopt, which writes `map` of module List in Stdlib as `camlStdlib__List__map_123`, and
 * special characters as `$3e`. The number is kept, because only it distinguishes functions of one name. */
static char *read_ocaml(const char *name)
{
    const char *p = name + strlen(ocaml);
    if (!isupper((unsigned char)*p))
        return NULL;
    char *plain = malloc(strlen(p) + 1), *to = plain;
    while (plain && *p) {
        const int high = p[0] == '$' ? hex(p[1]) : -1, low = high >= 0 ? hex(p[2]) : -1;
        if (p[0] == '_' && p[1] == '_' && (p[2] == '$' || isalpha((unsigned char)p[2]))) {
            *to++ = '.';
            p += 2;
        } else if (low >= 0) {
            *to++ = (char)(16 * high + low);
            p += 3;
        } else {
            *to++ = *p++;
        }
    }
    if (plain)
        *to = '\0';
    return plain;
}

/* ---- Haskell ---- */

/* Reads one character of GHC's z-encoding. Returns the text after it; NULL: there is none. */
static const char *read_z(const char *p, char *c)
{
    static const char encoded[] =
        "za&zb|zc^zd$ze=zg>zh#zi.zl<zm-zn!zp+zq'zr\\zs/zt*zu_zv%zzzZL(ZR)ZM[ZN]ZC:ZZZ";
    for (const char *row = encoded; *row; row += 3)
        if (row[0] == p[0] && row[1] == p[1]) {
            *c = row[2];
            return p + 2;
        }
    /* Other characters are numbers in hexadecimal: z2cU is a comma. */
    char *end;
    const unsigned long code = isdigit((unsigned char)p[1]) ? strtoul(p + 1, &end, 16) : 0;
    *c = (char)code;
    return p[0] == 'z' && code >= ' ' && code < 0x7f && *end == 'U' ? end + 1 : NULL;
}

/* Returns whether a name belongs to a module with a dot in its name, or to a function whose name starts with
 * a dollar. */
static bool is_of_haskell(const char *name)
{
    for (const char *dot = strstr(name, "zi"); dot; dot = strstr(dot + 1, "zi"))
        if (isupper((unsigned char)dot[2]))
            return true;
    return strstr(name, "_zd");
}

static char *read_haskell(const char *name)
{
    char *plain = is_of_haskell(name) ? malloc(strlen(name) + 1) : NULL, *to = plain;
    for (const char *p = name; plain && p && *p;) {
        const char *behind = *p == 'z' || *p == 'Z' ? read_z(p, to) : NULL;
        if (!behind)
            *to = *p;
        to++;
        p = behind ? behind : p + 1;
    }
    if (plain)
        *to = '\0';
    return plain;
}

char *ct_demangle_by_rules(const char *name)
{
    if (begins(name, fortran))
        return read_fortran(name);
    if (begins(name, ocaml))
        return read_ocaml(name);
    return is_code_of_ghc(name) ? read_haskell(name) : NULL;
}
