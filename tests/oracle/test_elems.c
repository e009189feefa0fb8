/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the elements of random streams along random programs, with and without memory, with those of
 * OpenCSD, line by line of the listing. Some things are left out because 1.3.3 handles them wrongly. Source
 * addresses occur only with the return stack off: 1.3.3 leaves a return pending after them. No source has Q
 * elements: 1.3.3 continues from an unknown address, keeps the instruction set of before, leaves the offset
 * of the range undefined, and ends decoding where an address is missing. Mispredicts, cancels of ETE sources
 * with MAXSPEC above 0, and the return stack together with speculation are not compared: there 1.3.3 takes
 * the return stack for empty. CT_SEED sets the first seed, CT_COUNT the number of packets, CT_LONG=1 the long
 * tier. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "support/damage.h"
#include "oracle/commits.h"
#include "oracle/elem_line.h"
#include "oracle/ocsd.h"
#include "oracle/patch.h"
#include "oracle/stream.h"

enum {
    HEAD = 12,        /* bytes that are never damaged: the first alignment packet */
    MOST_TRIES = 2000 /* differences removed from one stream */
};

#define RETURN_STACK (UINT32_C(1) << 12) /* TRCCONFIGR.RS */

static struct patches patches;
static struct spelled spelled;

static size_t decode(const struct stream *s, struct ct_etm4_packet *packets)
{
    struct ct_etm4_decoder *decoder;
    size_t count = 0;
    if (ct_etm4_decoder_new(NULL, &s->source, &decoder))
        return 0;
    ct_etm4_decode(decoder, s->bytes, s->size, 0, 1, packets, ROOM, &count);
    ct_etm4_decoder_free(decoder);
    return count;
}

static void fill(struct rng *rng, struct stream *s)
{
    gen_source(rng, rng_chance(rng, 128) ? GEN_UNSPECULATED : GEN_DECODABLE, &s->source);
    if (s->source.regs.idr8)
        s->source.regs.configr &= ~RETURN_STACK;
    stream_fill_program(rng, s);
    stream_fill_trace(rng, s);
    s->damaged = rng_chance(rng, 128);
    if (s->damaged)
        s->size = HEAD + damage(rng, s->bytes + HEAD, s->size - HEAD, ROOM - HEAD);
}

/* ---- comparison ---- */

static size_t line_length(const char *text)
{
    const char *end = strchr(text, '\n');
    return end ? (size_t)(end - text) + 1 : strlen(text);
}

static void show(const char *whose, const char *line)
{
    printf("#   %-7s %.*s\n", whose, *line ? (int)line_length(line) - 1 : 5, *line ? line : "(end)");
}

static void show_stream(const struct stream *s)
{
    const struct ct_source_regs *r = &s->source.regs;
    printf("# protocol %u profile %u configr %x idr0 %x idr1 %x idr2 %x idr8 %x devarch %x regions",
           s->source.protocol, s->source.arch.profile, r->configr, r->idr0, r->idr1, r->idr2, r->idr8,
           r->devarch);
    for (unsigned i = 0; i < s->region_count; i++)
        printf(" %" PRIx64 "+%x", s->regions[i].addr, s->regions[i].size);
    printf("\n");
}

/* Prints the packets up to the one at `offset`, and one more. */
static void show_packets(const struct stream *s, uint64_t offset)
{
    static struct ct_etm4_packet packets[ROOM];
    static struct ct_text text;
    size_t count = decode(s, packets), last = 0, first, most = test_number("CT_SHOW", 12);
    while (last < count && packets[last].pos <= offset)
        last++;
    first = last > most ? last - most : 0;
    for (size_t i = first; i <= last && i < count; i++) {
        text.used = 0;
        ct_list_etm4_packet(&text, LINE_ID, packets[i].pos, s->bytes + packets[i].pos, &packets[i],
                            &s->source);
        printf("#   packet  %.*s", (int)text.used, text.data);
    }
}

static int kind_is(const char *line, const char *kind)
{
    const char *at = strchr(line, ' ');
    return at && (at = strchr(at + 1, ' ')) && !strncmp(at + 1, kind, strlen(kind));
}

static int line_has(const char *line, const char *what)
{
    const char *at = strstr(line, what), *end = strchr(line, '\n');
    return at && end && at < end;
}

/* The first line that differs. */
struct difference {
    const char *ours;
    char *theirs;
    const char *before[4]; /* lines that are equal, oldest first */
    const char *first;     /* the first line of coretap's */
};

