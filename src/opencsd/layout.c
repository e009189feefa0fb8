/* SPDX-License-Identifier: Apache-2.0 */
#include "opencsd/layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opencsd/itm_types.h"
#include "opencsd/tree.h"

enum {
    LEAST_PAGE = 64,
    MOST_PAGE = 16384,
    LEAST_PAGES = 4,
    MOST_PAGES = 256,
    LATE_BAD_IMAGE = 6,        /* UNSYNC_BAD_IMAGE in later versions, where it precedes UNSYNC_EOT */
    LATE_EOT = 7,              /* UNSYNC_EOT in later versions */
    LATE_INSTRUMENTATION = 17, /* type of instrumentation elements, which 1.3.3 lacks */
    LATE_CUSTOM = 18,          /* OCSD_GEN_TRC_ELEM_CUSTOM in versions with instrumentation, up to 1.7.1 */
    LATEST_CUSTOM = 19,        /* OCSD_GEN_TRC_ELEM_CUSTOM in versions that also have ITM elements */
};

/* Version of the program, or 0 while unknown. Global, because all trees belong to one program and some
 * functions have no tree. */
static _Atomic uint32_t known_version;

/* Reads a version such as "1.5.5". Returns 0 if it is invalid. */
static uint32_t read_version(const char *text)
{
    unsigned major = 0, minor = 0, patch = 0;
    const int n = text ? sscanf(text, "%5u.%3u.%3u", &major, &minor, &patch) : 0;
    return n >= 2 && minor < 256 && patch < 256 ? major << 16 | minor << 8 | patch : 0;
}

uint32_t ct_ocsd_version(void)
{
    uint32_t version = known_version;
    if (!version)
        version = read_version(getenv("CORETAP_OPENCSD_VERSION"));
    known_version = version ? version : OCSD_VER_NUM;
    return known_version;
}

bool ct_ocsd_version_raise(uint32_t version)
{
    const uint32_t named = read_version(getenv("CORETAP_OPENCSD_VERSION"));
    if (named && named < version)
        return false;
    if (ct_ocsd_version() < version)
        known_version = version;
    return true;
}

bool ct_ocsd_layout_is_late(void)
{
    return OCSD_VER_NUM < CT_OCSD_LATE_VERSION && ct_ocsd_version() >= CT_OCSD_LATE_VERSION;
}

/* Converts the reason of an element between the layouts, in which the last two reasons are swapped. */
static unsync_info_t other_reason(const ocsd_generic_trace_elem *e)
{
    const bool has_reason =
        e->elem_type == OCSD_GEN_TRC_ELEM_NO_SYNC || e->elem_type == OCSD_GEN_TRC_ELEM_EO_TRACE;
    const int reason = (int)e->unsync_eot_info;
    if (has_reason && (reason == LATE_BAD_IMAGE || reason == LATE_EOT))
        return (unsync_info_t)(LATE_BAD_IMAGE + LATE_EOT - reason);
    return e->unsync_eot_info;
}

/* Sets the fields of an ITM element in the later layout. */
static void set_itm(const ocsd_generic_trace_elem *e, struct ct_ocsd_late_element *out)
{
    const struct ct_ocsd_itm_payload p = ct_ocsd_itm_payload_of(e);
    const struct ct_ocsd_itm_info info = {
        .type = p.type, .source = p.source, .size = p.size, .value = p.value, .overflow = p.overflow};
    const uint32_t type = CT_OCSD_LATE_ITMTRACE;
    memcpy(out->same + offsetof(ocsd_generic_trace_elem, elem_type), &type, sizeof type);
    memcpy(out->payload, &info, sizeof info);
}

/* Reads the fields of an ITM element in the later layout. */
static void get_itm(const struct ct_ocsd_late_element *late, ocsd_generic_trace_elem *out)
{
    struct ct_ocsd_itm_info info;
    memcpy(&info, late->payload, sizeof info);
    const struct ct_ocsd_itm_payload p = {.type = (uint8_t)info.type,
                                          .source = info.source,
                                          .size = info.size,
                                          .overflow = info.overflow,
                                          .value = info.value};
    out->elem_type = (ocsd_gen_trc_elem_t)CT_OCSD_ITMTRACE;
    ct_ocsd_itm_set_payload(out, &p);
}

