/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include "itm.h"

#include <dlfcn.h>
#include <string.h>

#include "guest.h"

/* Offsets of registers (DDI 0403E, table C1-8). */
enum {
    TER = 0xe00, /* eight words: a bit for each stimulus port */
    TER_SIZE = 0x20,
    TCR = 0xe80,
};

#define PORTS_SIZE   0x400u
#define TCR_ALL_ON   0x1000fu /* ITMENA, TSENA, SYNCENA, TXENA; a trace bus ID */
#define REGION_ROOM  4096u    /* bytes of a MemoryRegion of QEMU, at most */
#define LITTLE       2        /* DEVICE_LITTLE_ENDIAN */
#define IN_THE_FRONT 100      /* before all other regions */

/* How QEMU calls a device: its MemoryRegionOps. */
struct device {
    uint64_t (*read)(void *opaque, uint64_t addr, unsigned size);
    void (*write)(void *opaque, uint64_t addr, uint64_t data, unsigned size);
    const void *with_attributes[2];
    int endianness;
    struct sizes {
        unsigned least, most;
        bool unaligned;
        const void *accepts;
    } valid, implemented;
};

static uint8_t stored[ITM_SIZE];
static bool added;

static uint64_t on_read(void *opaque, uint64_t addr, unsigned size)
{
    uint64_t value = 0;
    (void)opaque;
    if (addr < PORTS_SIZE)
        return 1;
    if (addr + size <= ITM_SIZE)
        memcpy(&value, stored + addr, size);
    return value;
}

static void on_write(void *opaque, uint64_t addr, uint64_t data, unsigned size)
{
    (void)opaque;
    if (addr + size <= ITM_SIZE)
        memcpy(stored + addr, &data, size);
}

bool itm_stored(uint64_t addr, void *out, size_t size)
{
    if (!added || addr < ITM_BASE || addr - ITM_BASE + size > ITM_SIZE)
        return false;
    memcpy(out, stored + (addr - ITM_BASE), size);
    return true;
}

bool itm_add(void *cpu)
{
    static const struct device ops = {.read = on_read,
                                      .write = on_write,
                                      .endianness = LITTLE,
                                      .valid = {1, 4, true, NULL},
                                      .implemented = {1, 4, true, NULL}};
    static _Alignas(64) uint8_t region[REGION_ROOM];
    static const uint32_t on = TCR_ALL_ON;
    void *(*get_link)(void *object, const char *name, void *error);
    void (*init_io)(void *region, void *owner, const struct device *ops, void *opaque, const char *name,
                    uint64_t size);
    void (*add)(void *to, uint64_t offset, void *region, int priority);
    guest_find(&get_link, "object_property_get_link");
    guest_find(&init_io, "memory_region_init_io");
    guest_find(&add, "memory_region_add_subregion_overlap");
    void *memory = cpu && get_link && init_io && add ? get_link(cpu, "memory", NULL) : NULL;
    if (!memory)
        return false;
    memset(stored + TER, 0xff, TER_SIZE);
    memcpy(stored + TCR, &on, sizeof on);
    init_io(region, NULL, &ops, NULL, "coretap-itm", ITM_SIZE);
    add(memory, ITM_BASE, region, IN_THE_FRONT);
    return added = true;
}