static int same_line(const char *a, const char *b)
{
    size_t n = line_length(a);
    return n == line_length(b) && !memcmp(a, b, n);
}

static int differ(const struct lines *ours, const struct lines *theirs, struct difference *out)
{
    const char *a = ours->text;
    char *b = theirs->text;
    *out = (struct difference){.before = {a, a, a, a}, .first = a};
    while (*a || *b) {
        if (!same_line(a, b)) {
            out->ours = a;
            out->theirs = b;
            return 1;
        }
        memmove(out->before, out->before + 1, 3 * sizeof(out->before[0]));
        out->before[3] = a;
        a += line_length(a);
        b += line_length(b);
    }
    return 0;
}

static uint64_t number_after(const char *line, const char *key, int base)
{
    const char *at = strstr(line, key), *end = strchr(line, '\n');
    return at && end && at < end ? strtoull(at + strlen(key), NULL, base) : 0;
}

/* Prints the code of a range, and the code before it. */
static void show_code(const struct stream *s, const char *line)
{
    uint64_t start = number_after(line, "start=", 16) - 8, end = number_after(line, "end=", 16);
    for (unsigned i = 0; i < s->region_count; i++) {
        const struct ocsd_region *r = &s->regions[i];
        if (start < r->addr || end > r->addr + r->size || end - start > 256)
            continue;
        printf("#   code %" PRIx64 ":", start);
        for (uint64_t at = start; at < end; at++)
            printf(" %02x", r->bytes[at - r->addr]);
        printf("\n");
    }
}

static void show_difference(const struct stream *s, const struct difference *d)
{
    const char *a = d->ours, *b = d->theirs;
    show_stream(s);
    for (int i = 0; i < 4; i++)
        show("both", d->before[i]);
    for (int i = 0; i < 3 && *a; i++, a += line_length(a))
        show("coretap", a);
    for (int i = 0; i < 3 && *b; i++, b += line_length(b))
        show("OpenCSD", b);
    show_code(s, d->ours);
    uint64_t ours = strtoull(d->ours, NULL, 10), theirs = strtoull(d->theirs, NULL, 10);
    show_packets(s, ours > theirs ? ours : theirs);
}

static struct ct_etm4_packet packet_at(const struct stream *s, uint64_t offset)
{
    static struct ct_etm4_packet packets[ROOM];
    size_t count = decode(s, packets), i = 0;
    while (i < count && packets[i].pos != offset)
        i++;
    return i < count ? packets[i] : (struct ct_etm4_packet){0};
}

/* Removes the packet at `offset`: its bytes become contexts without a change. */
static void blank(struct stream *s, uint64_t offset)
{
    memset(s->bytes + offset, 0x80, packet_at(s, offset).size);
}

/* Known differences of OpenCSD 1.3.3. A function returns 0 when the difference is another one; else it
 * removes the packet, or replaces OpenCSD's line. "Ours" is coretap's output, "theirs" OpenCSD's. */
enum {
    TAKEN_OUT = 1,
    LINE_MADE
};

struct known {
    const char *what;
    int (*is)(struct stream *s, const struct difference *d);
    uint64_t count;
};

/* Ours has nothing before the exception; theirs walked from an address above the return address. */
static int exception_backwards(struct stream *s, const struct difference *d)
{
    uint64_t offset = strtoull(d->ours, NULL, 10);
    if (!kind_is(d->ours, "exception ") || strtoull(d->theirs, NULL, 10) != offset)
        return 0;
    uint64_t from = number_after(d->theirs, kind_is(d->theirs, "instr_range") ? "start=" : "addr=", 16);
    if (from <= number_after(d->ours, "ret=", 16))
        return 0;
    blank(s, offset);
    return TAKEN_OUT;
}

/* Both lose synchronisation at the same packet, but ours puts out what the packet committed before that. */
static int overrun_drops(struct stream *s, const struct difference *d)
{
    uint64_t offset = strtoull(d->theirs, NULL, 10);
    const char *line = d->ours;
    if (!kind_is(d->theirs, "no_sync reason=bad_packet"))
        return 0;
    while (*line && !(kind_is(line, "no_sync") || kind_is(line, "eo_trace")))
        line += line_length(line);
    if (!kind_is(line, "no_sync reason=bad_packet") || strtoull(line, NULL, 10) != offset)
        return 0;
    blank(s, offset);
    return TAKEN_OUT;
}

