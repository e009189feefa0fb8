/* SPDX-License-Identifier: Apache-2.0 */
/* Creating and removing decoders. */
#include "opencsd/api/api.h"

#define MAKE(tree, name, flags, config, id) SHOW(ocsd_dt_create_decoder(tree, name, flags, config, id))

static void create(void)
{
    static const struct {
        const char *name;
        const void *config;
    } kinds[] = {
        {OCSD_BUILTIN_DCD_ETMV4I, &etm4_config},
        {OCSD_BUILTIN_DCD_ETE, &ete_config},
        {OCSD_BUILTIN_DCD_PTM, &ptm_config},
        {OCSD_BUILTIN_DCD_ETMV3, &etm3_config},
        {OCSD_BUILTIN_DCD_ETMV4D, &etm4_config},
        {"", &etm4_config},
        {"NOBODY", &etm4_config},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (int flags = 0; flags < 8; flags++) {
            dcd_tree_handle_t tree = single_tree();
            unsigned char id = 0xee;
            const int err = (int)ocsd_dt_create_decoder(tree, kinds[i].name, flags, kinds[i].config, &id);
            printf("'%s' with %d: %d, ID %02x\n", kinds[i].name, flags, err, id);
            ocsd_destroy_dcd_tree(tree);
        }
    print_last_error();
}

static void create_twice(void)
{
    unsigned char id = 0xee;
    dcd_tree_handle_t tree = single_tree();
    MAKE(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_FULL_DECODER, &etm4_config, &id);
    id = 0xee;
    MAKE(tree, OCSD_BUILTIN_DCD_PTM, OCSD_CREATE_FLG_FULL_DECODER, &ptm_config, &id);
    printf("ID %02x\n", id);
    tree = framed_tree();
    MAKE(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_FULL_DECODER, &etm4_config, &id);
    MAKE(tree, OCSD_BUILTIN_DCD_PTM, OCSD_CREATE_FLG_FULL_DECODER, &ptm_config, &id);
    print_last_error();
}

static void create_ids(void)
{
    dcd_tree_handle_t tree = framed_tree();
    for (uint32_t i = 0; i < 256; i++) {
        ocsd_etmv4_cfg config = etm4_config;
        unsigned char id = 0xee;
        config.reg_traceidr = i;
        const int err = (int)ocsd_dt_create_decoder(tree, OCSD_BUILTIN_DCD_ETMV4I,
                                                    OCSD_CREATE_FLG_FULL_DECODER, &config, &id);
        printf("ID %02x: %d, %02x\n", i, err, id);
    }
}

static void remove_decoder(void)
{
    unsigned char id;
    dcd_tree_handle_t tree = single_tree();
    SHOW(ocsd_dt_remove_decoder(tree, TRACE_ID));
    MAKE(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_FULL_DECODER, &etm4_config, &id);
    SHOW(ocsd_dt_remove_decoder(tree, TRACE_ID));
    SHOW(ocsd_dt_remove_decoder(tree, TRACE_ID));
    MAKE(tree, OCSD_BUILTIN_DCD_PTM, OCSD_CREATE_FLG_PACKET_PROC, &ptm_config, &id);
    SHOW(ocsd_dt_remove_decoder(tree, 0xff));
    ocsd_destroy_dcd_tree(tree);
    tree = framed_tree();
    SHOW(ocsd_dt_remove_decoder(tree, TRACE_ID));
    SHOW(ocsd_dt_remove_decoder(tree, 0x80));
    MAKE(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_FULL_DECODER, &etm4_config, &id);
    SHOW(ocsd_dt_remove_decoder(tree, 0x33));
    SHOW(ocsd_dt_remove_decoder(tree, TRACE_ID));
    print_last_error();
}

const struct program decoder_programs[] = {
    {"ocsd_dt_create_decoder", create},
    {"ocsd_dt_create_decoder, twice", create_twice},
    {"ocsd_dt_create_decoder, trace IDs", create_ids},
    {"ocsd_dt_remove_decoder", remove_decoder},
    {NULL, NULL},
};
