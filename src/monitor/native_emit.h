/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files that make machine code: native.c drives the compiler, native_emit.c passes it the
 * programs. */
#pragma once

#include <libgccjit.h>

#include "monitor/native.h"

/* functions of libgccjit that are used, without their prefix */
#define JIT_ENTRIES(X)                                                                                       \
    X(context_acquire)                                                                                       \
    X(context_set_int_option)                                                                                \
    X(context_set_bool_allow_unreachable_blocks)                                                             \
    X(context_get_builtin_function)                                                                          \
    X(context_get_type)                                                                                      \
    X(context_new_field)                                                                                     \
    X(context_new_union_type)                                                                                \
    X(context_new_struct_type)                                                                               \
    X(context_new_param)                                                                                     \
    X(context_new_function)                                                                                  \
    X(context_new_function_ptr_type)                                                                         \
    X(context_new_rvalue_from_long)                                                                          \
    X(context_new_rvalue_from_ptr)                                                                           \
    X(context_new_binary_op)                                                                                 \
    X(context_new_unary_op)                                                                                  \
    X(context_new_comparison)                                                                                \
    X(context_new_cast)                                                                                      \
    X(context_new_array_access)                                                                              \
    X(context_new_call)                                                                                      \
    X(context_new_call_through_ptr)                                                                          \
    X(context_compile_to_file)                                                                               \
    X(context_get_first_error)                                                                               \
    X(struct_as_type)                                                                                        \
    X(type_get_pointer)                                                                                      \
    X(param_as_rvalue)                                                                                       \
    X(lvalue_as_rvalue)                                                                                      \
    X(lvalue_access_field)                                                                                   \
    X(lvalue_get_address)                                                                                    \
    X(rvalue_dereference)                                                                                    \
    X(function_new_block)                                                                                    \
    X(function_new_local)                                                                                    \
    X(block_add_assignment)                                                                                  \
    X(block_add_eval)                                                                                        \
    X(block_end_with_conditional)                                                                            \
    X(block_end_with_jump)                                                                                   \
    X(block_end_with_return)                                                                                 \
    X(block_end_with_switch)                                                                                 \
    X(context_new_case)

struct ct_mon_jit_api {
#define JIT_FIELD(name) __typeof__ (&gcc_jit_##name)(name);
    JIT_ENTRIES(JIT_FIELD)
#undef JIT_FIELD
};

enum ct_mon_emitted {
    EMIT_FAILED, /* out of memory */
    EMIT_NOTHING,
    EMIT_SOME,
};

/* Emits the program of `count` instructions from `code` on, as a function called `name`, and subtracts its
 * length from *room. The bytecode does what exceeds *room. Returns EMIT_NOTHING when its first part does not
 * fit. */
enum ct_mon_emitted ct_mon_native_emit(const struct ct_mon_jit_api *jit, gcc_jit_context *ctx,
                                       const struct ct_mon_program *p, uint32_t code, size_t count,
                                       size_t *room, const char *name);