/* Returns whether ours has no context between the last loss of synchronisation and `offset`. */
static int before_context(const struct difference *d, uint64_t offset)
{
    int without = 1;
    for (const char *line = d->first; *line && strtoull(line, NULL, 10) < offset; line += line_length(line)) {
        if (kind_is(line, "no_sync"))
            without = 1;
        else if (kind_is(line, "pe_context"))
            without = 0;
    }
    return without;
}

/* Returns whether no address is between the packet at `offset` and the last alignment packet before it. */
static int before_address(const struct stream *s, uint64_t offset)
{
    static struct ct_etm4_packet packets[ROOM];
    size_t i = decode(s, packets);
    while (i && packets[i - 1].pos >= offset)
        i--;
    while (i && packets[i - 1].type != CT_ETM4_ASYNC &&
           !(packets[i - 1].type >= CT_ETM4_ADDR_S_IS0 && packets[i - 1].type <= CT_ETM4_ADDR_MATCH))
        i--;
    return i && packets[i - 1].type == CT_ETM4_ASYNC;
}

/* Without a context, theirs walks, while ours does not know the state; without an address theirs walks from
 * where it lost synchronisation. */
static int exception_without_context(struct stream *s, const struct difference *d)
{
    uint64_t offset = strtoull(d->ours, NULL, 10);
    if (!kind_is(d->ours, "exception ") || strtoull(d->theirs, NULL, 10) != offset ||
        !(before_context(d, offset) || before_address(s, offset)))
        return 0;
    blank(s, offset);
    return TAKEN_OUT;
}

static int is_source(const struct ct_etm4_packet *p)
{
    return p->type >= CT_ETM4_SRC_ADDR_S_IS0 && p->type <= CT_ETM4_SRC_ADDR_MATCH;
}

static int source_without_context(struct stream *s, const struct difference *d)
{
    uint64_t offset = strtoull(d->theirs, NULL, 10);
    struct ct_etm4_packet p = packet_at(s, offset);
    if (!is_source(&p) || !before_context(d, offset))
        return 0;
    blank(s, offset);
    return TAKEN_OUT;
}

/* Theirs loses synchronisation after the packet; ours makes an exception of it. */
static int pe_reset(struct stream *s, const struct difference *d)
{
    static struct ct_etm4_packet packets[ROOM];
    size_t count = decode(s, packets), i = 0;
    uint64_t offset = strtoull(d->theirs, NULL, 10);
    if (!kind_is(d->theirs, "no_sync reason=bad_packet"))
        return 0;
    while (i < count && packets[i].pos < offset)
        i++;
    if (!i || packets[i - 1].type != CT_ETM4_PE_RESET)
        return 0;
    blank(s, packets[i - 1].pos);
    return TAKEN_OUT;
}

/* Theirs has an element from before the last loss of synchronisation, which both had. */
static int left_over(struct stream *s, const struct difference *d)
{
    uint64_t offset = strtoull(d->theirs, NULL, 10), lost = 0;
    for (const char *line = d->first; line != d->ours; line += line_length(line))
        if (kind_is(line, "no_sync"))
            lost = strtoull(line, NULL, 10);
    if (offset >= lost)
        return 0;
    blank(s, offset);
    return TAKEN_OUT;
}

/* A context is between a trace info and the first address. */
static int isa_before_address(struct stream *s, const struct difference *d)
{
    static struct ct_etm4_packet packets[ROOM];
    size_t count = decode(s, packets), i = 0, n = line_length(d->ours);
    char *isa = strstr(d->theirs, "isa=t32");
    uint64_t offset = strtoull(d->ours, NULL, 10);
    if (!kind_is(d->ours, "pe_context isa=a32") || !kind_is(d->theirs, "pe_context isa=t32") ||
        n != line_length(d->theirs))
        return 0;
    while (i < count && packets[i].pos < offset)
        i++;
    while (i && packets[i - 1].type != CT_ETM4_TRACE_INFO &&
           !(packets[i - 1].type >= CT_ETM4_ADDR_S_IS0 && packets[i - 1].type <= CT_ETM4_SRC_ADDR_MATCH))
        i--;
    if (!i || packets[i - 1].type != CT_ETM4_TRACE_INFO)
        return 0;
    memcpy(isa, "isa=a32", 7);
    return LINE_MADE;
}

/* The packet is cut off at the end of the trace. */
static int cut_at_end(struct stream *s, const struct difference *d)
{
    uint64_t offset = strtoull(d->theirs, NULL, 10);
    if (!kind_is(d->theirs, "eo_trace") || packet_at(s, offset).type != CT_ETM4_INCOMPLETE_EOT)
        return 0;
    s->size = offset;
    return TAKEN_OUT;
}

