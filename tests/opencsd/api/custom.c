/* SPDX-License-Identifier: Apache-2.0 */
/* Decoders of the client: how they are registered, created and destroyed, which calls they get, and what the
 * library does for them. The first byte of their trace selects what they do. 1.3.3 crashes when decoders are
 * deregistered after one was created, and when it prints the elements of a custom decoder. */
#include <string.h>

#include "opencsd/api/api.h"

enum {
    MOST_DECODERS = 8,
};

/* Configuration of a decoder: its trace ID, and which error its creation returns. */
struct config {
    uint8_t id;
    int id_error, create_error;
    int lacks; /* a bit for each member of the instance that is left out */
};

static struct decoder {
    ocsd_extern_dcd_cb_fns library;
    uint8_t id;
} decoders[MOST_DECODERS];
static unsigned decoder_count;

static ocsd_datapath_resp_t answer;

static void put_element(const struct decoder *d, ocsd_trc_index_t index)
{
    ocsd_generic_trace_elem e;
    memset(&e, 0, sizeof e);
    ocsd_gen_elem_init(&e, OCSD_GEN_TRC_ELEM_CUSTOM);
    printf("  element: %d\n", (int)d->library.fn_gen_elem_out(d->library.lib_context, index, d->id, &e));
}

static void log_all(const struct decoder *d, ocsd_trc_index_t index)
{
    const ocsd_extern_dcd_cb_fns *l = &d->library;
    l->fn_log_error(l->lib_context, OCSD_ERR_SEV_ERROR, OCSD_ERR_BAD_PACKET_SEQ, index, d->id, "an error");
    l->fn_log_error(l->lib_context, OCSD_ERR_SEV_WARN, OCSD_ERR_BAD_PACKET_SEQ, index, d->id, "a warning");
    l->fn_log_error(l->lib_context, OCSD_ERR_SEV_ERROR, OCSD_ERR_FAIL, OCSD_BAD_TRC_INDEX, OCSD_BAD_CS_SRC_ID,
                    "");
    print_last_error();
    l->fn_log_msg(l->lib_context, OCSD_ERR_SEV_ERROR, "a message of errors");
    l->fn_log_msg(l->lib_context, OCSD_ERR_SEV_WARN, "a message of warnings\n");
    l->fn_log_msg(l->lib_context, OCSD_ERR_SEV_INFO, "information");
}

static void put_packet(const struct decoder *d, ocsd_trc_index_t index, const uint8_t *bytes, uint32_t size)
{
    static const int packet = 42;
    const ocsd_extern_dcd_cb_fns *l = &d->library;
    l->fn_packet_mon(l->lib_context, OCSD_OP_DATA, index, &packet, size, bytes);
    printf("  sink: %d\n", (int)l->fn_packet_data_sink(l->lib_context, OCSD_OP_DATA, index, &packet));
}

