/* SPDX-License-Identifier: Apache-2.0 */
#include "coretap/format.h"

#include <stdbool.h>
#include <stdio.h>

#include "base/bytes.h"

/* The state of one call of ct_source_describe. */
struct describe {
    const struct ct_source *source;
    const struct ct_source_regs *regs; /* of the source */
    ct_describe_fn *fn;
    void *user;
};

static bool bit(uint32_t value, unsigned n)
{
    return value >> n & 1;
}

static void say(const struct describe *d, const char *subject, const char *text)
{
    d->fn(d->user, subject, text);
}

static void say_if(const struct describe *d, const char *subject, bool on, const char *text)
{
    say(d, subject, on ? text : "off");
}

void ct_source_version(const struct ct_source *source, char *text, size_t size)
{
    if (!source || !text)
        return;
    const struct ct_source_regs *r = &source->regs;
    switch (source->protocol) {
    case CT_PROTOCOL_ETM4:
        snprintf(text, size, "ETMv%u.%u", ct_bits(r->idr1, 11, 8), ct_bits(r->idr1, 7, 4));
        break;
    case CT_PROTOCOL_ETE:
        /* TRCDEVARCH.ARCHVER continues the numbers of ETMv4: 5 is ETE version 1. */
        snprintf(text, size, "ETEv%u.%u", ct_bits(r->devarch, 15, 12) - 4u, ct_bits(r->devarch, 19, 16));
        break;
    case CT_PROTOCOL_ETM3:
        snprintf(text, size, "ETMv%u.%u", ct_bits(r->etmidr, 11, 8) + 1u, ct_bits(r->etmidr, 7, 4));
        break;
    case CT_PROTOCOL_PTM:
        snprintf(text, size, "PFTv%u.%u", ct_bits(r->etmidr, 11, 8) - 2u, ct_bits(r->etmidr, 7, 4));
        break;
    case CT_PROTOCOL_STM:
        snprintf(text, size, "STM");
        break;
    case CT_PROTOCOL_ITM:
        snprintf(text, size, "ITM");
        break;
    default:
        snprintf(text, size, "unknown");
    }
}

/* ---- ETMv4 and ETE: IHI 0064H, 7.3 (TRCCONFIGR, TRCIDR0 to TRCIDR2, TRCIDR8); DDI 0487, D19 ---- */

static void describe_addresses(const struct describe *d)
{
    const uint32_t configr = d->regs->configr;
    char text[96];
    snprintf(text, sizeof text, "%u bits", ct_bits(d->regs->idr2, 4, 0) == 8 ? 64u : 32u);
    say(d, "addresses", text);
    say_if(d, "branch broadcast", bit(configr, 3), "on: taken direct branches give their target too");
    say_if(d, "return stack", bit(configr, 12), "on: returns to where a call came from carry no address");
}

static void describe_context(const struct describe *d)
{
    static const char *const sizes[] = {"none", "8 bits", "16 bits", "of a reserved size", "32 bits"};
    const uint32_t cid = ct_bits(d->regs->idr2, 9, 5);
    const uint32_t vmid = ct_bits(d->regs->idr2, 14, 10);
    const uint32_t configr = d->regs->configr;
    say(d, "context ID", !bit(configr, 6) ? "off" : cid <= 4 ? sizes[cid] : "of a reserved size");
    say(d, "virtual context ID",
        !bit(configr, 7) ? "off"
        : vmid > 4       ? "of a reserved size"
                         : (bit(configr, 15) ? "on: CONTEXTIDR_EL2" : sizes[vmid]));
}

static void describe_time(const struct describe *d)
{
    const uint32_t configr = d->regs->configr;
    const uint32_t idr0 = d->regs->idr0;
    char text[160];
    snprintf(text, sizeof text, "on: counter of %u bits; %s", 12u + ct_bits(d->regs->idr2, 28, 25),
             bit(idr0, 29) ? "a count commits everything before it (COMMOPT)"
                           : "each count says how many elements it commits");
    say_if(d, "cycle counts", bit(configr, 4), text);
    const uint32_t ts = ct_bits(idr0, 28, 24);
    snprintf(text, sizeof text, "on: %s%s",
             ts == 8   ? "64 bits"
             : ts == 6 ? "48 bits"
                       : "of a reserved size",
             bit(idr0, 23) ? ", with markers" : "");
    say_if(d, "timestamps", bit(configr, 11), text);
}

