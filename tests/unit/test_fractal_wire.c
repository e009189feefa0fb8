/* SPDX-License-Identifier: Apache-2.0 */
/* Checks coherence protocols of FRACTAL: bits of flits against the fields of the specifications, DVM messages
 * in parts, ranges, other translation regimes, and impossible flits. */
#include <string.h>

#include "coretap/fractal_wire.h"
#include "support/ctx_fixture.h"

#define VA   UINT64_C(0x7fb6d2345000)
#define ASID 0x1234

static const struct ct_fractal_message beside = {.time = 7, .initiator = 2, .kind = CT_FRACTAL_KIND_DATA};

static struct ct_fractal_flit flit(unsigned channel, unsigned opcode, uint64_t addr, uint64_t data)
{
    return (struct ct_fractal_flit){
        .channel = (uint8_t)channel, .opcode = (uint8_t)opcode, .addr = addr, .data = data};
}

static struct ct_fractal_flit snp(unsigned opcode, uint64_t addr, uint64_t data)
{
    return flit(CT_FRACTAL_CHANNEL_SNP, opcode, addr, data);
}

static struct ct_fractal_flit req(unsigned opcode, uint64_t addr, uint64_t data)
{
    return flit(CT_FRACTAL_CHANNEL_REQ, opcode, addr, data);
}

/* Passes a flit to a decoder. Returns the operation of the only message, or -1 without one. */
static int hear(struct ct_fractal_wire *w, struct ct_fractal_flit f, struct ct_fractal_message *m)
{
    struct ct_fractal_message another;
    assert_int_equal(ct_fractal_wire_flit(w, &f, &beside), CT_OK);
    if (!ct_fractal_wire_message(w, m))
        return -1;
    assert_int_equal(ct_fractal_wire_message(w, &another), 0);
    assert_true(m->time == 7 && m->initiator == 2 && m->kind == CT_FRACTAL_KIND_DATA);
    return m->op;
}

static struct ct_fractal_wire *decoder(struct ct_ctx *ctx, enum ct_fractal_protocol protocol)
{
    struct ct_fractal_wire *w;
    assert_int_equal(ct_fractal_wire_new(ctx, protocol, &w), CT_OK);
    return w;
}

/* ---- bits ---- */

TEST(ace_commands)
{
    struct ct_fractal_flit f[CT_FRACTAL_FLITS];
    struct ct_fractal_command c = {.kind = CT_FRACTAL_CMD_TLBI_VA, .va = VA, .asid = ASID};
    assert_int_equal(ct_fractal_encode_command(CT_FRACTAL_ACE, &c, f), 2);
    assert_int_equal(f[0].channel, CT_FRACTAL_CHANNEL_AR);
    assert_int_equal(f[0].opcode, 0xf);
    assert_int_equal(f[0].addr >> 12 & 7, 0);       /* TLB invalidate */
    assert_int_equal(f[0].addr >> 8 & 0xf, 0xb);    /* guest OS, Non-secure */
    assert_int_equal(f[0].addr & 0x71, 0x71);       /* address follows, leaf, ASID and VMID valid */
    assert_int_equal(f[0].addr >> 16 & 0xff, 0x34); /* ASID, low */
    assert_int_equal(f[0].addr >> 32 & 0xff, 0x12); /* and high byte */
    assert_int_equal(f[0].addr >> 40, VA >> 45);
    assert_true((f[1].addr & UINT64_C(0xfffffff000)) == (VA & UINT64_C(0xfffffff000)));
    assert_int_equal(f[1].addr >> 3 & 1, VA >> 40 & 1);
    assert_int_equal(f[1].addr >> 40, VA >> 41 & 0xf);
    c.kind = CT_FRACTAL_CMD_TLBI_ASID;
    assert_int_equal(ct_fractal_encode_command(CT_FRACTAL_ACE, &c, f), 1);
    assert_int_equal(f[0].addr & 1, 0);
    c = (struct ct_fractal_command){.kind = CT_FRACTAL_CMD_CLEAN, .pa = 0x1240};
    assert_int_equal(ct_fractal_encode_command(CT_FRACTAL_ACE, &c, f), 1);
    assert_int_equal(f[0].opcode, 0x9); /* CleanInvalid, because MakeInvalid would lose dirty data */
    assert_int_equal(f[0].addr, 0x1240);
}

