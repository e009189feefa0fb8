/* SPDX-License-Identifier: Apache-2.0 */
/* Prints how the A64 classifier classifies the words of a file, one per line: word, type, sub type,
 * condition, target. The first word is at address 0. */
#include "coretap/program.h"

#include <inttypes.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    static const char *const types[] = {"other", "br", "ibr", "isb", "dsb", "wfi", "tstart"};
    const struct ct_arch newest = {9, 6, CT_PROFILE_A, 1};
    FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
    uint8_t word[4];
    if (!file)
        return 2;
    for (uint64_t at = 0; fread(word, sizeof word, 1, file) == 1; at += sizeof word) {
        struct ct_insn insn;
        uint32_t op = word[0] | (uint32_t)word[1] << 8 | (uint32_t)word[2] << 16 | (uint32_t)word[3] << 24;
        ct_insn_decode_a64(op, at, &newest, &insn);
        printf("%08" PRIx32 " %s %u %u %" PRIx64 "\n", op, types[insn.type], insn.sub, insn.cond,
               insn.target);
    }
    fclose(file);
    return 0;
}