static void decode_instructions(const struct decoder *d)
{
    static const struct {
        ocsd_isa isa;
        uint32_t opcode;
    } instructions[] = {
        {ocsd_isa_aarch64, 0xd503201f}, {ocsd_isa_aarch64, 0x14000000}, {ocsd_isa_aarch64, 0xd65f03c0},
        {ocsd_isa_aarch64, 0x94000001}, {ocsd_isa_aarch64, 0xd63f0000}, {ocsd_isa_aarch64, 0x54000001},
        {ocsd_isa_aarch64, 0xb4000001}, {ocsd_isa_aarch64, 0x36000041}, {ocsd_isa_aarch64, 0xd503207f},
        {ocsd_isa_aarch64, 0xd5033fdf}, {ocsd_isa_aarch64, 0xd5033f9f}, {ocsd_isa_aarch64, 0xd69f03e0},
        {ocsd_isa_aarch64, 0xd65f0bff}, {ocsd_isa_aarch64, 0xd71f0800}, {ocsd_isa_arm, 0xe1a00000},
        {ocsd_isa_arm, 0xea000000},     {ocsd_isa_arm, 0xeb000000},     {ocsd_isa_arm, 0xfa000000},
        {ocsd_isa_arm, 0xe12fff1e},     {ocsd_isa_arm, 0xe12fff3e},     {ocsd_isa_arm, 0x0a000000},
        {ocsd_isa_arm, 0xe8bd8000},     {ocsd_isa_arm, 0xe1a0f00e},     {ocsd_isa_arm, 0xe320f002},
        {ocsd_isa_arm, 0xf57ff06f},     {ocsd_isa_arm, 0xf57ff04f},     {ocsd_isa_thumb2, 0xbf00},
        {ocsd_isa_thumb2, 0xe7fe},      {ocsd_isa_thumb2, 0x4770},      {ocsd_isa_thumb2, 0x4780},
        {ocsd_isa_thumb2, 0xd0fe},      {ocsd_isa_thumb2, 0xbd00},      {ocsd_isa_thumb2, 0xf800f000},
        {ocsd_isa_thumb2, 0xe800f000},  {ocsd_isa_thumb2, 0xbf08},      {ocsd_isa_thumb2, 0xbf0c},
        {ocsd_isa_thumb2, 0xbf02},      {ocsd_isa_thumb2, 0xbf01},      {ocsd_isa_thumb2, 0xb100},
        {ocsd_isa_thumb2, 0xbf20},      {ocsd_isa_thumb2, 0x8f6ff3bf},  {ocsd_isa_thumb2, 0xbffef7ff},
        {ocsd_isa_tee, 0xbf00},         {ocsd_isa_jazelle, 0},          {ocsd_isa_custom, 0},
        {ocsd_isa_unknown, 0},
    };
    for (size_t i = 0; i < 2 * (sizeof instructions / sizeof *instructions); i++) {
        ocsd_instr_info info;
        memset(&info, 0, sizeof info);
        info.pe_type = (ocsd_arch_profile_t){ARCH_V8, profile_CortexA};
        info.isa = instructions[i / 2].isa;
        info.opcode = instructions[i / 2].opcode;
        info.instr_addr = CODE;
        info.dsb_dmb_waypoints = i & 1;
        info.wfi_wfe_branch = i & 1;
        const int err = (int)d->library.fn_arm_instruction_decode(d->library.lib_context, &info);
        printf("  %d %08x %d: %d, type %d.%d to %llx in %d, %u bytes, %u conditional, %u link, IT %u\n",
               (int)info.isa, info.opcode, (int)(i & 1), err, (int)info.type, (int)info.sub_type,
               (unsigned long long)info.branch_addr, (int)info.next_isa, info.instr_size, info.is_conditional,
               info.is_link, info.thumb_it_conditions);
    }
}

static void read_memory(const struct decoder *d)
{
    uint8_t bytes[8] = {0};
    uint32_t size = sizeof bytes;
    const int err = (int)d->library.fn_memory_access(d->library.lib_context, CODE, d->id, OCSD_MEM_SPACE_ANY,
                                                     &size, bytes);
    printf("  memory: %d, %u bytes, %02x\n", err, size, bytes[0]);
}

static ocsd_datapath_resp_t take_data(const void *handle, const ocsd_datapath_op_t op,
                                      const ocsd_trc_index_t index, const uint32_t size, const uint8_t *bytes,
                                      uint32_t *used)
{
    const struct decoder *d = handle;
    printf("  decoder %02x: operation %d, %u bytes\n", d->id, (int)op, size);
    if (op != OCSD_OP_DATA)
        return answer;
    *used = size;
    switch (bytes[0]) {
    case 'e':
        put_element(d, index);
        break;
    case 'l':
        log_all(d, index);
        break;
    case 'p':
        put_packet(d, index, bytes, size);
        break;
    case 'i':
        decode_instructions(d);
        break;
    case 'm':
        read_memory(d);
        break;
    default:
        break;
    }
    return answer;
}

static void update(const void *handle, const int flags)
{
    printf("  decoder %02x: packets go to %d\n", ((const struct decoder *)handle)->id, flags);
}

static ocsd_err_t create(const int create_flags, const void *config, const ocsd_extern_dcd_cb_fns *callbacks,
                         ocsd_extern_dcd_inst_t *instance)
{
    static char name[] = "MINE";
    const struct config *c = config;
    struct decoder *d = &decoders[decoder_count++ % MOST_DECODERS];
    printf("  create %02x with %d, packets go to %d\n", c->id, create_flags, callbacks->packetCBFlags);
    *d = (struct decoder){*callbacks, c->id};
    instance->fn_data_in = c->lacks & 1 ? NULL : take_data;
    instance->fn_update_pkt_mon = c->lacks & 2 ? NULL : update;
    instance->decoder_handle = c->lacks & 4 ? NULL : d;
    instance->p_decoder_name = c->lacks & 8 ? NULL : name;
    instance->cs_id = c->id;
    return (ocsd_err_t)c->create_error;
}

static ocsd_err_t destroy(const void *handle)
{
    printf("  destroy %02x\n", ((const struct decoder *)handle)->id);
    return OCSD_OK;
}

static ocsd_err_t get_id(const void *config, unsigned char *id)
{
    printf("  get the ID\n");
    *id = ((const struct config *)config)->id;
    return (ocsd_err_t)((const struct config *)config)->id_error;
}

