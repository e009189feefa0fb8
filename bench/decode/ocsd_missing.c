/* SPDX-License-Identifier: Apache-2.0 */
#include "bench.h"

const char *bench_ocsd_missing(void)
{
    return "libopencsd is not there (Debian: libopencsd-dev): its columns are missing";
}

double bench_ocsd(const struct bench_input *input, enum bench_level level)
{
    (void)input, (void)level;
    return -1;
}
