/* SPDX-License-Identifier: Apache-2.0 */
/* User library: programs the register block through a transport. */
#include "base/ctx.h"
#include "base/require.h"
#include "coretap/fractal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct ct_fractal_port {
    struct ct_ctx *ctx;
    struct ct_fractal *model; /* NULL: `block` is used */
    volatile uint32_t *block;
};

int ct_fractal_port_model(struct ct_ctx *ctx, struct ct_fractal *f, struct ct_fractal_port **out)
{
    CT_REQUIRE_OUT(ctx, out, f);
    struct ct_fractal_port *p = *out = calloc(1, sizeof *p);
    if (!p)
        return ct_fail_nomem(ctx, "fractal port");
    p->ctx = ctx;
    p->model = f;
    return CT_OK;
}

int ct_fractal_port_map(struct ct_ctx *ctx, const char *path, struct ct_fractal_port **out)
{
    CT_REQUIRE_OUT(ctx, out, path);
    const int fd = open(path, O_RDWR | O_SYNC | O_CLOEXEC);
    if (fd < 0)
        return ct_fail(ctx, CT_ERR_IO, "%s: cannot be opened: %s", path, strerror(errno));
    void *block = mmap(NULL, CT_FRACTAL_REG_BLOCK_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    const int err = errno;
    close(fd);
    if (block == MAP_FAILED)
        return ct_fail(ctx, CT_ERR_IO, "%s: the registers cannot be mapped: %s", path, strerror(err));
    struct ct_fractal_port *p = calloc(1, sizeof *p);
    if (!p) {
        munmap(block, CT_FRACTAL_REG_BLOCK_SIZE);
        return ct_fail_nomem(ctx, path);
    }
    p->ctx = ctx;
    p->block = block;
    *out = p;
    return CT_OK;
}

void ct_fractal_port_free(struct ct_fractal_port *port)
{
    if (port && port->block)
        munmap((void *)(uintptr_t)port->block, CT_FRACTAL_REG_BLOCK_SIZE);
    free(port);
}

/* Writes 32 bits, the only access size of a device. 64-bit registers are written low half first. */
static int write32(struct ct_fractal_port *p, uint32_t offset, uint32_t value)
{
    if (p->model)
        return ct_fractal_reg_write(p->model, offset, 4, value);
    p->block[offset / 4] = value;
    return CT_OK;
}

static int write64(struct ct_fractal_port *p, uint32_t offset, uint64_t value)
{
    return write32(p, offset, (uint32_t)value) ?: write32(p, offset + 4, (uint32_t)(value >> 32));
}

static int read32(struct ct_fractal_port *p, uint32_t offset, uint64_t *value)
{
    if (p->model)
        return ct_fractal_reg_read(p->model, offset, 4, value);
    *value = p->block[offset / 4];
    return CT_OK;
}

int ct_fractal_port_read(struct ct_fractal_port *p, uint32_t offset, uint64_t *value)
{
    CT_REQUIRE_OF(p, value);
    struct ct_fractal_reg_info info;
    unsigned i = 0;
    while (!ct_fractal_reg_describe(i, &info) && info.offset != offset)
        i++;
    if (ct_fractal_reg_describe(i, &info))
        return ct_fail(p->ctx, CT_ERR_ARG, "fractal register 0x%x: there is no register at this offset",
                       offset);
    int err = read32(p, offset, value);
    uint64_t high = 0;
    if (!err && info.bytes == 8)
        err = read32(p, offset + 4, &high);
    *value |= high << 32;
    return err;
}

int ct_fractal_port_stop(struct ct_fractal_port *p)
{
    CT_REQUIRE(NULL, p);
    return write32(p, CT_FRACTAL_REG_CTRL, 0);
}

int ct_fractal_port_range(struct ct_fractal_port *p, uint64_t lo, uint64_t hi)
{
    CT_REQUIRE(NULL, p);
    return write64(p, CT_FRACTAL_REG_RANGE_LO, lo)
           ?: write64(p, CT_FRACTAL_REG_RANGE_HI, hi)
           ?: write32(p, CT_FRACTAL_REG_RANGE_COMMIT, 1);
}

int ct_fractal_port_range_add(struct ct_fractal_port *p, uint64_t lo, uint64_t hi, int add)
{
    CT_REQUIRE(NULL, p);
    int err = write64(p, CT_FRACTAL_REG_RANGE_LO, lo) ?: write64(p, CT_FRACTAL_REG_RANGE_HI, hi);
    return err ? err
               : write32(p, CT_FRACTAL_REG_RANGE_CMD, add ? CT_FRACTAL_RANGE_ADD : CT_FRACTAL_RANGE_REMOVE);
}

int ct_fractal_port_start(struct ct_fractal_port *p, const struct ct_fractal_target *t)
{
    CT_REQUIRE_OF(p, t);
    int err = ct_fractal_port_stop(p);
    if (!err)
        err = write64(p, CT_FRACTAL_REG_PGD, t->pgd);
    if (!err)
        err = write32(p, CT_FRACTAL_REG_ASID, t->asid);
    if (!err)
        err = write32(p, CT_FRACTAL_REG_GEOM,
                      t->granule | (uint32_t)t->va_bits << 8 | (uint32_t)t->unit_shift << 16);
    if (!err)
        err = write32(p, CT_FRACTAL_REG_TARGET, t->target);
    if (!err)
        err = ct_fractal_port_range(p, t->range_lo, t->range_hi);
    if (!err)
        err = write32(p, CT_FRACTAL_REG_CTRL,
                      CT_FRACTAL_CTRL_ENABLE | CT_FRACTAL_CTRL_MODE(t->mode & 3u) |
                          (t->points_only ? CT_FRACTAL_CTRL_POINTS_ONLY : 0));
    return err;
}

int ct_fractal_port_point(struct ct_fractal_port *p, uint64_t va, int add)
{
    CT_REQUIRE(NULL, p);
    const int err = write64(p, CT_FRACTAL_REG_POINT_VA, va);
    return err ? err
               : write32(p, CT_FRACTAL_REG_POINT_CMD, add ? CT_FRACTAL_POINT_ADD : CT_FRACTAL_POINT_REMOVE);
}

int ct_fractal_port_asid(struct ct_fractal_port *p, uint16_t asid)
{
    CT_REQUIRE(NULL, p);
    return write32(p, CT_FRACTAL_REG_ASID, asid);
}

int ct_fractal_port_context(struct ct_fractal_port *p, uint64_t initiators)
{
    CT_REQUIRE(NULL, p);
    return write64(p, CT_FRACTAL_REG_CONTEXT, initiators);
}