TEST(chi_commands)
{
    struct ct_fractal_flit f[CT_FRACTAL_FLITS];
    struct ct_fractal_command c = {.kind = CT_FRACTAL_CMD_TLBI_VA, .va = VA, .asid = ASID};
    assert_int_equal(ct_fractal_encode_command(CT_FRACTAL_CHI, &c, f), 1);
    assert_int_equal(f[0].channel, CT_FRACTAL_CHANNEL_REQ);
    assert_string_equal(ct_fractal_flit_name(f[0].channel, f[0].opcode), "DVMOp");
    assert_int_equal(f[0].addr & 0xf, 0);
    assert_int_equal(f[0].addr >> 4 & 7, 7);    /* AddrV, VMIDV, ASIDV */
    assert_int_equal(f[0].addr >> 7 & 3, 3);    /* Non-secure */
    assert_int_equal(f[0].addr >> 9 & 3, 2);    /* guest OS */
    assert_int_equal(f[0].addr >> 11 & 7, 0);   /* TLBI */
    assert_int_equal(f[0].addr >> 14 & 255, 0); /* VMID */
    assert_int_equal(f[0].addr >> 22 & 0xffff, ASID);
    assert_int_equal(f[0].addr >> 38, 4); /* leaf, both stages */
    assert_true(f[0].data == VA >> 12 << 10);
    c = (struct ct_fractal_command){.kind = CT_FRACTAL_CMD_ICI, .pa = 0x80001240, .va = 0x12345000};
    assert_int_equal(ct_fractal_encode_command(CT_FRACTAL_CHI, &c, f), 1);
    assert_int_equal(f[0].addr >> 4 & 7, 7);       /* AddrV, VIV = 0b11 */
    assert_int_equal(f[0].addr >> 9 & 3, 0);       /* hypervisor and all guests */
    assert_int_equal(f[0].addr >> 11 & 7, 2);      /* PICI */
    assert_int_equal(f[0].addr >> 14 & 255, 0x23); /* VI[27:20] */
    assert_int_equal(f[0].addr >> 22 & 255, 0x45); /* VI[19:12] */
    assert_true(f[0].data == 0x80001240 >> 6 << 4);
    static const uint8_t opcodes[] = {
        [CT_FRACTAL_CMD_READ] = 0x01, [CT_FRACTAL_CMD_PEEK] = 0x03, [CT_FRACTAL_CMD_CLEAN] = 0x09};
    for (unsigned kind = 0; kind <= CT_FRACTAL_CMD_CLEAN; kind++) {
        c = (struct ct_fractal_command){.kind = (uint8_t)kind, .pa = 0x1240};
        assert_int_equal(ct_fractal_encode_command(CT_FRACTAL_CHI, &c, f), 1);
        assert_true(f[0].opcode == opcodes[kind] && f[0].addr == 0x1240 && !f[0].data);
    }
}

TEST(chi_snoops)
{
    static const struct {
        uint8_t op, opcode;
        const char *name;
    } rows[] = {{CT_FRACTAL_READ_ONCE, 0x03, "SnpOnce"},
                {CT_FRACTAL_READ_SHARED, 0x01, "SnpShared"},
                {CT_FRACTAL_READ_CLEAN, 0x02, "SnpClean"},
                {CT_FRACTAL_READ_NOT_SHARED_DIRTY, 0x04, "SnpNotSharedDirty"},
                {CT_FRACTAL_READ_UNIQUE, 0x07, "SnpUnique"},
                {CT_FRACTAL_CLEAN_SHARED, 0x08, "SnpCleanShared"},
                {CT_FRACTAL_CLEAN_INVALID, 0x09, "SnpCleanInvalid"},
                {CT_FRACTAL_MAKE_INVALID, 0x0a, "SnpMakeInvalid"}};
    struct ct_fractal_flit f[CT_FRACTAL_FLITS];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct ct_fractal_message m = {.op = rows[i].op, .addr = 0x81238};
        assert_int_equal(ct_fractal_encode_message(CT_FRACTAL_CHI, &m, f), 1);
        assert_int_equal(f[0].channel, CT_FRACTAL_CHANNEL_SNP);
        assert_int_equal(f[0].opcode, rows[i].opcode);
        assert_int_equal(f[0].addr, 0x81238 >> 3);
        assert_string_equal(ct_fractal_flit_name(f[0].channel, f[0].opcode), rows[i].name);
    }
    const struct ct_fractal_message m = {.op = CT_FRACTAL_TLBI_VA, .addr = VA, .value = ASID};
    assert_int_equal(ct_fractal_encode_message(CT_FRACTAL_CHI, &m, f), 2);
    assert_string_equal(ct_fractal_flit_name(f[0].channel, f[0].opcode), "SnpDVMOp");
    assert_true(!(f[0].addr & 1) && (f[1].addr & 1));
    assert_int_equal(f[0].addr >> 1 & 0x7f, 0x5f); /* AddrV, VMIDV, ASIDV, Non-secure, guest OS */
    assert_int_equal(f[0].addr >> 8 & 7, 0);
    assert_int_equal(f[0].addr >> 19 & 0xffff, ASID);
    assert_int_equal(f[0].addr >> 37 & 1, 0);                                         /* not only the leaf */
    assert_int_equal(f[0].addr >> 38 & 7, VA >> 46 & 7);                              /* VA[48:46] */
    assert_true((f[1].addr & ~UINT64_C(1)) == (VA & ((UINT64_C(1) << 46) - 1)) >> 5); /* VA[45:6] */
}

