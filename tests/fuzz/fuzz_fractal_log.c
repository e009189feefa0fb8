/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes event logs: any bytes can be read to the end, twice with the same result. */
#include <stdlib.h>
#include <string.h>

#include "coretap/fractal.h"
#include "fuzz.h"

static uint64_t read_all(struct ct_fractal_reader *r)
{
    struct ct_fractal_event e[37];
    uint64_t sum = 0;
    size_t n;
    while ((n = ct_fractal_reader_next(r, e, 37)))
        for (size_t i = 0; i < n; i++)
            sum = sum * 31 + e[i].time + e[i].va + e[i].pa + e[i].point + e[i].op + e[i].flags;
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ct_fractal_reader *r;
    if (ct_fractal_reader_open_bytes(NULL, data, size, &r))
        return 0;
    uint64_t dropped[2], damaged[2];
    const uint64_t first = read_all(r);
    ct_fractal_reader_losses(r, &dropped[0], &damaged[0]);
    const size_t text = strlen(ct_fractal_reader_info(r)->text);
    ct_fractal_reader_rewind(r);
    const uint64_t second = read_all(r);
    ct_fractal_reader_losses(r, &dropped[1], &damaged[1]);
    if (first != second || dropped[0] != dropped[1] || damaged[0] != damaged[1] || damaged[0] > size ||
        text != strlen(ct_fractal_reader_info(r)->text))
        abort();
    ct_fractal_reader_free(r);
    return 0;
}
