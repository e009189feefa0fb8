/* SPDX-License-Identifier: Apache-2.0 */
#include "format/program_match.h"

#include <string.h>

bool ct_identity_is(const struct ct_program_identity *a, const struct ct_program_identity *b)
{
    if (a->build_id_size != b->build_id_size)
        return false;
    return a->build_id_size ? memcmp(a->build_id, b->build_id, a->build_id_size) == 0
                            : strcmp(a->name, b->name) == 0;
}

bool ct_identity_is_of(const struct ct_program_identity *identity, struct ct_program *program)
{
    const struct ct_symbols *symbols;
    struct ct_program_identity other = {.name = program->path};
    if (ct_program_symbols(program, &symbols) != CT_OK)
        return false;
    other.build_id = ct_symbols_build_id(symbols, &other.build_id_size);
    return ct_identity_is(identity, &other);
}
