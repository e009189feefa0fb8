/* SPDX-License-Identifier: Apache-2.0 */
/* .gnu_debugdata, which distributions call MiniDebugInfo: an ELF file with the symbols of functions,
 * compressed by xz. */
#include "base/ctx.h"
#include "base/unpack.h"
#include "program/symbols.h"

#define MOST_RATIO                                                                                           \
    ((size_t)1 << 10) /* symbols are packed to a fifth; far more is no file that anyone made to be read */
#define FIRST_ROOM ((size_t)256 << 10)

static const char *reason_of(int rc)
{
    if (rc == CT_ERR_UNSUPPORTED)
        return "is compressed with xz, which this coretap was built without (liblzma)";
    return rc == CT_ERR_LIMIT ? "is larger when decompressed than symbols need, or than --debug-limit allows"
                              : "cannot be decompressed because it is truncated or damaged";
}

int ct_mini_debug(const struct ct_collector *c, uint64_t limit, uint8_t **out, size_t *size)
{
    GElf_Shdr header;
    Elf_Scn *scn = ct_elf_section(c->elf, ".gnu_debugdata", &header);
    Elf_Data *data = scn ? elf_rawdata(scn, NULL) : NULL;
    *out = NULL;
    *size = 0;
    if (!data || !data->d_buf || data->d_size == 0)
        return CT_OK;
    size_t most = data->d_size > limit / MOST_RATIO ? (size_t)limit : data->d_size * MOST_RATIO;
    most = most < FIRST_ROOM && FIRST_ROOM < limit ? FIRST_ROOM : most;
    const int rc = ct_unpack_is(data->d_buf, data->d_size)
                       ? ct_unpack(c->ctx, c->name, data->d_buf, data->d_size, most, out, size)
                       : CT_ERR_FORMAT;
    if (rc && rc != CT_ERR_NOMEM)
        ct_log(c->ctx, CT_LOG_WARNING, "%s: .gnu_debugdata %s, so its symbols are unknown", c->name,
               reason_of(rc));
    return rc == CT_ERR_NOMEM ? rc : CT_OK;
}
