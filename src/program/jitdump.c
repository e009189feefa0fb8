/* SPDX-License-Identifier: Apache-2.0 */
#include "program/jitdump.h"

#include <string.h>

#include "base/bytes.h"
#include "coretap/base.h"

#define MAGIC       0x4a695444u
#define FILE_HEADER 40 /* bytes */
#define HEADER      16 /* bytes of each record: id, size, timestamp */
#define LOAD_NAME   56 /* offset of the name in a record */
#define MOVE_SIZE   64

enum record {
    CODE_LOAD = 0,
    CODE_MOVE = 1,
};

bool ct_is_jitdump(const void *bytes, size_t size)
{
    return size >= FILE_HEADER && ct_load32(bytes) == MAGIC;
}

void ct_jitdump_begin(struct ct_jitdump *dump, const void *bytes, size_t size)
{
    const uint8_t *header = bytes;
    const uint32_t length = ct_load32(header + 8);
    const bool is_whole = length >= FILE_HEADER && length <= size;
    *dump = (struct ct_jitdump){
        .bytes = header, .size = size, .at = is_whole ? length : 0, .is_damaged = !is_whole};
}

void ct_jitdump_end(struct ct_jitdump *dump)
{
    ct_pair_map_free(&dump->loaded);
}

/* Reads code that was loaded: PID, TID, address where the program sees it first, address, size, index, name,
 * bytes. */
static bool read_load(const uint8_t *record, size_t size, struct ct_jit_code *code, uint64_t *index)
{
    if (size <= LOAD_NAME || !memchr(record + LOAD_NAME, 0, size - LOAD_NAME))
        return false;
    *code = (struct ct_jit_code){.name = (const char *)record + LOAD_NAME,
                                 .addr = ct_load64(record + 32),
                                 .size = ct_load64(record + 40)};
    *index = ct_load64(record + 48);
    return code->size <= UINT64_MAX - code->addr;
}

/* Reads code that was moved: PID, TID, virtual address, old address, new address, size, index. */
static bool read_move(const struct ct_jitdump *dump, const uint8_t *record, size_t size,
                      struct ct_jit_code *code, uint64_t *index)
{
    if (size < MOVE_SIZE)
        return false;
    *index = ct_load64(record + 56);
    *code = (struct ct_jit_code){.addr = ct_load64(record + 40),
                                 .size = ct_load64(record + 48),
                                 .same = ct_pair_map_get(&dump->loaded, *index, 0)};
    return code->size <= UINT64_MAX - code->addr;
}

int ct_jitdump_next(struct ct_jitdump *dump, uint32_t number, struct ct_jit_code *code, bool *found)
{
    *found = false;
    while (!dump->is_damaged && dump->at < dump->size) {
        const uint8_t *record = dump->bytes + dump->at;
        const size_t left = dump->size - dump->at;
        const uint32_t size = left >= HEADER ? ct_load32(record + 4) : 0;
        dump->is_damaged = size < HEADER || size > left;
        if (dump->is_damaged)
            break;
        const uint32_t id = ct_load32(record);
        uint64_t index;
        if (id == CODE_LOAD || id == CODE_MOVE) {
            dump->is_damaged = id == CODE_LOAD ? !read_load(record, size, code, &index)
                                               : !read_move(dump, record, size, code, &index);
            if (dump->is_damaged)
                break;
            const bool known = code->name || code->same != CT_PAIR_NONE;
            *found = known && code->size;
            dump->moves += !known;
        }
        dump->at += size;
        if (*found)
            return ct_pair_map_put(&dump->loaded, index, 0, number) ? CT_ERR_NOMEM : CT_OK;
    }
    return CT_OK;
}
