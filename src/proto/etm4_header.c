/* SPDX-License-Identifier: Apache-2.0 */
#include "proto/etm4_header.h"

static void set(struct ct_etm4_header *table, unsigned first, unsigned last, uint8_t type, uint8_t form)
{
    for (unsigned i = first; i <= last; i++)
        table[i] = (struct ct_etm4_header){.type = type, .form = form};
}

/* Sets headers that are defined, but reserved unless `there`, because this configuration may lack them. */
static void set_if(bool there, struct ct_etm4_header *table, unsigned first, unsigned last, uint8_t type,
                   uint8_t form)
{
    set(table, first, last, type, there ? form : (uint8_t)CT_ETM4_FORM_CFG);
}

static void set_is(struct ct_etm4_header *table, unsigned first, uint8_t type_is0, uint8_t form)
{
    for (unsigned is = 0; is < 2; is++)
        table[first + is] =
            (struct ct_etm4_header){.type = (uint8_t)(type_is0 + is), .form = form, .is = (uint8_t)is};
}

static void set_atoms(struct ct_etm4_header *table, unsigned header, uint8_t type, unsigned natoms,
                      uint32_t atoms)
{
    table[header] = (struct ct_etm4_header){
        .type = type, .form = CT_ETM4_FORM_ATOM, .natoms = (uint8_t)natoms, .atoms = atoms};
}

/* Sets the headers of atom packets, formats 1 to 6 (IHI 0064H 6.4, Atom instruction trace packets). The
 * oldest atom is in bit 0; 1 is E. */
static void atom_headers(struct ct_etm4_header *table)
{
    static const uint8_t format4[4] = {0x0e, 0x00, 0x0a, 0x05};
    static const uint8_t format5[4] = {0x1e, 0x00, 0x0a, 0x15};
    for (unsigned i = 0; i < 2; i++)
        set_atoms(table, 0xf6 + i, CT_ETM4_ATOM_F1, 1, i);
    for (unsigned i = 0; i < 4; i++)
        set_atoms(table, 0xd8 + i, CT_ETM4_ATOM_F2, 2, i);
    for (unsigned i = 0; i < 8; i++)
        set_atoms(table, 0xf8 + i, CT_ETM4_ATOM_F3, 3, i);
    for (unsigned i = 0; i < 4; i++)
        set_atoms(table, 0xdc + i, CT_ETM4_ATOM_F4, 4, format4[i]);
    set_atoms(table, 0xf5, CT_ETM4_ATOM_F5, 5, format5[0]);
    for (unsigned i = 1; i < 4; i++)
        set_atoms(table, 0xd4 + i, CT_ETM4_ATOM_F5, 5, format5[i]);
    /* Format 6: 3 to 23 E, then an E (0xc0) or an N (0xe0). */
    for (unsigned i = 0; i <= 20; i++) {
        set_atoms(table, 0xc0 + i, CT_ETM4_ATOM_F6, i + 4, (UINT32_C(1) << (i + 4)) - 1);
        set_atoms(table, 0xe0 + i, CT_ETM4_ATOM_F6, i + 4, (UINT32_C(1) << (i + 3)) - 1);
    }
}

static void conditional_headers(const struct ct_etm4_config *c, struct ct_etm4_header *table)
{
    bool on = c->conditional;
    set_if(on, table, 0x40, 0x42, CT_ETM4_COND_I_F2, CT_ETM4_FORM_PLAIN);
    set_if(on, table, 0x43, 0x43, CT_ETM4_COND_FLUSH, CT_ETM4_FORM_PLAIN);
    set_if(on, table, 0x44, 0x46, CT_ETM4_COND_RES_F4, CT_ETM4_FORM_PLAIN);
    set_if(on, table, 0x48, 0x4a, CT_ETM4_COND_RES_F2, CT_ETM4_FORM_PLAIN);
    set_if(on, table, 0x4c, 0x4e, CT_ETM4_COND_RES_F2, CT_ETM4_FORM_PLAIN);
    set_if(on, table, 0x50, 0x5f, CT_ETM4_COND_RES_F3, CT_ETM4_FORM_COND_BYTE);
    set_if(on, table, 0x68, 0x6b, CT_ETM4_COND_RES_F1, CT_ETM4_FORM_COND_RES1);
    set_if(on, table, 0x6c, 0x6c, CT_ETM4_COND_I_F1, CT_ETM4_FORM_COND_KEY);
    set_if(on, table, 0x6d, 0x6d, CT_ETM4_COND_I_F3, CT_ETM4_FORM_COND_BYTE);
    set_if(on, table, 0x6e, 0x6f, CT_ETM4_COND_RES_F1, CT_ETM4_FORM_COND_RES1);
}

static void address_headers(struct ct_etm4_header *table)
{
    set_is(table, 0x82, CT_ETM4_ADDR_CTXT_L_32IS0, CT_ETM4_FORM_ADDR_CTXT_32);
    set_is(table, 0x85, CT_ETM4_ADDR_CTXT_L_64IS0, CT_ETM4_FORM_ADDR_CTXT_64);
    set(table, 0x90, 0x92, CT_ETM4_ADDR_MATCH, CT_ETM4_FORM_ADDR_MATCH);
    set_is(table, 0x95, CT_ETM4_ADDR_S_IS0, CT_ETM4_FORM_ADDR_SHORT);
    set_is(table, 0x9a, CT_ETM4_ADDR_L_32IS0, CT_ETM4_FORM_ADDR_32);
    set_is(table, 0x9d, CT_ETM4_ADDR_L_64IS0, CT_ETM4_FORM_ADDR_64);
}