/* ---- DVM messages of a fabric ---- */

TEST_WITH(parts_in_any_order, ctx)
{
    struct ct_fractal_wire *w = decoder(ctx, CT_FRACTAL_CHI);
    const struct ct_fractal_message sent = {.op = CT_FRACTAL_TLBI_VA_LAST, .addr = VA, .value = ASID};
    struct ct_fractal_flit a[CT_FRACTAL_FLITS], b[CT_FRACTAL_FLITS];
    struct ct_fractal_message m;
    assert_int_equal(ct_fractal_encode_message(CT_FRACTAL_CHI, &sent, a), 2);
    memcpy(b, a, sizeof b);
    b[0].data |= UINT64_C(9) << 32; /* another TxnID */
    b[1].data |= UINT64_C(9) << 32;
    assert_int_equal(hear(w, a[1], &m), -1);
    assert_int_equal(hear(w, b[0], &m), -1);
    assert_int_equal(hear(w, snp(0x01, 8, 0), &m), CT_FRACTAL_READ_SHARED);
    assert_int_equal(hear(w, a[0], &m), CT_FRACTAL_TLBI_VA_LAST);
    assert_true(m.addr == VA && m.value == ASID);
    assert_int_equal(hear(w, b[1], &m), CT_FRACTAL_TLBI_VA_LAST);
    assert_true(m.addr == VA && m.value == ASID);
    assert_int_equal(ct_fractal_wire_finish(w), CT_OK);

    assert_int_equal(hear(w, a[0], &m), -1); /* the same part twice: both are dropped */
    assert_int_equal(ct_fractal_wire_flit(w, &a[0], &beside), CT_ERR_FORMAT);
    assert_non_null(strstr(ct_ctx_error(ctx), "came twice"));
    assert_int_equal(ct_fractal_wire_finish(w), CT_OK);
    assert_int_equal(hear(w, a[0], &m), -1);
    assert_int_equal(ct_fractal_wire_finish(w), CT_ERR_FORMAT);
    assert_non_null(strstr(ct_ctx_error(ctx), "1 DVM messages are without"));
    assert_int_equal(ct_fractal_wire_finish(w), CT_OK);

    for (uint64_t txn = 0; txn < 64; txn++)
        assert_int_equal(hear(w, snp(0x0d, a[0].addr, txn << 32), &m), -1);
    const struct ct_fractal_flit more = snp(0x0d, a[0].addr, UINT64_C(64) << 32);
    assert_int_equal(ct_fractal_wire_flit(w, &more, &beside), CT_ERR_LIMIT);
    ct_fractal_wire_free(w);
}

