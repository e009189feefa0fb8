/* SPDX-License-Identifier: Apache-2.0 */
/* Version numbers, and texts of packets and elements. */
#include <string.h>

#include "opencsd/api/api.h"

static void version(void)
{
    printf("%08x\n", ocsd_get_version());
}

static void version_str(void)
{
    printf("%s\n", ocsd_get_version_str());
}

/* Prints the text of an empty packet of each type. */
static void print_types(ocsd_trace_protocol_t protocol, void *packet, size_t size, int *type, int first,
                        int last)
{
    for (int i = first; i <= last; i++) {
        char text[512] = "xxx";
        memset(packet, 0, size);
        *type = i;
        const int err = (int)ocsd_pkt_str(protocol, packet, text, sizeof text);
        printf("protocol %d, type %x: %d, %s|\n", (int)protocol, (unsigned)i, err, text);
    }
}

static void pkt_str(void)
{
    static ocsd_etmv4_i_pkt etm4;
    static ocsd_ptm_pkt ptm;
    static ocsd_etmv3_pkt etm3;
    char text[64];
    single_tree();
    print_types(OCSD_PROTOCOL_ETMV4I, &etm4, sizeof etm4, (int *)&etm4.type, ETM4_PKT_I_NOTSYNC, 0xff);
    print_types(OCSD_PROTOCOL_PTM, &ptm, sizeof ptm, (int *)&ptm.type, PTM_PKT_NOTSYNC, PTM_PKT_RESERVED);
    print_types(OCSD_PROTOCOL_ETMV3, &etm3, sizeof etm3, (int *)&etm3.type, ETM3_PKT_NOERROR,
                ETM3_PKT_RESERVED);
    memset(&etm4, 0, sizeof etm4);
    for (int size = -1; size < 24; size++) {
        memset(text, 'x', sizeof text);
        SHOW(ocsd_pkt_str(OCSD_PROTOCOL_ETMV4I, &etm4, text, size));
        printf("%d: %.40s|\n", size, text);
    }
    SHOW(ocsd_pkt_str(OCSD_PROTOCOL_ETMV4I, &etm4, NULL, 40));
    for (int protocol = 0; protocol < 112; protocol++)
        if (protocol != OCSD_PROTOCOL_ETMV4I && protocol != OCSD_PROTOCOL_PTM &&
            protocol != OCSD_PROTOCOL_ETMV3 && protocol != OCSD_PROTOCOL_STM) {
            strcpy(text, "xxx");
            const int err = (int)ocsd_pkt_str((ocsd_trace_protocol_t)protocol, &etm4, text, sizeof text);
            printf("protocol %d: %d, %s|\n", protocol, err, text);
        }
    print_last_error();
}

/* Prints the type and the text of an element. */
static void print_text_of(const ocsd_generic_trace_elem *e)
{
    char text[512] = "xxx";
    const int err = (int)ocsd_gen_elem_str(e, text, sizeof text);
    printf("%d, %s|\n", err, text);
}

static void gen_elem_str(void)
{
    char text[64];
    ocsd_generic_trace_elem e;
    for (int type = 0; type < 20; type++)
        for (int i = 0; i < 5 && type != OCSD_GEN_TRC_ELEM_SWTRACE; i++) {
            memset(&e, 0, sizeof e);
            ocsd_gen_elem_init(&e, (ocsd_gen_trc_elem_t)type);
            e.isa = (ocsd_isa)i;
            e.st_addr = UINT64_C(0x1234567890) << i;
            e.en_addr = e.st_addr + 4;
            e.context.security_level = (ocsd_sec_level)(i % 4);
            e.context.exception_level = (ocsd_ex_level)(i % 4);
            e.context.context_id = 0x42;
            e.context.vmid = 0x17;
            e.context.bits64 = i % 2 != 0;
            e.context.ctxt_id_valid = i > 1;
            e.context.vmid_valid = i > 2;
            e.context.el_valid = i != 3;
            e.timestamp = UINT64_C(0x123456789ab) << i;
            e.cycle_count = 100u * (unsigned)i;
            e.last_i_type = (ocsd_instr_type)i;
            e.last_i_subtype = (ocsd_instr_subtype)i;
            e.last_instr_exec = i % 2 != 0;
            e.last_instr_sz = 4;
            e.last_instr_cond = i > 2;
            e.has_cc = i > 3;
            e.excep_ret_addr = i > 1;
            e.excep_ret_addr_br_tgt = i > 2;
            print_text_of(&e);
        }
    ocsd_gen_elem_init(&e, OCSD_GEN_TRC_ELEM_CYCLE_COUNT);
    for (int size = -1; size < 24; size++) {
        memset(text, 'x', sizeof text);
        SHOW(ocsd_gen_elem_str(&e, text, size));
        printf("%d: %.40s|\n", size, text);
    }
    SHOW(ocsd_gen_elem_str(&e, NULL, 40));
    for (unsigned i = 0; i <= UNSYNC_EOT; i++) {
        memset(&e, 0, sizeof e);
        ocsd_gen_elem_init(&e, OCSD_GEN_TRC_ELEM_NO_SYNC);
        e.unsync_eot_info = (unsync_info_t)i;
        print_text_of(&e);
        ocsd_gen_elem_init(&e, OCSD_GEN_TRC_ELEM_TRACE_ON);
        e.trace_on_reason = (trace_on_reason_t)(i % 3);
        print_text_of(&e);
        ocsd_gen_elem_init(&e, OCSD_GEN_TRC_ELEM_EVENT);
        e.trace_event.ev_type = (uint16_t)i;
        e.trace_event.ev_number = 3;
        print_text_of(&e);
        ocsd_gen_elem_init(&e, OCSD_GEN_TRC_ELEM_MEMTRANS);
        e.mem_trans = (trace_memtrans_t)(i % 4);
        print_text_of(&e);
        ocsd_gen_elem_init(&e, OCSD_GEN_TRC_ELEM_EXCEPTION);
        e.exception_number = 0x11 * i;
        print_text_of(&e);
    }
}

static void gen_elem_init(void)
{
    for (int type = -1; type < 20; type++) {
        ocsd_generic_trace_elem e;
        const uint8_t *bytes = (const uint8_t *)&e;
        memset(&e, 0xa5, sizeof e);
        ocsd_gen_elem_init(&e, (ocsd_gen_trc_elem_t)type);
        for (size_t i = 0; i < sizeof e; i++)
            printf("%02x", bytes[i]);
        printf("\n");
    }
}

const struct program text_programs[] = {
    {"ocsd_get_version", version},       {"ocsd_get_version_str", version_str}, {"ocsd_pkt_str", pkt_str},
    {"ocsd_gen_elem_str", gen_elem_str}, {"ocsd_gen_elem_init", gen_elem_init}, {NULL, NULL},
};