static int discard_as_overflow(struct stream *s, const struct difference *d)
{
    uint64_t offset = strtoull(d->ours, NULL, 10);
    if (!kind_is(d->ours, "no_sync reason=discard") || !kind_is(d->theirs, "no_sync reason=overflow") ||
        packet_at(s, offset).type != CT_ETM4_DISCARD)
        return 0;
    blank(s, offset);
    return TAKEN_OUT;
}

static int far_source(struct stream *s, const struct difference *d)
{
    uint64_t offset = strtoull(d->theirs, NULL, 10);
    uint64_t length = number_after(d->theirs, "end=", 16) - number_after(d->theirs, "start=", 16);
    if (!kind_is(d->theirs, "instr_range") || length >> 32 == 0)
        return 0;
    blank(s, offset);
    return TAKEN_OUT;
}

/* Replaces the instruction at `at` with a NOP if `is` returns 1 for it. */
static int make_nop(struct stream *s, uint64_t at, uint64_t size, const char *nop, int (*is)(uint32_t word))
{
    for (unsigned i = 0; i < s->region_count; i++) {
        const struct ocsd_region *r = &s->regions[i];
        if (at < r->addr || at + 4 > r->addr + r->size)
            continue;
        uint8_t *code = s->code[i] + (at - r->addr);
        if (!is(ct_load32(code)))
            return 0;
        printf("# %08x at %" PRIx64 ": the two do not agree\n", ct_load32(code), at);
        memcpy(code, nop, size);
        return TAKEN_OUT;
    }
    return 0;
}

static int is_any(uint32_t word)
{
    (void)word;
    return 1;
}

/* Returns whether a word is an instruction of FEAT_CMPBR, FEAT_PAuth_LR or FEAT_TEV. */
static int is_newer(uint32_t word)
{
    return (word & 0x7e000000) == 0x74000000 || (word & 0xffc0001f) == 0x5500001f ||
           (word & 0xfffffbe0) == 0xd65f0be0 || (word & 0xfffffbff) == 0xd6ff03e0;
}

static int is_unpredictable_blx(uint32_t word)
{
    return (word & 0x0ff000f0) == 0x01200030 && (word & 0xfff00) != 0xfff00;
}

/* Both walk from the same address but classify the last instruction of the shorter walk differently: in
 * 32-bit code that is unpredictable or undefined. */
static int other_instruction(struct stream *s, const struct difference *d)
{
    uint64_t start = number_after(d->ours, "start=", 16), ours = number_after(d->ours, "end=", 16);
    uint64_t theirs = number_after(d->theirs, "end=", 16);
    const char *line = ours < theirs ? d->ours : d->theirs;
    uint64_t size = number_after(line, "last_sz=", 10), at = (ours < theirs ? ours : theirs) - size;
    if (!kind_is(d->ours, "instr_range") || !kind_is(d->theirs, "instr_range") ||
        start != number_after(d->theirs, "start=", 16) || line_has(line, "isa=a64"))
        return 0;
    int thumb = line_has(line, "isa=t32");
    return make_nop(s, at, size, thumb ? "\x00\xbf\x00\xbf" : "\x00\xf0\x20\xe3", is_any);
}

/* The instruction is newer than 1.3.3, or theirs walked past one, found the return stack empty and dropped
 * the whole packet. */
static int newer_instruction(struct stream *s, const struct difference *d)
{
    uint64_t offset = strtoull(d->theirs, NULL, 10);
    const char *line = d->ours;
    do {
        uint64_t at = number_after(line, "end=", 16) - 4;
        if (kind_is(line, "instr_range") && line_has(line, "isa=a64") &&
            make_nop(s, at, 4, "\x1f\x20\x03\xd5", is_newer))
            return TAKEN_OUT;
        line += line_length(line);
    } while (kind_is(d->theirs, "no_sync reason=bad_packet") && *line && strtoull(line, NULL, 10) <= offset);
    return 0;
}

/* Theirs finds the return stack empty along the atoms of a packet, and drops these ranges and the elements
 * before them. */
static int unpredictable_link(struct stream *s, const struct difference *d)
{
    uint64_t offset = strtoull(d->theirs, NULL, 10);
    if (!kind_is(d->theirs, "no_sync reason=bad_packet"))
        return 0;
    for (const char *line = d->ours; *line && strtoull(line, NULL, 10) <= offset; line += line_length(line)) {
        uint64_t at = number_after(line, "end=", 16) - 4;
        if (kind_is(line, "instr_range") && line_has(line, "isa=a32 exec=E type=ibr sub=link") &&
            make_nop(s, at, 4, "\x00\xf0\x20\xe3", is_unpredictable_blx))
            return TAKEN_OUT;
    }
    return 0;
}

