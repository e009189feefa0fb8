/* SPDX-License-Identifier: Apache-2.0 */
/* Small programs that each call one function of OpenCSD's C interface, with right and with wrong arguments,
 * and print what it returns. They are linked like any client, so the library path decides whose functions
 * they call. Calls at which 1.3.3 crashes (most null pointers) are in arguments.c. */
#pragma once

#include <opencsd/c_api/opencsd_c_api.h>
#include <stdio.h>

struct program {
    const char *name; /* name of the function, and what else is tested */
    void (*run)(void);
};

/* Lists of programs, each ended by an entry without a name. */
extern const struct program argument_programs[], custom_programs[], decoder_programs[], log_programs[],
    memory_programs[], packet_programs[], profgen_programs[], text_programs[], tree_programs[];

/* Calls a function, then prints the call and its result. */
#define SHOW(call) printf("%s = %lld\n", #call, (long long)(call))

enum {
    TRACE_ID = 0x10, /* of the decoders made here */
    CODE = 0x400000, /* address of the code that is traced */
};

/* Two instructions at CODE: a NOP and a branch to itself. */
extern const uint8_t code[8];

/* Configuration of an ETMv4 with trace ID TRACE_ID and context IDs, its trace of that code, and registers of
 * other trace units. */
extern const ocsd_etmv4_cfg etm4_config;
extern const ocsd_ete_cfg ete_config;
extern const ocsd_ptm_cfg ptm_config;
extern const ocsd_etmv3_cfg etm3_config;
extern const uint8_t etm4_trace[27];

/* Makes a tree for trace without frames, or with frames. It prints its messages. */
dcd_tree_handle_t single_tree(void);
dcd_tree_handle_t framed_tree(void);

/* Adds the code and a decoder with `etm4_config` to a tree. */
void add_decoder(dcd_tree_handle_t tree, int create_flags);

/* Passes `etm4_trace` to a tree, then ends the trace. */
void feed(dcd_tree_handle_t tree);

/* Passes bytes to a tree in one call and prints the answer. */
void give(dcd_tree_handle_t tree, ocsd_datapath_op_t op, ocsd_trc_index_t index, const void *bytes,
          uint32_t size);

/* Callbacks that print an element and a message. */
ocsd_datapath_resp_t print_element(const void *context, const ocsd_trc_index_t index, const uint8_t id,
                                   const ocsd_generic_trace_elem *e);
void print_text(const void *context, const char *text, const int size);

/* Prints the last error. */
void print_last_error(void);