static ocsd_err_t write_packet(const void *packet, char *text, const int size)
{
    snprintf(text, (size_t)size, "packet %d", *(const int *)packet);
    return OCSD_OK;
}

static const ocsd_extern_dcd_fact_t whole = {create, destroy, get_id, write_packet, OCSD_PROTOCOL_UNKNOWN};

/* ---- programs ---- */

/* Registers a decoder. */
static void add_name(const char *name, ocsd_extern_dcd_fact_t factory)
{
    static ocsd_extern_dcd_fact_t kept[24];
    static unsigned count;
    ocsd_extern_dcd_fact_t *f = &kept[count++];
    *f = factory;
    const int err = (int)ocsd_register_custom_decoder(name, f);
    printf("register '%s': %d, protocol %d\n", name, err, (int)f->protocol_id);
}

static void add_names(void)
{
    ocsd_extern_dcd_fact_t part;
    add_decoder(single_tree(), OCSD_CREATE_FLG_FULL_DECODER); /* after this the names of the library's own
                                                               * decoders are registered */
    part = whole;
    part.createDecoder = NULL;
    add_name("A", part);
    part = whole;
    part.destroyDecoder = NULL;
    add_name("A", part);
    part = whole;
    part.csidFromConfig = NULL;
    add_name("A", part);
    part = whole;
    part.pktToString = NULL;
    add_name("A", part);
    add_name("A", whole);
    add_name(OCSD_BUILTIN_DCD_ETMV4I, whole);
    add_name("", whole);
    for (char name[] = "B"; name[0] < 'M'; name[0]++)
        add_name(name, whole);
    print_last_error();
}

static void print_protocols(void)
{
    static const int packet = 7;
    ocsd_extern_dcd_fact_t part = whole;
    char text[64];
    part.pktToString = NULL;
    add_name("A", part);
    add_name("B", whole);
    single_tree();
    for (int protocol = OCSD_PROTOCOL_CUSTOM_0 - 1; protocol < OCSD_PROTOCOL_CUSTOM_3; protocol++) {
        strcpy(text, "xxx");
        SHOW(ocsd_cust_protocol_to_str((ocsd_trace_protocol_t)protocol, &packet, text, sizeof text));
        printf("%d: %s|\n", protocol, text);
        strcpy(text, "xxx");
        SHOW(ocsd_pkt_str((ocsd_trace_protocol_t)protocol, &packet, text, sizeof text));
        printf("%d: %s|\n", protocol, text);
        strcpy(text, "xxx");
        SHOW(ocsd_cust_protocol_to_str((ocsd_trace_protocol_t)protocol, &packet, text, 4));
        printf("%d: %s|\n", protocol, text);
    }
    SHOW(ocsd_cust_protocol_to_str(OCSD_PROTOCOL_ETMV4I, &packet, text, sizeof text));
    print_last_error();
}

static void deregister(void)
{
    SHOW(ocsd_deregister_decoders());
    add_name("A", whole);
    add_name("B", whole);
    SHOW(ocsd_deregister_decoders());
    SHOW(ocsd_deregister_decoders());
    add_name("A", whole);
    single_tree();
}

static ocsd_datapath_resp_t take_packet(const void *context, const ocsd_datapath_op_t op,
                                        const ocsd_trc_index_t index, const void *packet)
{
    (void)context;
    printf("  sink: operation %d at %u, packet %d\n", (int)op, index, *(const int *)packet);
    return OCSD_RESP_CONT;
}

static void see_packet(const void *context, const ocsd_datapath_op_t op, const ocsd_trc_index_t index,
                       const void *packet, const uint32_t size, const uint8_t *bytes)
{
    (void)context;
    printf("  monitor: operation %d at %u, packet %d, %u bytes, %02x\n", (int)op, index, *(const int *)packet,
           size, bytes[0]);
}

/* Passes trace to a decoder, of which each byte makes it do something else. */
static void work(dcd_tree_handle_t tree, int framed)
{
    static const char what[] = "elpimx";
    for (ocsd_trc_index_t i = 0; what[i]; i++) {
        const uint8_t frame[16] = {TRACE_ID << 1 | 1, (uint8_t)what[i]};
        if (framed)
            give(tree, OCSD_OP_DATA, 16 * i, frame, sizeof frame);
        else
            give(tree, OCSD_OP_DATA, 16 * i, &what[i], 1);
    }
    give(tree, OCSD_OP_FLUSH, 0, NULL, 0);
    give(tree, OCSD_OP_RESET, 0, NULL, 0);
    give(tree, OCSD_OP_EOT, 0, NULL, 0);
}