/* Damage made A64 code look like A32. Theirs takes an instruction in it for an indirect branch, finds the
 * return stack empty and drops the range, so its place is unknown. The code along our range is replaced with
 * NOPs. */
static int noise_as_a32(struct stream *s, const struct difference *d)
{
    uint64_t start = number_after(d->ours, "start=", 16), end = number_after(d->ours, "end=", 16);
    if (!kind_is(d->theirs, "no_sync reason=bad_packet") || !kind_is(d->ours, "instr_range") ||
        !line_has(d->ours, "isa=a32") || strtoull(d->ours, NULL, 10) != strtoull(d->theirs, NULL, 10))
        return 0;
    for (unsigned i = 0; i < s->region_count; i++) {
        const struct ocsd_region *r = &s->regions[i];
        if (!s->gen_regions[i].sf || start < r->addr || end > r->addr + r->size)
            continue;
        for (uint64_t at = start - r->addr; at < end - r->addr; at += 4)
            memcpy(s->code[i] + at, "\x00\xf0\x20\xe3", 4);
        return TAKEN_OUT;
    }
    return 0;
}

/* Ours loses synchronisation because there is nothing to cancel. */
static int cancel_of_nothing(struct stream *s, const struct difference *d)
{
    uint64_t offset = strtoull(d->ours, NULL, 10);
    if (!kind_is(d->ours, "no_sync reason=bad_packet") || packet_at(s, offset).type != CT_ETM4_CANCEL_F1)
        return 0;
    blank(s, offset);
    return TAKEN_OUT;
}

/* The lines differ only in the last digit, and an IT is shortly before the last instruction. */
static int cond_in_it(struct stream *s, const struct difference *d)
{
    size_t n = line_length(d->ours);
    uint64_t end = number_after(d->ours, "end=", 16) - number_after(d->ours, "last_sz=", 10);
    if (!kind_is(d->ours, "instr_range") || n != line_length(d->theirs) ||
        memcmp(d->ours, d->theirs, n - 2) || !line_has(d->ours, "isa=t32") || d->ours[n - 2] != '1')
        return 0;
    for (uint64_t at = end - 2; at + 16 >= end && at < end; at -= 2)
        for (unsigned i = 0; i < s->region_count; i++) {
            const struct ocsd_region *r = &s->regions[i];
            if (at < r->addr || at - r->addr >= r->size || r->bytes[at - r->addr + 1] != 0xbf ||
                !(r->bytes[at - r->addr] & 15))
                continue;
            d->theirs[n - 2] = '1';
            return LINE_MADE;
        }
    return 0;
}

/* Theirs executes where ours does not: after a source address that ours could not read and before another
 * address. */
static int nacc_at_source(struct stream *s, const struct difference *d)
{
    static struct ct_etm4_packet packets[ROOM];
    size_t count = decode(s, packets), i = 0;
    uint64_t offset = strtoull(d->theirs, NULL, 10);
    while (i < count && packets[i].pos < offset)
        i++;
    while (i && !(packets[i - 1].type >= CT_ETM4_ADDR_S_IS0 && packets[i - 1].type <= CT_ETM4_SRC_ADDR_MATCH))
        i--;
    if (!i || packets[i - 1].type < CT_ETM4_SRC_ADDR_S_IS0)
        return 0;
    blank(s, packets[i - 1].pos);
    return TAKEN_OUT;
}

/* Ours puts out times, counts and events before the end that both report; theirs drops them. */
static int dropped_at_end(struct stream *s, const struct difference *d)
{
    static const char *const kinds[] = {"timestamp", "cycle_count", "event", "sync_marker", "mem_trans"};
    const char *line = d->ours;
    if (!kind_is(d->theirs, "no_sync") && !kind_is(d->theirs, "eo_trace"))
        return 0;
    for (unsigned i = 0; i < 5 && *line;) {
        i = kind_is(line, kinds[i]) ? (line += line_length(line), 0) : i + 1;
    }
    if (line == d->ours || !same_line(line, d->theirs))
        return 0;
    for (const char *drop = d->ours; drop != line; drop += line_length(drop))
        blank(s, strtoull(drop, NULL, 10));
    return TAKEN_OUT;
}

