/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes branch lists of simpleperf. What must hold: nothing of an unreadable file is taken; a file that was
 * read is written as a file that reads and writes to the same bytes. */
#include "coretap/branch_list.h"
#include "written.h"

/* Reads a file and returns what is written of it, which has no bytes when the file cannot be read. */
static struct written read_and_write(struct ct_ctx *ctx, const void *data, size_t size)
{
    struct ct_branch_list *list;
    struct written file = {0};
    require(ct_branch_list_new(ctx, &list) == CT_OK);
    if (ct_branch_list_load(list, "input", data, size) == CT_OK) {
        for (uint32_t i = 0; i < ct_branch_list_binaries(list); i++)
            require(*ct_branch_list_binary_at(list, i).path);
        require(ct_branch_list_write(list, written_append, &file) == CT_OK);
        require(ct_branch_list_is_file(file.bytes, file.size));
    } else
        require(!ct_branch_list_binaries(list) && *ct_ctx_error(ctx));
    ct_branch_list_free(list);
    return file;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return written_twice(read_and_write, data, size);
}