static void q_headers(const struct ct_etm4_config *c, struct ct_etm4_header *table)
{
    static const uint8_t defined[] = {0x0, 0x1, 0x2, 0x5, 0x6, 0xa, 0xb, 0xc, 0xf};
    if (!c->q_elements)
        return; /* listings call these headers reserved, not reserved by configuration */
    for (size_t i = 0; i < sizeof defined; i++)
        set(table, 0xa0u + defined[i], 0xa0u + defined[i], CT_ETM4_Q, CT_ETM4_FORM_Q);
}

static void ete_headers(const struct ct_etm4_config *c, struct ct_etm4_header *table)
{
    if (c->version >= 0x53)
        set(table, 0x09, 0x09, CT_ETM4_ITE, CT_ETM4_FORM_ITE);
    set(table, 0x0a, 0x0a, CT_ETM4_TRANS_ST, CT_ETM4_FORM_PLAIN);
    set(table, 0x0b, 0x0b, CT_ETM4_TRANS_COMMIT, CT_ETM4_FORM_PLAIN);
    set(table, 0xb0, 0xb2, CT_ETM4_SRC_ADDR_MATCH, CT_ETM4_FORM_ADDR_MATCH);
    set_is(table, 0xb4, CT_ETM4_SRC_ADDR_S_IS0, CT_ETM4_FORM_ADDR_SHORT);
    set_is(table, 0xb6, CT_ETM4_SRC_ADDR_L_32IS0, CT_ETM4_FORM_ADDR_32);
    set_is(table, 0xb8, CT_ETM4_SRC_ADDR_L_64IS0, CT_ETM4_FORM_ADDR_64);
}

void ct_etm4_headers_init(const struct ct_etm4_config *c, struct ct_etm4_header table[256])
{
    set(table, 0x00, 0xff, CT_ETM4_RESERVED, CT_ETM4_FORM_RESERVED);
    set(table, 0x00, 0x00, CT_ETM4_EXTENSION, CT_ETM4_FORM_EXTENSION);
    set(table, 0x01, 0x01, CT_ETM4_TRACE_INFO, CT_ETM4_FORM_TRACE_INFO);
    set(table, 0x02, 0x03, CT_ETM4_TIMESTAMP, CT_ETM4_FORM_TIMESTAMP);
    set(table, 0x04, 0x04, CT_ETM4_TRACE_ON, CT_ETM4_FORM_PLAIN);
    if (c->m_profile && !c->v7m && c->version >= 0x42) /* v8-M; undefined elsewhere */
        set(table, 0x05, 0x05, CT_ETM4_FUNC_RET, CT_ETM4_FORM_PLAIN);
    set(table, 0x06, 0x06, CT_ETM4_EXCEPT, CT_ETM4_FORM_EXCEPTION);
    set_if(!c->ete, table, 0x07, 0x07, CT_ETM4_EXCEPT_RTN, CT_ETM4_FORM_PLAIN);
    set(table, 0x0c, 0x0d, CT_ETM4_CCNT_F2, CT_ETM4_FORM_CCNT_F2);
    set(table, 0x0e, 0x0f, CT_ETM4_CCNT_F1, CT_ETM4_FORM_CCNT_F1);
    set(table, 0x10, 0x1f, CT_ETM4_CCNT_F3, CT_ETM4_FORM_CCNT_F3);
    set_if(c->data_trace, table, 0x20, 0x27, CT_ETM4_NUM_DS_MKR, CT_ETM4_FORM_PLAIN);
    set_if(c->data_trace, table, 0x28, 0x2c, CT_ETM4_UNNUM_DS_MKR, CT_ETM4_FORM_PLAIN);
    set(table, 0x2d, 0x2d, CT_ETM4_COMMIT, CT_ETM4_FORM_COUNT);
    set(table, 0x2e, 0x2e, CT_ETM4_CANCEL_F1, CT_ETM4_FORM_COUNT);
    set(table, 0x2f, 0x2f, CT_ETM4_CANCEL_F1_MISPRED, CT_ETM4_FORM_COUNT);
    set(table, 0x30, 0x33, CT_ETM4_MISPREDICT, CT_ETM4_FORM_SPEC);
    set(table, 0x34, 0x37, CT_ETM4_CANCEL_F2, CT_ETM4_FORM_SPEC);
    set(table, 0x38, 0x3f, CT_ETM4_CANCEL_F3, CT_ETM4_FORM_SPEC);
    conditional_headers(c, table);
    if (c->version >= 0x43)
        set(table, 0x70, 0x70, CT_ETM4_IGNORE, CT_ETM4_FORM_PLAIN);
    set(table, 0x71, 0x7f, CT_ETM4_EVENT, CT_ETM4_FORM_EVENT);
    set(table, 0x80, 0x81, CT_ETM4_CTXT, CT_ETM4_FORM_CONTEXT);
    address_headers(table);
    if (c->version >= 0x46)
        set(table, 0x88, 0x88, CT_ETM4_TS_MARKER, CT_ETM4_FORM_PLAIN);
    q_headers(c, table);
    if (c->ete)
        ete_headers(c, table);
    atom_headers(table);
}
