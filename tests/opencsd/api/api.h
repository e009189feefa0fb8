/* SPDX-License-Identifier: Apache-2.0 */
/* Small programs that each use one function of OpenCSD's C interface, in the right way and in wrong ones, and
 * print what comes back. They are linked as any client is, so the library's path decides whose functions they
 * call. What 1.3.3 answers with a crash (most null pointers) is in arguments.c alone. */
#ifndef CT_TEST_OPENCSD_API_H
#define CT_TEST_OPENCSD_API_H

#include <opencsd/c_api/opencsd_c_api.h>
#include <stdio.h>

struct program {
    const char *name; /* of the function, and what else it is about */
    void (*run)(void);
};

/* Programs, ended by one without a name. */
extern const struct program argument_programs[], custom_programs[], decoder_programs[], log_programs[],
    memory_programs[], packet_programs[], profgen_programs[], text_programs[], tree_programs[];

/* Calls a function, and prints the call and its result. */
#define SHOW(call) printf("%s = %lld\n", #call, (long long)(call))

enum {
    TRACE_ID = 0x10, /* of the decoders that are made here */
    CODE = 0x400000, /* address of the code that ran */
};

/* Two instructions at CODE: a NOP and a branch to itself. */
extern const uint8_t code[8];

/* An ETMv4 of trace ID TRACE_ID with context IDs, its trace of that code, and registers of other units. */
extern const ocsd_etmv4_cfg etm4_config;
extern const ocsd_ete_cfg ete_config;
extern const ocsd_ptm_cfg ptm_config;
extern const ocsd_etmv3_cfg etm3_config;
extern const uint8_t etm4_trace[27];

/* Makes a tree without frames, or with, whose messages are printed. */
dcd_tree_handle_t single_tree(void);
dcd_tree_handle_t framed_tree(void);

/* Adds a decoder of `etm4_config` to a tree, and the code. */
void add_decoder(dcd_tree_handle_t tree, int create_flags);

/* Gives `etm4_trace` to a tree, and its end. */
void feed(dcd_tree_handle_t tree);

/* Gives bytes to a tree. */
void give(dcd_tree_handle_t tree, ocsd_datapath_op_t op, ocsd_trc_index_t index, const void *bytes,
          uint32_t size);

/* A callback for elements that prints them, and one for messages. */
ocsd_datapath_resp_t print_element(const void *context, const ocsd_trc_index_t index, const uint8_t id,
                                   const ocsd_generic_trace_elem *e);
void print_text(const void *context, const char *text, const int size);

/* Prints the last error. */
void print_last_error(void);

#endif
