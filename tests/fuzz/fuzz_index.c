/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes index files, whose checksum is corrected so that the rest is read. What must hold: an index that was
 * read is written as a file with the same content, which reads and writes to the same bytes. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "session/index_file.h"

#define HEAD       16u
#define MOST_BYTES 65536u

/* Checks that points ascend, so that they can be searched. */
static void look_at(const struct ct_index *index)
{
    for (size_t i = 0; i < CT_INDEX_STREAMS; i++)
        for (size_t k = 1; k < index->streams[i].count; k++)
            require(index->streams[i].points[k - 1].offset < index->streams[i].points[k].offset);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ct_index_identity of = {0};
    struct ct_index *index, *again;
    if (size < HEAD + sizeof of + 8 || size > MOST_BYTES)
        return 0;
    uint8_t *file = fuzz_file(data, size);
    memcpy(&of, file + HEAD, sizeof of);
    const size_t count = (size - HEAD) / 8;
    const uint64_t sum = ct_index_sum(file + HEAD, count - 1);
    memcpy(file + HEAD + 8 * (count - 1), &sum, sizeof sum);
    if (!ct_index_read(NULL, "fuzz", file, size, &of, &index) && index) {
        void *once, *twice;
        size_t once_size, twice_size;
        look_at(index);
        require(ct_index_write(NULL, index, &of, &once, &once_size) == CT_OK);
        require(ct_index_read(NULL, "fuzz", once, once_size, &of, &again) == CT_OK && again);
        require(ct_index_write(NULL, again, &of, &twice, &twice_size) == CT_OK);
        require(once_size == twice_size && memcmp(once, twice, once_size) == 0);
        free(once);
        free(twice);
        ct_index_free(again);
        ct_index_free(index);
    }
    free(file);
    return 0;
}