TEST(ranges_are_pages)
{
    struct ct_fractal_wire *w = decoder(NULL, CT_FRACTAL_CHI);
    struct ct_fractal_message m = {.op = CT_FRACTAL_TLBI_VA_LAST, .addr = VA, .value = ASID}, heard;
    struct ct_fractal_flit f[CT_FRACTAL_FLITS];
    assert_int_equal(ct_fractal_encode_message(CT_FRACTAL_CHI, &m, f), 2);
    f[0].data |= 1;      /* Range */
    f[1].data |= 4;      /* Num */
    f[1].addr |= 1 << 5; /* TG[0]: 4 KB */
    f[1].addr |= 1 << 1; /* Scale[0] */
    assert_int_equal(ct_fractal_wire_flit(w, &f[0], &beside), CT_OK);
    assert_int_equal(ct_fractal_wire_flit(w, &f[1], &beside), CT_OK);
    assert_int_equal(ct_fractal_wire_flit(w, &f[0], &beside), CT_ERR_LIMIT); /* messages wait */
    unsigned pages = 0;
    for (; ct_fractal_wire_message(w, &heard); pages++) {
        assert_int_equal(heard.op, CT_FRACTAL_TLBI_VA_LAST);
        assert_true(heard.addr == VA + pages * UINT64_C(4096) && heard.value == ASID);
    }
    assert_int_equal(pages, 5 << 6); /* (Num + 1) * 2^(5 * Scale + 1) */
    /* the same as a request: Num[4] in the address, the other bits next to the base; 64 KB */
    const struct ct_fractal_flit request =
        req(0x14, 0x5f0 | (uint64_t)ASID << 22 | UINT64_C(3) << 41, (VA & ~UINT64_C(0xffff)) >> 2 | 3 << 8);
    assert_int_equal(ct_fractal_wire_flit(w, &request, &beside), CT_OK);
    for (pages = 0; ct_fractal_wire_message(w, &heard); pages++)
        assert_true(heard.op == CT_FRACTAL_TLBI_VA &&
                    heard.addr == (VA & ~UINT64_C(0xffff)) + pages * UINT64_C(65536));
    assert_int_equal(pages, 17 << 1);
    ct_fractal_wire_free(w);
}

/* Makes a DVMOp from fields: type, exception, security, valid bits, stage and leaf. */
static struct ct_fractal_flit dvm(unsigned type, unsigned exception, unsigned security, unsigned valid,
                                  unsigned stage, unsigned leaf)
{
    return req(0x14,
               (uint64_t)valid << 4 | security << 7 | exception << 9 | type << 11 | (uint64_t)ASID << 22 |
                   (uint64_t)stage << 38 | (uint64_t)leaf << 40,
               VA >> 2);
}

TEST(other_regimes_are_passed_over)
{
    enum {
        ADDR = 1,
        VMID = 2,
        BY_ASID = 4,
    };
    static const struct {
        uint8_t type, exception, security, valid, stage, leaf;
        int op;
    } rows[] = {
        {0, 2, 3, VMID | BY_ASID | ADDR, 0, 0, CT_FRACTAL_TLBI_VA},
        {0, 2, 3, VMID | BY_ASID | ADDR, 0, 1, CT_FRACTAL_TLBI_VA_LAST},
        {0, 2, 3, VMID | ADDR, 0, 0, CT_FRACTAL_TLBI_VA_ALL},
        {0, 2, 3, VMID | ADDR, 0, 1, CT_FRACTAL_TLBI_VA_ALL_LAST},
        {0, 2, 3, VMID | BY_ASID, 0, 0, CT_FRACTAL_TLBI_ASID},
        {0, 2, 3, 0, 0, 0, CT_FRACTAL_TLBI_ALL},
        {0, 2, 3, VMID, 1, 0, CT_FRACTAL_TLBI_ALL},
        {0, 3, 3, BY_ASID | ADDR, 0, 1, CT_FRACTAL_TLBI_VA_LAST}, /* a host at EL2 */
        {0, 2, 3, VMID | ADDR, 2, 0, -1},                         /* by IPA */
        {0, 2, 2, BY_ASID | ADDR, 0, 0, -1},                      /* Secure */
        {0, 2, 0, VMID | ADDR, 0, 0, -1},                         /* Realm */
        {0, 1, 2, ADDR, 0, 0, -1},                                /* EL3 */
        {0, 1, 2, ADDR, 3, 0, -1},                                /* granule protection table */
        {1, 0, 0, ADDR, 0, 0, -1},                                /* branch predictors */
        {2, 0, 3, ADDR, 0, 0, -1},                                /* by PA */
        {3, 2, 3, VMID | BY_ASID | ADDR, 0, 0, CT_FRACTAL_ICI_VA},
        {3, 0, 3, 0, 0, 0, -1},
        {4, 0, 0, 0, 0, 0, -1}, /* synchronisation */
    };
    struct ct_fractal_wire *w = decoder(NULL, CT_FRACTAL_CHI);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ct_fractal_message m;
        assert_int_equal(hear(w,
                              dvm(rows[i].type, rows[i].exception, rows[i].security, rows[i].valid,
                                  rows[i].stage, rows[i].leaf),
                              &m),
                         rows[i].op);
        if (rows[i].op >= 0) {
            assert_true(m.addr == (rows[i].valid & ADDR ? VA : 0));
            assert_true(m.value == (rows[i].valid & BY_ASID ? ASID : 0));
        }
    }
    ct_fractal_wire_free(w);
}