void ct_ocsd_late_element(const ocsd_generic_trace_elem *e, struct ct_ocsd_late_element *out)
{
    ocsd_generic_trace_elem same = *e;
    same.unsync_eot_info = other_reason(e);
    *out = (struct ct_ocsd_late_element){.extended_data = e->ptr_extended_data};
    memcpy(out, &same, sizeof out->same + sizeof same.sw_trace_info);
    if ((int)e->elem_type == CT_OCSD_ITMTRACE)
        set_itm(e, out);
}

/* Reads the fields of an instrumentation element in the later layout. */
static void get_instrumentation(const struct ct_ocsd_late_element *late, ocsd_generic_trace_elem *out)
{
    out->elem_type = (ocsd_gen_trc_elem_t)CT_OCSD_INSTRUMENTATION;
    out->exception_number = *(const uint8_t *)late->payload;
    out->timestamp = late->payload[1];
}

/* Reads an element in the later layout. */
static void read_late(const struct ct_ocsd_late_element *in, bool has_itm, ocsd_generic_trace_elem *out)
{
    *out = (ocsd_generic_trace_elem){0};
    memcpy(out, in, sizeof in->same + sizeof out->sw_trace_info);
    out->ptr_extended_data = in->extended_data;
    out->unsync_eot_info = other_reason(out);
    if (has_itm && (int)out->elem_type == CT_OCSD_LATE_ITMTRACE)
        get_itm(in, out);
    else if ((int)out->elem_type == (has_itm ? LATEST_CUSTOM : LATE_CUSTOM))
        out->elem_type = OCSD_GEN_TRC_ELEM_CUSTOM;
    else if ((int)out->elem_type == LATE_INSTRUMENTATION)
        get_instrumentation(in, out);
}

const ocsd_generic_trace_elem *ct_ocsd_own_element(const ocsd_generic_trace_elem *element,
                                                   ocsd_generic_trace_elem *room)
{
    const bool has_itm = ct_ocsd_version() >= CT_OCSD_ITM_VERSION;
    const bool is_itm = has_itm && (int)element->elem_type == CT_OCSD_LATE_ITMTRACE;
    struct ct_ocsd_late_element late;
    if (!ct_ocsd_layout_is_late() && !is_itm)
        return element;
    memcpy(&late, (const void *)element, sizeof late);
    if (ct_ocsd_layout_is_late()) {
        read_late(&late, has_itm, room);
    } else { /* the headers have the later layout */
        *room = *element;
        get_itm(&late, room);
    }
    return room;
}

void ct_ocsd_late_packet(const ocsd_etmv4_i_pkt *packet, struct ct_ocsd_late_etm4_packet *out)
{
    memset(out, 0, sizeof *out);
    memcpy(out->same, packet, sizeof out->same);
    memcpy(out->rest, (const char *)packet + sizeof out->same, sizeof out->rest);
}

void ct_ocsd_early_packet(const void *late, ocsd_etmv4_i_pkt *out)
{
    const struct ct_ocsd_late_etm4_packet *in = late;
    memcpy(out, in->same, sizeof in->same);
    memcpy((char *)out + sizeof in->same, in->rest, sizeof in->rest);
}

ocsd_err_t ocsd_dt_set_mem_acc_cacheing(const dcd_tree_handle_t handle, const int enable,
                                        const uint16_t page_size, const int nr_pages)
{
    const struct ct_ocsd_tree *tree = handle;
    if (ct_ocsd_version() < CT_OCSD_LATE_VERSION)
        known_version = CT_OCSD_LATE_VERSION;
    if (!tree)
        return OCSD_ERR_INVALID_PARAM_VAL;
    if (!tree->memory.count)
        return OCSD_ERR_NOT_INIT;
    const bool sound = page_size >= LEAST_PAGE && page_size <= MOST_PAGE && nr_pages >= LEAST_PAGES &&
                       nr_pages <= MOST_PAGES;
    return !enable || sound ? OCSD_OK : OCSD_ERR_INVALID_PARAM_VAL;
}