/* Theirs puts out what follows an uncommitted source address or function return. */
static int source_at_end(struct stream *s, const struct difference *d)
{
    static struct ct_etm4_packet packets[ROOM];
    size_t count = decode(s, packets), i = 0;
    uint64_t offset = strtoull(d->theirs, NULL, 10);
    if (!kind_is(d->ours, "eo_trace") || !s->source.regs.idr8)
        return 0;
    while (i < count && packets[i].pos < offset)
        i++;
    while (i && !patch_is_execution(&packets[i - 1]) && packets[i - 1].type != CT_ETM4_FUNC_RET)
        i--;
    if (!i || !(is_source(&packets[i - 1]) || packets[i - 1].type == CT_ETM4_FUNC_RET))
        return 0;
    blank(s, offset);
    return TAKEN_OUT;
}

static int eret_at_source(struct stream *s, const struct difference *d)
{
    uint64_t offset = strtoull(d->ours, NULL, 10);
    unsigned type = packet_at(s, offset).type;
    if (!kind_is(d->ours, "exception_ret") || type < CT_ETM4_SRC_ADDR_S_IS0 || type > CT_ETM4_SRC_ADDR_MATCH)
        return 0;
    blank(s, offset);
    return TAKEN_OUT;
}

/* Returns the last line about the path before the difference. */
static const char *last_of_path(const struct difference *d)
{
    static const char *const kinds[] = {"instr_range",   "addr_nacc", "exception ",
                                        "exception_ret", "no_sync",   "i_range_nopath"};
    const char *last = NULL;
    for (const char *line = d->first; line != d->ours; line += line_length(line))
        for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
            if (kind_is(line, kinds[i]))
                last = line;
    return last;
}

/* Theirs finds the return stack empty after an exception return, and drops the whole packet, of which ours
 * lists the first part. */
static int return_pops_nothing(struct stream *s, const struct difference *d)
{
    uint64_t offset = strtoull(d->theirs, NULL, 10);
    const char *line = d->ours;
    if (!kind_is(d->theirs, "no_sync reason=bad_packet"))
        return 0;
    while (*line && strtoull(line, NULL, 10) <= offset && !kind_is(line, "exception_ret"))
        line += line_length(line);
    if (!kind_is(line, "exception_ret") || strtoull(line, NULL, 10) > offset)
        return 0;
    blank(s, strtoull(line, NULL, 10));
    return TAKEN_OUT;
}

/* Theirs takes the target of an exception return from the return stack, along the atoms of a packet. */
static int return_pops(struct stream *s, const struct difference *d)
{
    const char *last = last_of_path(d);
    if (!(s->source.regs.configr & RETURN_STACK))
        return 0;
    if (!last || !kind_is(last, "exception_ret"))
        return return_pops_nothing(s, d);
    blank(s, strtoull(last, NULL, 10));
    return TAKEN_OUT;
}

/* Ours ends the range after the instruction that the return address is inside of. */
static int return_inside(struct stream *s, const struct difference *d)
{
    uint64_t offset = strtoull(d->ours, NULL, 10);
    const char *next = d->ours + line_length(d->ours);
    uint64_t end = number_after(d->ours, "end=", 16), size = number_after(d->ours, "last_sz=", 10);
    uint64_t ret = number_after(next, "ret=", 16);
    if (!kind_is(d->ours, "instr_range") || packet_at(s, offset).type != CT_ETM4_EXCEPT ||
        !kind_is(next, "exception ") || ret >= end || ret <= end - size)
        return 0;
    blank(s, offset);
    return TAKEN_OUT;
}

