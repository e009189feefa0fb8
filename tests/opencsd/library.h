/* SPDX-License-Identifier: Apache-2.0 */
/* A library with OpenCSD's C interface, loaded from a path: the system's or coretap's. Both can be in one
 * process. */
#pragma once

#include <opencsd/c_api/opencsd_c_api.h>

/* Calls F(name) for each function of the interface. */
#define LIBRARY_FUNCTIONS(F)                                                                                 \
    F(ocsd_get_version)                                                                                      \
    F(ocsd_get_version_str)                                                                                  \
    F(ocsd_create_dcd_tree)                                                                                  \
    F(ocsd_destroy_dcd_tree)                                                                                 \
    F(ocsd_dt_process_data)                                                                                  \
    F(ocsd_dt_set_gen_elem_outfn)                                                                            \
    F(ocsd_dt_create_decoder)                                                                                \
    F(ocsd_dt_remove_decoder)                                                                                \
    F(ocsd_dt_attach_packet_callback)                                                                        \
    F(ocsd_dt_get_decode_stats)                                                                              \
    F(ocsd_dt_reset_decode_stats)                                                                            \
    F(ocsd_dt_add_binfile_mem_acc)                                                                           \
    F(ocsd_dt_add_binfile_region_mem_acc)                                                                    \
    F(ocsd_dt_add_buffer_mem_acc)                                                                            \
    F(ocsd_dt_add_callback_mem_acc)                                                                          \
    F(ocsd_dt_add_callback_trcid_mem_acc)                                                                    \
    F(ocsd_dt_remove_mem_acc)                                                                                \
    F(ocsd_tl_log_mapped_mem_ranges)                                                                         \
    F(ocsd_def_errlog_init)                                                                                  \
    F(ocsd_def_errlog_config_output)                                                                         \
    F(ocsd_def_errlog_set_strprint_cb)                                                                       \
    F(ocsd_def_errlog_msgout)                                                                                \
    F(ocsd_err_str)                                                                                          \
    F(ocsd_get_last_err)                                                                                     \
    F(ocsd_pkt_str)                                                                                          \
    F(ocsd_gen_elem_str)                                                                                     \
    F(ocsd_gen_elem_init)                                                                                    \
    F(ocsd_dt_set_raw_frame_printer)                                                                         \
    F(ocsd_dt_set_gen_elem_printer)                                                                          \
    F(ocsd_dt_set_pkt_protocol_printer)                                                                      \
    F(ocsd_register_custom_decoder)                                                                          \
    F(ocsd_deregister_decoders)                                                                              \
    F(ocsd_cust_protocol_to_str)

struct library {
#define LIBRARY_MEMBER(name) __typeof__(&name) name;
    LIBRARY_FUNCTIONS(LIBRARY_MEMBER)
#undef LIBRARY_MEMBER
};

/* Loads the library at `path`. Returns 0, or -1 after a message. */
int library_load(const char *path, struct library *out);
