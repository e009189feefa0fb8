/* SPDX-License-Identifier: Apache-2.0 */
/* Element lines of software trace, docs/listing.md: sw_trace of an STM, itm_trace of an ITM. */
#include "format/listing_sw.h"

/* Further facts about software trace, before and behind the timestamp. */
static const struct {
    const char *before;
    const char *behind;
} flags[] = {
    [CT_SW_DATA] = {"", ""},
    [CT_SW_FLAG] = {"", ""},
    [CT_SW_TRIGGER] = {" trig=1", ""},
    [CT_SW_FREQUENCY] = {"", " freq=1"},
    [CT_SW_TIME] = {"", ""},
    [CT_SW_ERROR] = {"", " err=master"},
    [CT_SW_ERROR_ANY] = {"", " err=global"},
    [CT_SW_USER] = {"", " user=1"},
    [CT_SW_XSYNC] = {"", " xsync=1"},
};

static void data(struct ct_text *t, const struct ct_elem *e)
{
    unsigned bits = e->aux & CT_SW_BITS;
    if (!bits)
        return;
    ct_text_lit(t, " data=");
    ct_text_hex_digits(t, e->v, bits / 4);
}

static void stm(struct ct_element_lister *l, const struct ct_elem *e)
{
    struct ct_text *t = l->text;
    ct_text_lit(t, " sw_trace");
    l->last_fields = flags[e->n].behind;
    if (e->n == CT_SW_ERROR_ANY)
        return;
    if (l->source.n) {
        ct_list_hex(t, " master=", l->source.v);
        ct_list_hex(t, " chan=", l->source.aux);
    }
    data(t, e);
    if (e->aux & CT_SW_MARKED)
        ct_text_lit(t, " marker=1");
    ct_text_string(t, flags[e->n].before);
}

static bool list(struct ct_element_lister *l, const struct ct_elem *e)
{
    struct ct_text *t = l->text;
    switch (e->kind) {
    case CT_ELEM_SW:
        if (e->n != CT_SW_STIMULUS) {
            stm(l, e);
            return true;
        }
        ct_text_lit(t, " itm_trace type=swit");
        ct_list_hex(t, " src=", l->source.aux);
        data(t, e);
        return true;
    case CT_ELEM_DWT:
        ct_text_lit(t, " itm_trace type=dwt");
        ct_list_hex(t, " desc=", e->n);
        data(t, e);
        return true;
    case CT_ELEM_LOCAL_TIME:
        ct_text_lit(t, " itm_trace type=ts_local");
        ct_list_hex(t, " delta=", e->v);
        ct_list_dec(t, " tc=", e->n);
        return true;
    case CT_ELEM_TIMESTAMP:
        if (e->n != CT_TIMESTAMP_GLOBAL)
            return false;
        ct_text_lit(t, " itm_trace type=ts_global");
        ct_list_hex(t, " ts=", e->v);
        return true;
    default:
        return false;
    }
}

/* Appends an element of software trace. Only here does aux have an overflow flag; other elements use it for
 * other facts. */
bool ct_list_sw(struct ct_element_lister *l, const struct ct_elem *e)
{
    if (!list(l, e))
        return false;
    if (e->aux & CT_SW_OVERFLOW)
        l->last_fields = " overflow=1";
    return true;
}