static struct known known[] = {
    {"exception return without an address, return stack on: its target is never there (IHI 0064 5.3.1; "
     "OpenCSD's issue "
     "88), "
     "1.3.3 takes the top",
     return_pops, 0},
    {"return address inside of an instruction: the range ends behind it, as OpenCSD has it from 1.8.3 on "
     "(its pull "
     "request 92), 1.3.3 walks to "
     "the end of memory",
     return_inside, 0},
    {"source address of an ERET: it makes an exception_ret (docs/listing.md), not with 1.3.3", eret_at_source,
     0},
    {"source address that cannot be read: atoms are dropped up to the next address (docs/listing.md), 1.3.3 "
     "goes "
     "on from the "
     "address before",
     nacc_at_source, 0},
    {"instruction in an IT block: conditional (docs/listing.md), with 1.3.3 not", cond_in_it, 0},
    {"times, counts and events that wait when trace is lost or ends are put out (docs/listing.md), 1.3.3 "
     "drops "
     "them",
     dropped_at_end, 0},
    {"uncommitted source address or function return at the end: what waits behind it is dropped ("
     "docs/listing.md), 1.3.3 puts it "
     "out",
     source_at_end, 0},
    {"source address more than 4 GiB ahead: 1.3.3 loses upper bits of the number of instructions", far_source,
     0},
    {"32-bit instructions of which 1.3.3 says something else", other_instruction, 0},
    {"A64 branches of FEAT_CMPBR, FEAT_PAuth_LR and FEAT_TEV: 1.3.3 does not know them", newer_instruction,
     0},
    {"A32 BLX with bits that should be one and are not: 1.3.3 does not push its return address",
     unpredictable_link, 0},
    {"A64 code that damage says is A32, return stack on: 1.3.3 finds other indirect branches in it",
     noise_as_a32, 0},
    {"cancel of more than there is: 1.3.3 does not always notice", cancel_of_nothing, 0},
    {"exception before the first context or address: 1.3.3 walks to its return address all the same",
     exception_without_context, 0},
    {"source address before the first context: 1.3.3 walks A32 code to it", source_without_context, 0},
    {"context behind a trace info, before any address: IS0, 1.3.3 keeps what was before", isa_before_address,
     0},
    {"PE reset: 1.3.3 takes it for a bad packet", pe_reset, 0},
    {"element that is held when a bad packet comes: 1.3.3 puts it out after the next synchronisation",
     left_over, 0},
    {"packet that the end of the trace cuts: 1.3.3 takes it for a bad one, drops what waits and forgets an "
     "overflow",
     cut_at_end, 0},
    {"discard after an overflow that no trace on followed: 1.3.3 says overflow again", discard_as_overflow,
     0},
    {"a packet commits, and then takes back more than there is: 1.3.3 drops what was committed",
     overrun_drops, 0},
    {"exception while execution is above its return address: nothing ran (docs/listing.md), 1.3.3 walks to "
     "the "
     "end of memory",
     exception_backwards, 0},
    {NULL, NULL, 0},
};

/* Patches what cannot be compared. */
static void clean_packets(struct stream *s)
{
    static struct ct_etm4_packet packets[ROOM];
    unsigned kinds = ~0u;
    if (!s->region_count) /* no memory accesses */
        kinds &= ~(1u << PATCH_WORLD);
    s->packets = decode(s, packets);
    patch_stream(&patches, kinds, &s->source, s->bytes, packets, s->packets);
}

/* Removes execution from packet `i` to the next address. Returns the number of packets removed. */
static unsigned blank_execution(struct stream *s, const struct ct_etm4_packet *packets, size_t count,
                                size_t i)
{
    unsigned found = 0;
    for (; i < count && !(packets[i].type >= CT_ETM4_ADDR_S_IS0 && packets[i].type <= CT_ETM4_ADDR_MATCH);
         i++)
        if (patch_is_execution(&packets[i])) {
            memset(s->bytes + packets[i].pos, 0x80, packets[i].size);
            found++;
        }
    return found;
}

/* Removes execution up to the next address wherever our walk finds the return stack empty or an exception
 * returned. Returns how often. */
static unsigned clean_returns(struct stream *s, const struct lines *ours)
{
    static struct ct_etm4_packet packets[ROOM];
    size_t count = decode(s, packets), i = 0;
    int stack = (s->source.regs.configr & RETURN_STACK) != 0;
    unsigned found = 0;
    for (const char *line = ours->text; *line; line += line_length(line)) {
        uint64_t offset = strtoull(line, NULL, 10);
        int empty = kind_is(line, "no_sync reason=bad_program_image");
        if (!empty && !(stack && kind_is(line, "exception_ret")))
            continue;
        while (i < count && (empty ? packets[i].pos < offset : packets[i].pos <= offset))
            i++;
        unsigned blanked = blank_execution(s, packets, count, i);
        patches.count[empty ? PATCH_RETURN : PATCH_ERET] += empty || blanked;
        found += empty || blanked;
    }
    return found;
}

/* Decodes a stream with coretap, and removes known differences until there are none left. Returns 0 or an
 * error. */
static int clean(struct stream *s, struct lines *ours)
{
    int err;
    do {
        clean_packets(s);
        err = lines_of_coretap(ours, &s->source, s->regions, s->region_count, s->bytes, s->size);
    } while (!err && clean_returns(s, ours));
    return err;
}