TEST(requests_and_hints)
{
    static const struct {
        const char *name;
        int op;
        uint8_t channel, opcode;
    } rows[] = {
        {"CleanUnique", CT_FRACTAL_CLEAN_INVALID, CT_FRACTAL_CHANNEL_REQ, 0x0b},
        {"MakeUnique", CT_FRACTAL_MAKE_INVALID, CT_FRACTAL_CHANNEL_REQ, 0x0c},
        {"ReadNotSharedDirty", CT_FRACTAL_READ_NOT_SHARED_DIRTY, CT_FRACTAL_CHANNEL_REQ, 0x26},
        {"ReadPreferUnique", CT_FRACTAL_READ_UNIQUE, CT_FRACTAL_CHANNEL_REQ, 0x4c},
        {"MakeReadUnique", CT_FRACTAL_CLEAN_INVALID, CT_FRACTAL_CHANNEL_REQ, 0x41},
        {"AtomicCompare", CT_FRACTAL_READ_UNIQUE, CT_FRACTAL_CHANNEL_REQ, 0x39},
        {"WriteBackFull", CT_FRACTAL_WRITE_BACK, CT_FRACTAL_CHANNEL_REQ, 0x1b},
        {"WriteBackFullCleanInvPoPA", CT_FRACTAL_WRITE_BACK, CT_FRACTAL_CHANNEL_REQ, 0x79},
        {"WriteUniquePtl", CT_FRACTAL_WRITE, CT_FRACTAL_CHANNEL_REQ, 0x18},
        {"Evict", -1, CT_FRACTAL_CHANNEL_REQ, 0x0d},
        {"PrefetchTgt", -1, CT_FRACTAL_CHANNEL_REQ, 0x3a},
        {"SnpUniqueFwd", CT_FRACTAL_READ_UNIQUE, CT_FRACTAL_CHANNEL_SNP, 0x17},
        {"SnpNotSharedDirtyFwd", CT_FRACTAL_READ_NOT_SHARED_DIRTY, CT_FRACTAL_CHANNEL_SNP, 0x14},
        {"SnpStashShared", -1, CT_FRACTAL_CHANNEL_SNP, 0x0c},
        {"SnpQuery", -1, CT_FRACTAL_CHANNEL_SNP, 0x10},
        {"CleanUnique", CT_FRACTAL_CLEAN_INVALID, CT_FRACTAL_CHANNEL_AR, 0xb},
        {"DVMComplete", -1, CT_FRACTAL_CHANNEL_AC, 0xe},
        {"Evict", -1, CT_FRACTAL_CHANNEL_AW, 4},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const int chi = rows[i].channel >= CT_FRACTAL_CHANNEL_SNP;
        struct ct_fractal_wire *w = decoder(NULL, chi ? CT_FRACTAL_CHI : CT_FRACTAL_ACE);
        struct ct_fractal_message m = {0};
        assert_string_equal(ct_fractal_flit_name(rows[i].channel, rows[i].opcode), rows[i].name);
        assert_int_equal(hear(w, flit(rows[i].channel, rows[i].opcode, 0x1000, 0), &m), rows[i].op);
        if (rows[i].op >= 0)
            assert_true(m.addr == (rows[i].channel == CT_FRACTAL_CHANNEL_SNP ? 0x8000 : 0x1000));
        ct_fractal_wire_free(w);
    }
}

/* ---- what cannot be ---- */

