/* SPDX-License-Identifier: Apache-2.0 */
/* Prints what the library reads about variables of an ELF file, one per line.
 *
 * usage: dump_variables FILE NAME... */
#include <inttypes.h>
#include <stdio.h>

#include "coretap/variable.h"

static void dump(const struct ct_variable *v)
{
    static const char *const forms[] = {"block", "signed", "unsigned", "real", "raw"};
    printf("0x%" PRIx64 "\t%" PRIu64 "\t%s\t%u\t%u\t%s\t%s\t", v->addr, v->size, forms[v->form], v->bit,
           v->bits, v->type, v->name);
    for (size_t i = 0; i < v->name_count; i++)
        printf("%s%s=%" PRId64, i ? " " : "", v->names[i].name, (int64_t)v->names[i].value);
    printf("\n");
}

int main(int argc, char **argv)
{
    struct ct_ctx *ctx = argc < 3 ? NULL : ct_ctx_new();
    if (!ctx)
        return 2;
    for (int i = 2; i < argc; i++) {
        struct ct_variable *variable;
        if (ct_variable_find(ctx, argv[1], NULL, argv[i], &variable) == CT_OK) {
            dump(variable);
            ct_variable_free(variable);
        } else {
            printf("error: %s\n", ct_ctx_error(ctx));
        }
    }
    ct_ctx_free(ctx);
    return 0;
}
