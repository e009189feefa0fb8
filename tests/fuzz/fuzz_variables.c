/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes variables in debug information. A name up to the first line feed, then an ELF file. What must hold:
 * a number has 1 to 64 bits, all within its bytes; the names of an enumeration end and are found by their
 * values. */
#include <stdlib.h>
#include <string.h>

#include "coretap/variable.h"
#include "fuzz.h"

#define MOST_BYTES 65536
#define MOST_NAME  100

static void check(const struct ct_variable *v)
{
    require(v->name && v->type && strlen(v->name) < MOST_BYTES);
    require(v->form <= CT_VARIABLE_RAW);
    if (v->form == CT_VARIABLE_BLOCK)
        require(v->name_count == 0);
    else
        require(v->bits >= 1 && v->bit + v->bits <= 64 && v->size <= 8 && v->bit + v->bits <= 8 * v->size);
    for (size_t i = 0; i < v->name_count; i++)
        require(strlen(v->names[i].name) > 0 ? ct_variable_value_name(v, v->names[i].value) != NULL : 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char name[MOST_NAME + 1];
    const uint8_t *end = size && size <= MOST_BYTES ? memchr(data, '\n', size) : NULL;
    if (!end || end - data > MOST_NAME)
        return 0;
    const size_t length = (size_t)(end - data);
    memcpy(name, data, length);
    name[length] = '\0';
    size -= length + 1;
    uint8_t *file = fuzz_file(end + 1, size);
    struct ct_variable *variable;
    if (ct_variable_find_bytes(NULL, "fuzz", file, size, name, &variable) == CT_OK) {
        check(variable);
        ct_variable_free(variable);
    }
    free(file);
    return 0;
}
