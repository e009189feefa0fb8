/* SPDX-License-Identifier: Apache-2.0 */
/* Trace info, timestamps and cycle counts of an ETMv4 or ETE. IHI 0064H 6.4.3, 6.4.4 and 6.4.7. */
#include <string.h>

#include "encode/etm4_draft.h"

static unsigned continued_size(uint32_t value)
{
    unsigned bytes = 1;
    while (value >>= 7)
        bytes++;
    return bytes;
}

/* Encodes a trace info packet. Sections that are 0 are omitted, except where `size` requests them (6.4.4). */
int ct_etm4_put_trace_info(struct ct_etm4_draft *d)
{
    const struct ct_etm4_packet *p = d->packet;
    int has_info = p->info != 0, has_spec = (p->flags & CT_ETM4_HAS_SPEC) != 0, has_cyct = p->count != 0;
    unsigned size = 2 + (has_info ? continued_size(p->info) : 0) +
                    (has_spec ? continued_size(p->count2) : 0) + (has_cyct ? continued_size(p->count) : 0);
    if (!has_info && p->size > size) {
        has_info = 1;
        size++;
    }
    if (!has_cyct && p->size > size)
        has_cyct = 1;
    ct_etm4_put_byte(d, 0x01);
    ct_etm4_put_byte(d, (has_info ? 1u : 0) | (has_spec ? 4u : 0) | (has_cyct ? 8u : 0));
    if (has_info)
        ct_etm4_put_continued(d, p->info);
    if (has_spec)
        ct_etm4_put_continued(d, p->count2);
    if (has_cyct)
        ct_etm4_put_continued(d, p->count);
    d->next.ccthr = p->count;
    d->next.ts = 0;
    memset(d->next.history, 0, sizeof(d->next.history));
    return CT_OK;
}

/* Encodes a timestamp: up to nine bytes, the ninth with eight bits; unchanged upper bytes are omitted
 * (6.4.3). */
int ct_etm4_put_timestamp(struct ct_etm4_draft *d)
{
    const struct ct_etm4_packet *p = d->packet;
    uint64_t changed = p->value ^ d->encoder->now.ts;
    unsigned bytes = 1, count_bytes = 0;
    int has_count = (p->flags & CT_ETM4_HAS_COUNT) != 0;
    if (has_count && p->count >> 20)
        return ct_etm4_refuse(d, "its cycle count has at most 20 bits");
    if (has_count)
        count_bytes = p->count >> 14 ? 3 : p->count >> 7 ? 2 : 1;
    while (bytes < 9 && changed >> 7 * bytes)
        bytes++;
    if (p->size > 1 + bytes + count_bytes && p->size <= 10 + count_bytes)
        bytes = p->size - 1 - count_bytes;
    ct_etm4_put_byte(d, has_count ? 0x03 : 0x02);
    for (unsigned i = 0; i + 1 < bytes; i++)
        ct_etm4_put_byte(d, (unsigned)(p->value >> 7 * i & 0x7f) | 0x80);
    ct_etm4_put_byte(d, (unsigned)(p->value >> 7 * (bytes - 1)) & (bytes == 9 ? 0xff : 0x7f));
    if (has_count)
        ct_etm4_put_continued(d, p->count);
    d->next.ts = p->value;
    return CT_OK;
}

/* Encodes a cycle count. With TRCIDR0.COMMOPT 1 the packet has no number of commits (6.4.7). */
int ct_etm4_put_ccnt_f1(struct ct_etm4_draft *d)
{
    const struct ct_etm4_packet *p = d->packet;
    int known = (p->flags & CT_ETM4_HAS_COUNT) != 0;
    uint32_t over = p->count - d->encoder->now.ccthr;
    if (known && (p->count < d->encoder->now.ccthr || over >> 20))
        return ct_etm4_refuse(d, "its cycle count lies below the threshold or above 20 bits");
    ct_etm4_put_byte(d, known ? 0x0e : 0x0f);
    if (!d->encoder->config.comm_opt)
        ct_etm4_put_continued(d, p->count2);
    if (known)
        ct_etm4_put_continued(d, over);
    return CT_OK;
}

int ct_etm4_put_ccnt_f2(struct ct_etm4_draft *d)
{
    const struct ct_etm4_packet *p = d->packet;
    const struct ct_etm4_config *config = &d->encoder->config;
    uint32_t over = p->count - d->encoder->now.ccthr;
    if (p->count < d->encoder->now.ccthr || over > 15)
        return ct_etm4_refuse(d, "its cycle count is not within 15 of the threshold");
    uint32_t few = p->count2 - 1, many = p->count2 - config->max_spec + 15;
    if (config->comm_opt)
        few = 0;
    if (few > 15 && many > 15)
        return ct_etm4_refuse(
            d, "its commits fit neither 1 to 16 nor the 16 numbers up to the speculation depth");
    int deep = few > 15 || (p->header == 0x0d && many <= 15);
    ct_etm4_put_byte(d, deep ? 0x0d : 0x0c);
    ct_etm4_put_byte(d, (deep ? many : few) << 4 | over);
    return CT_OK;
}

int ct_etm4_put_ccnt_f3(struct ct_etm4_draft *d)
{
    const struct ct_etm4_packet *p = d->packet;
    uint32_t over = p->count - d->encoder->now.ccthr;
    uint32_t commits = d->encoder->config.comm_opt ? 0 : p->count2 - 1;
    if (p->count < d->encoder->now.ccthr || over > 3 || commits > 3)
        return ct_etm4_refuse(d, "it holds 1 to 4 commits and a count of up to 3 over the threshold");
    ct_etm4_put_byte(d, 0x10 | commits << 2 | over);
    return CT_OK;
}