/* Decodes a stream with OpenCSD. Returns an error when it does not accept the configuration. */
static int run_opencsd(const struct stream *s, struct ocsd *ocsd, struct lines *theirs)
{
    static struct ct_etm4_packet packets[ROOM];
    size_t count = decode(s, packets);
    spell_commits(&spelled, &s->source, s->bytes, s->size, packets, count);
    int err = ocsd_run_elems(ocsd, &s->source, s->regions, s->region_count, spelled.bytes, spelled.size);
    if (!err)
        lines_of_ocsd(theirs, ocsd, spelled.origin);
    return err;
}

static int find_known(struct stream *s, const struct difference *d)
{
    for (struct known *k = known; k->what; k++) {
        int what = k->is(s, d);
        if (what) {
            k->count++;
            return what;
        }
    }
    return 0;
}

/* Compares one stream. When the first difference is a known one, its packet is removed and the comparison
 * starts again. */
static int compare(struct stream *s, struct ocsd *ocsd, struct lines *ours, struct lines *theirs)
{
    struct difference d;
    for (unsigned tries = 0; tries < MOST_TRIES; tries++) {
        if (clean(s, ours) || run_opencsd(s, ocsd, theirs)) {
            printf("# a decoder did not take the configuration\n");
            show_stream(s);
            return 0;
        }
        if (ocsd->fatal)
            printf("# OpenCSD gave up with %d because of the packet at %u\n", ocsd->fatal, ocsd->fatal_index);
        int what = 0;
        while (differ(ours, theirs, &d) && (what = find_known(s, &d)) == LINE_MADE)
            continue;
        if (!differ(ours, theirs, &d))
            return 1;
        if (what != TAKEN_OUT)
            break;
    }
    show_difference(s, &d);
    return 0;
}

/* Makes a stream of v8-M in which a function return and the atom after it are cancelled, which is rare in
 * random streams. */
static void fill_cancelled_return(struct stream *s)
{
    static const uint8_t bytes[] = {
        0,    0,    0,    0,    0,    0,    0, 0, 0, 0, 0, 0x80, /* alignment */
        0x01, 0x01, 0x00,                                        /* trace info */
        0x82, 0x01, 0x02, 0x03, 0x04, 0x11,                      /* address of 32 bits, with a context */
        0xf7, 0xf7, 0x05, 0xf7, 0x2e, 0x02,                      /* atoms, function return, atom, cancel */
        0x2d, 0x02, 0xf7, 0x2d, 0x01,                            /* commit, atom, commit */
    };
    struct rng rng = {1};
    gen_source(&rng, GEN_UNSPECULATED, &s->source);
    s->source.protocol = CT_PROTOCOL_ETM4;
    s->source.arch = (struct ct_arch){.major = 8, .profile = CT_PROFILE_M};
    s->source.regs.configr &= ~RETURN_STACK;
    s->source.regs.idr8 = 8;
    s->region_count = 0;
    s->damaged = 0;
    s->size = sizeof bytes;
    memcpy(s->bytes, bytes, sizeof bytes);
}

int main(void)
{
    static struct stream s;
    struct ocsd ocsd = {0};
    struct lines ours = {0}, theirs = {0};
    uint64_t seed = test_number("CT_SEED", 1), done = 0;
    uint64_t packets = test_count(100000, 10000000);
    int ok = 1;
    printf("TAP version 13\n1..2\n# CT_SEED=%" PRIu64 " CT_COUNT=%" PRIu64 "\n", seed, packets);
    for (; done < packets && ok; seed++) {
        struct rng rng = {seed};
        fill(&rng, &s);
        ok = compare(&s, &ocsd, &ours, &theirs);
        done += s.packets;
    }
    patch_report(&patches);
    for (struct known *k = known; k->what; k++)
        printf("# %" PRIu64 " times: %s\n", k->count, k->what);
    printf("# %" PRIu64
           " times: commits of a cycle count (IHI 0064H 6.4.7), which 1.3.3 does not carry out: given to "
           "it as a commit packet\n",
           spelled.count);
    printf("# %" PRIu64 " packets\n", done);
    printf("%sok 1 - elements are OpenCSD's", ok ? "" : "not ");
    printf(ok ? "\n" : " # CT_SEED=%" PRIu64 " CT_COUNT=1\n", seed - 1);
    fill_cancelled_return(&s);
    const int cancelled = compare(&s, &ocsd, &ours, &theirs);
    printf("%sok 2 - a function return that is taken back\n", cancelled ? "" : "not ");
    ocsd_free(&ocsd);
    lines_free(&ours);
    lines_free(&theirs);
    spelled_free(&spelled);
    return ok && cancelled ? 0 : 1;
}