TEST_WITH(bad_flits_are_named, ctx)
{
    static const struct {
        uint8_t protocol;
        struct ct_fractal_flit flit;
        const char *text;
    } rows[] = {
        {CT_FRACTAL_CHI,
         {.channel = CT_FRACTAL_CHANNEL_SNP, .opcode = 0x18},
         "SNP opcode 0x18: the opcode is reserved"},
        {CT_FRACTAL_CHI,
         {.channel = CT_FRACTAL_CHANNEL_SNP, .opcode = 0x27},
         "SNP opcode 0x27: the opcode has more than 5 bits"},
        {CT_FRACTAL_CHI,
         {.channel = CT_FRACTAL_CHANNEL_REQ, .opcode = 0x7f},
         "REQ opcode 0x7f: the opcode is reserved"},
        {CT_FRACTAL_CHI,
         {.channel = CT_FRACTAL_CHANNEL_REQ, .opcode = 0x87},
         "REQ opcode 0x87: the opcode has more than 7 bits"},
        {CT_FRACTAL_CHI,
         {.channel = CT_FRACTAL_CHANNEL_SNP, .opcode = 7, .addr = UINT64_C(1) << 49},
         "SNP.SnpUnique address 0x2000000000000: the address has more than 49 bits"},
        {CT_FRACTAL_CHI,
         {.channel = CT_FRACTAL_CHANNEL_REQ, .opcode = 7, .addr = UINT64_C(1) << 52},
         "has more than 52 bits"},
        {CT_FRACTAL_CHI, {.channel = CT_FRACTAL_CHANNEL_AC}, "chi has no such channel"},
        {CT_FRACTAL_CHI, {.channel = 77}, "channel ?: chi has no such channel"},
        {CT_FRACTAL_CHI,
         {.channel = CT_FRACTAL_CHANNEL_REQ, .opcode = 0x14, .addr = 7 << 11},
         "the DVMType is reserved"},
        {CT_FRACTAL_CHI,
         {.channel = CT_FRACTAL_CHANNEL_REQ, .opcode = 0x14, .addr = UINT64_C(1) << 41 | 1 << 4},
         "a reserved granule"},
        {CT_FRACTAL_ACE,
         {.channel = CT_FRACTAL_CHANNEL_AC, .opcode = 0xb},
         "AC opcode 0xb: the opcode is reserved"},
        {CT_FRACTAL_ACE, {.channel = CT_FRACTAL_CHANNEL_AW, .opcode = 8}, "has more than 3 bits"},
        {CT_FRACTAL_ACE,
         {.channel = CT_FRACTAL_CHANNEL_AC, .opcode = 0xf, .addr = 0x80},
         "ranges of DVMv8.4 are supported only for CHI"},
        {CT_FRACTAL_ACE,
         {.channel = CT_FRACTAL_CHANNEL_AC, .opcode = 0xf, .addr = 0x7000},
         "the type of this DVM message is reserved"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ct_fractal_wire *w = decoder(ctx, rows[i].protocol);
        struct ct_fractal_message m;
        assert_int_equal(ct_fractal_wire_flit(w, &rows[i].flit, &beside), CT_ERR_FORMAT);
        if (!strstr(ct_ctx_error(ctx), rows[i].text))
            fail_msg("row %zu: %s", i, ct_ctx_error(ctx));
        assert_int_equal(ct_fractal_wire_message(w, &m), 0);
        assert_int_equal(ct_fractal_wire_finish(w), CT_OK);
        ct_fractal_wire_free(w);
    }
    struct ct_fractal_wire *w;
    assert_int_equal(ct_fractal_wire_new(ctx, CT_FRACTAL_NEUTRAL, &w), CT_ERR_ARG);
    assert_int_equal(ct_fractal_wire_new(ctx, CT_FRACTAL_PROTOCOL_COUNT, &w), CT_ERR_ARG);
}

TEST(what_has_no_flits)
{
    struct ct_fractal_flit f[CT_FRACTAL_FLITS];
    struct ct_fractal_message m = {.op = CT_FRACTAL_DATA};
    struct ct_fractal_command c = {.kind = CT_FRACTAL_CMD_KIND_COUNT};
    assert_int_equal(ct_fractal_encode_message(CT_FRACTAL_CHI, &m, f), 0);
    m = (struct ct_fractal_message){.op = CT_FRACTAL_OP_COUNT};
    assert_int_equal(ct_fractal_encode_message(CT_FRACTAL_CHI, &m, f), CT_ERR_ARG);
    m = (struct ct_fractal_message){.op = CT_FRACTAL_READ_ONCE, .addr = UINT64_C(1) << 52};
    assert_int_equal(ct_fractal_encode_message(CT_FRACTAL_CHI, &m, f), CT_ERR_ARG);
    assert_int_equal(ct_fractal_encode_message(CT_FRACTAL_NEUTRAL, &m, f), 0);
    assert_int_equal(ct_fractal_encode_message(CT_FRACTAL_PROTOCOL_COUNT, &m, f), CT_ERR_ARG);
    assert_int_equal(ct_fractal_encode_command(CT_FRACTAL_CHI, &c, f), CT_ERR_ARG);
    f[0] = req(0x1b, 0x1000, 0); /* a write-back is not a command */
    assert_int_equal(ct_fractal_decode_command(NULL, CT_FRACTAL_CHI, f, 1, &c), CT_ERR_FORMAT);
    f[0] = snp(0x01, 0x1000, 0); /* nor is a snoop */
    assert_int_equal(ct_fractal_decode_command(NULL, CT_FRACTAL_CHI, f, 1, &c), CT_ERR_FORMAT);
    f[0] = req(0x14, 0x7000, 0);
    f[1] = req(0x01, 0, 0);
    assert_int_equal(ct_fractal_decode_command(NULL, CT_FRACTAL_CHI, f, 2, &c), CT_ERR_FORMAT);
}

/* ---- lines ---- */

TEST_WITH(lines_of_flits, ctx)
{
    static const struct {
        const char *text, *wrong;
    } rows[] = {{"5,SNP.SnpUnique,2,D,0x200,0x0", NULL},
                {"5,SNP.0x7,2,D,0x200,0", NULL},
                {"x,SNP.SnpUnique,2,D,0,0", "column 1: time"},
                {"5,SNQ.SnpUnique,2,D,0,0", "column 3: op: unknown channel; AC, AR"},
                {"5,SNP.Unique,2,D,0,0", "op: unknown opcode"},
                {"5,REQ.SnpUnique,2,D,0,0", "op: unknown opcode"},
                {"5,SNP.0x100,2,D,0,0", "op: unknown opcode"},
                {"5,SNP.,2,D,0,0", "op: unknown opcode"},
                {"5,SNP.SnpUnique,64,D,0,0", "initiator"},
                {"5,SNP.SnpUnique,2,d,0,0", "kind"},
                {"5,SNP.SnpUnique,2,D,0x1ffffffffffffffff,0", "addr"},
                {"5,SNP.SnpUnique,2,D,0,", "value"},
                {"5,SNP.SnpUnique,2,D,0,0,", "characters after"},
                {"5,SNP.SnpUnique", "op: unknown opcode"}};
    struct ct_fractal_message m;
    struct ct_fractal_flit f;
    char text[128];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const int rc = ct_fractal_flit_parse(ctx, rows[i].text, strlen(rows[i].text), &m, &f);
        assert_int_equal(rc, rows[i].wrong ? CT_ERR_FORMAT : CT_OK);
        assert_true(ct_fractal_flit_is_line(rows[i].text, strlen(rows[i].text)));
        if (rows[i].wrong && !strstr(ct_ctx_error(ctx), rows[i].wrong))
            fail_msg("%s: %s", rows[i].text, ct_ctx_error(ctx));
        if (rows[i].wrong)
            continue;
        assert_int_equal(ct_fractal_flit_print(&f, &m, text), strlen(rows[0].text));
        assert_string_equal(text, rows[0].text);
    }
    f = snp(0x1f, 1, 2);
    ct_fractal_flit_print(&f, &beside, text);
    assert_string_equal(text, "7,SNP.0x1f,2,D,0x1,0x2");
    assert_false(ct_fractal_flit_is_line("5,ReadOnce,0,D,0x1.0,0", 22));
    assert_false(ct_fractal_flit_is_line("5", 1));
    assert_string_equal(ct_fractal_flit_name(CT_FRACTAL_CHANNEL_COUNT, 0), "?");
    assert_string_equal(ct_fractal_channel_name(CT_FRACTAL_CHANNEL_COUNT), "?");
    assert_string_equal(ct_fractal_protocol_name(CT_FRACTAL_CHI), "chi");
    assert_string_equal(ct_fractal_protocol_name(CT_FRACTAL_PROTOCOL_COUNT), "?");
}