static void decode(void)
{
    const struct config config = {.id = TRACE_ID};
    add_name("A", whole);
    for (int framed = 0; framed < 2; framed++)
        for (int flags = 0; flags < 4; flags++) {
            unsigned char id = 0xee;
            dcd_tree_handle_t tree = framed ? framed_tree() : single_tree();
            printf("framed %d, flags %d\n", framed, flags);
            SHOW(ocsd_dt_create_decoder(tree, "A", flags, &config, &id));
            SHOW(ocsd_dt_create_decoder(tree, "A", flags, &config, &id));
            printf("ID %02x\n", id);
            SHOW(ocsd_dt_set_pkt_protocol_printer(tree, TRACE_ID, 0));
            SHOW(ocsd_dt_set_pkt_protocol_printer(tree, TRACE_ID, 1));
            work(tree, framed);
            give(tree, OCSD_OP_RESET, 0, NULL, 0);
            SHOW(ocsd_dt_attach_packet_callback(tree, TRACE_ID, OCSD_C_API_CB_PKT_MON, (void *)see_packet,
                                                NULL));
            SHOW(ocsd_dt_attach_packet_callback(tree, TRACE_ID, OCSD_C_API_CB_PKT_SINK, (void *)take_packet,
                                                NULL));
            if (flags & OCSD_CREATE_FLG_FULL_DECODER) {
                SHOW(ocsd_dt_set_gen_elem_outfn(tree, print_element, NULL));
                SHOW(ocsd_dt_add_buffer_mem_acc(tree, CODE, OCSD_MEM_SPACE_ANY, code, sizeof code));
            }
            work(tree, framed);
            SHOW(ocsd_dt_remove_decoder(tree, TRACE_ID));
            ocsd_destroy_dcd_tree(tree);
        }
}

static void decode_with_answers(void)
{
    const struct config config = {.id = TRACE_ID};
    unsigned char id;
    add_name("A", whole);
    for (answer = OCSD_RESP_CONT; answer <= OCSD_RESP_FATAL_SYS_ERR; answer++)
        for (int framed = 0; framed < 2; framed++) {
            dcd_tree_handle_t tree = framed ? framed_tree() : single_tree();
            printf("answer %d, framed %d\n", (int)answer, framed);
            SHOW(ocsd_dt_create_decoder(tree, "A", OCSD_CREATE_FLG_FULL_DECODER, &config, &id));
            work(tree, framed);
            ocsd_destroy_dcd_tree(tree);
        }
}

static void output_before(void)
{
    const struct config config = {.id = TRACE_ID};
    unsigned char id;
    dcd_tree_handle_t tree = single_tree();
    add_name("A", whole);
    SHOW(ocsd_dt_set_gen_elem_outfn(tree, print_element, NULL));
    SHOW(ocsd_dt_add_buffer_mem_acc(tree, CODE, OCSD_MEM_SPACE_ANY, code, sizeof code));
    SHOW(ocsd_dt_create_decoder(tree, "A", OCSD_CREATE_FLG_FULL_DECODER, &config, &id));
    ocsd_def_errlog_init(OCSD_ERR_SEV_ERROR, 0);
    work(tree, 0);
}

static void not_made(void)
{
    static const struct config configs[] = {
        {.id = TRACE_ID, .id_error = OCSD_ERR_FAIL},
        {.id = TRACE_ID, .create_error = OCSD_ERR_HW_CFG_UNSUPP},
        {.id = TRACE_ID, .lacks = 1},
        {.id = TRACE_ID, .lacks = 2},
        {.id = TRACE_ID, .lacks = 4},
        {.id = TRACE_ID, .lacks = 8},
        {.id = 0},
        {.id = 0x80},
        {.id = 0xff},
        {.id = 0x7f},
    };
    add_name("A", whole);
    for (size_t i = 0; i < sizeof configs / sizeof *configs; i++) {
        unsigned char id = 0xee;
        dcd_tree_handle_t tree = framed_tree();
        printf("configuration %zu\n", i);
        SHOW(ocsd_dt_create_decoder(tree, "A", OCSD_CREATE_FLG_FULL_DECODER, &configs[i], &id));
        printf("ID %02x\n", id);
    }
    print_last_error();
}

const struct program custom_programs[] = {
    {"ocsd_register_custom_decoder", add_names},
    {"ocsd_register_custom_decoder, decoding", decode},
    {"ocsd_register_custom_decoder, answers", decode_with_answers},
    {"ocsd_register_custom_decoder, output before", output_before},
    {"ocsd_register_custom_decoder, not made", not_made},
    {"ocsd_cust_protocol_to_str", print_protocols},
    {"ocsd_deregister_decoders", deregister},
    {NULL, NULL},
};