static void describe_speculation(const struct describe *d)
{
    const uint32_t depth = d->regs->idr8;
    char text[96];
    if (depth)
        snprintf(text, sizeof text, "up to %u elements may be taken back", depth);
    else
        snprintf(text, sizeof text, "none: what is traced was executed");
    say(d, "speculation", text);
}

static void describe_extras(const struct describe *d)
{
    static const char *const p0[] = {"off", "loads make an element", "stores make an element",
                                     "loads and stores make an element"};
    char text[96];
    const uint32_t configr = d->regs->configr;
    const uint32_t idr0 = d->regs->idr0;
    snprintf(text, sizeof text, "%s%s", p0[ct_bits(configr, 2, 1)],
             ct_source_has_data_atoms(d->source) ? "; not followed along the program" : "");
    say(d, "loads and stores", text);
    say_if(d, "conditional instructions", bit(idr0, 6) && ct_bits(configr, 10, 8), "on");
    const uint32_t q = ct_bits(configr, 14, 13);
    say_if(d, "Q elements", ct_bits(idr0, 16, 15) && q,
           q == 1 ? "on: with instruction counts" : "on: with and without instruction counts");
    const unsigned data_id = ct_source_data_id(d->source);
    snprintf(text, sizeof text, "on: a stream of its own, ID %02x, which is not decoded", data_id);
    say_if(d, "data trace", data_id != 0, text);
}

static void describe_etm4(const struct describe *d)
{
    describe_addresses(d);
    describe_context(d);
    describe_time(d);
    describe_speculation(d);
    describe_extras(d);
    say(d, "WFI and WFE", bit(d->regs->idr2, 31) ? "waypoints" : "no waypoints");
}

/* ---- ETMv3 (IHI 0014Q, 3.5) and PTM (IHI 0035B, 3.11): ETMCR ---- */

static void describe_etm3(const struct describe *d, bool ptm)
{
    static const char *const sizes[] = {"off", "8 bits", "16 bits", "32 bits"};
    const uint32_t cr = d->regs->etmcr;
    say_if(d, "branch broadcast", bit(cr, 8), "on: taken direct branches give their target too");
    if (ptm)
        say_if(d, "return stack", bit(cr, 29), "on: returns to where a call came from carry no address");
    say(d, "context ID", sizes[ct_bits(cr, 15, 14)]);
    say_if(d, "virtual context ID", bit(cr, 30), "8 bits");
    say_if(d, "cycle counts", bit(cr, 12), "on: cycle-accurate");
    say_if(d, "timestamps", bit(cr, 28), bit(d->regs->etmccer, 29) ? "on: 64 bits" : "on: 48 bits");
}

/* ---- STM (IHI 0054, 3.3.7: STMTCSR) and ITM (DDI 0403, C1.7.6: ITM_TCR) ---- */

static void describe_stm(const struct describe *d)
{
    const uint32_t tcsr = d->regs->stmtcsr;
    say_if(d, "timestamps", bit(tcsr, 1), "on");
    say_if(d, "compression", bit(tcsr, 5), "on: leading zeros of data are left out");
}

static void describe_itm(const struct describe *d)
{
    static const char *const prescalers[] = {"on: one tick a count", "on: 4 ticks a count",
                                             "on: 16 ticks a count", "on: 64 ticks a count"};
    const uint32_t tcr = d->regs->itmtcr;
    /* With the asynchronous clock of the output, the prescaler applies; without it, a count is one tick. */
    say_if(d, "local timestamps", bit(tcr, 1), prescalers[bit(tcr, 4) ? ct_bits(tcr, 9, 8) : 0]);
    say_if(d, "global timestamps", ct_bits(tcr, 11, 10) != 0, "on");
    say_if(d, "hardware packets", bit(tcr, 3), "on: those of the DWT are passed on");
    if (d->source->without_sync)
        say(d, "synchronisation", "none: packets begin at the first byte");
}

void ct_source_describe(const struct ct_source *source, ct_describe_fn *fn, void *user)
{
    if (!source || !fn)
        return;
    const struct describe d = {source, &source->regs, fn, user};
    switch (source->protocol) {
    case CT_PROTOCOL_ETM4:
    case CT_PROTOCOL_ETE:
        describe_etm4(&d);
        break;
    case CT_PROTOCOL_ETM3:
    case CT_PROTOCOL_PTM:
        describe_etm3(&d, source->protocol == CT_PROTOCOL_PTM);
        break;
    case CT_PROTOCOL_STM:
        describe_stm(&d);
        break;
    case CT_PROTOCOL_ITM:
        describe_itm(&d);
        break;
    default:
        break;
    }
}
