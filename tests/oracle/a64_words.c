/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the instruction words of a file as coretap's disassembler shows them, one per line: word, text. */
#include "format/a64_words.h"

#include <inttypes.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
    uint8_t word[4];
    char text[192];
    if (!file)
        return 2;
    while (fread(word, sizeof word, 1, file) == 1) {
        const uint32_t op =
            word[0] | (uint32_t)word[1] << 8 | (uint32_t)word[2] << 16 | (uint32_t)word[3] << 24;
        printf("%08" PRIx32 " %s\n", op, ct_a64_words(op, text, sizeof text) ? text : "-");
    }
    fclose(file);
    return 0;
}
