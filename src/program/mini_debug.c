/* SPDX-License-Identifier: Apache-2.0 */
/* .gnu_debugdata, which distributions call MiniDebugInfo: an ELF file with the
 * symbols of functions, packed by xz. */
#include "base/ctx.h"
#include "program/symbols.h"

#ifdef CT_HAVE_LZMA
#include <lzma.h>
#include <stdlib.h>

#define MOST_MEMORY (UINT64_C(128) << 20) /* that unpacking may take: xz -9 asks for 65 MiB */
#define MOST_RATIO                                                                                           \
    ((size_t)1 << 10) /* symbols are packed to a fifth; far more is no file that anyone made to be read */
#define FIRST_ROOM ((size_t)256 << 10)

/* Unpacks as long as the stream goes on and stays below `most` bytes. Result:
 * LZMA_STREAM_END when it was whole. */
static lzma_ret unpack(lzma_stream *stream, uint8_t **out, size_t *size, size_t most)
{
    size_t room = 0;
    lzma_ret result = LZMA_OK;
    while (result == LZMA_OK) {
        if (*size == room) {
            if (room >= most)
                return LZMA_MEMLIMIT_ERROR;
            room = room ? 2 * room : FIRST_ROOM;
            room = room < most ? room : most;
            uint8_t *more = realloc(*out, room);
            if (!more)
                return LZMA_MEM_ERROR;
            *out = more;
        }
        stream->next_out = *out + *size;
        stream->avail_out = room - *size;
        result = lzma_code(stream, LZMA_FINISH);
        *size = room - stream->avail_out;
    }
    return result;
}

int ct_mini_debug(const struct ct_collector *c, uint64_t limit, uint8_t **out, size_t *size)
{
    GElf_Shdr header;
    lzma_stream stream = LZMA_STREAM_INIT;
    Elf_Scn *scn = ct_elf_section(c->elf, ".gnu_debugdata", &header);
    Elf_Data *data = scn ? elf_rawdata(scn, NULL) : NULL;
    *out = NULL;
    *size = 0;
    if (!data || !data->d_buf || data->d_size == 0)
        return CT_OK;
    size_t most = data->d_size > limit / MOST_RATIO ? (size_t)limit : data->d_size * MOST_RATIO;
    lzma_ret result = lzma_stream_decoder(&stream, MOST_MEMORY, 0);
    if (result == LZMA_OK) {
        stream.next_in = data->d_buf;
        stream.avail_in = data->d_size;
        result = unpack(&stream, out, size, most < FIRST_ROOM && FIRST_ROOM < limit ? FIRST_ROOM : most);
    }
    lzma_end(&stream);
    if (result == LZMA_STREAM_END && *size)
        return CT_OK;
    free(*out);
    *out = NULL;
    *size = 0;
    if (result == LZMA_MEM_ERROR)
        return ct_fail_nomem(c->ctx, c->name);
    ct_log(c->ctx, CT_LOG_WARNING, "%s: .gnu_debugdata %s, so its names are not known", c->name,
           result == LZMA_MEMLIMIT_ERROR ? "has more unpacked than symbols need, or than --debug-limit allows"
                                         : "cannot be unpacked: it is cut or damaged");
    return CT_OK;
}
#else
int ct_mini_debug(const struct ct_collector *c, uint64_t limit, uint8_t **out, size_t *size)
{
    GElf_Shdr header;
    (void)limit;
    *out = NULL;
    *size = 0;
    if (ct_elf_section(c->elf, ".gnu_debugdata", &header))
        ct_log(c->ctx, CT_LOG_NOTE,
               "%s: .gnu_debugdata has names that this coretap was built without (liblzma)", c->name);
    return CT_OK;
}
#endif
