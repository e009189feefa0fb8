/* SPDX-License-Identifier: Apache-2.0 */
/* The part of QEMU's plugin interface, API version 1 (QEMU 7.2), that the recorder uses. Debian ships no
 * header for it, so the functions are declared here. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint64_t qemu_plugin_id_t;
typedef uint32_t qemu_plugin_meminfo_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;

struct qemu_info {
    const char *target_name; /* "aarch64", "arm" */
    struct {
        int min;
        int cur;
    } version;
    bool system_emulation;
};

enum qemu_plugin_cb_flags {
    QEMU_PLUGIN_CB_NO_REGS
};

enum qemu_plugin_mem_rw {
    QEMU_PLUGIN_MEM_R = 1,
    QEMU_PLUGIN_MEM_W,
    QEMU_PLUGIN_MEM_RW
};

typedef void qemu_tb_cb(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
typedef void qemu_exec_cb(unsigned vcpu, void *user);
typedef void qemu_mem_cb(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t vaddr, void *user);
typedef void qemu_vcpu_cb(qemu_plugin_id_t id, unsigned vcpu);
typedef void qemu_exit_cb(qemu_plugin_id_t id, void *user);
typedef void qemu_syscall_cb(qemu_plugin_id_t id, unsigned vcpu, int64_t number, uint64_t a1, uint64_t a2,
                             uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8);
typedef void qemu_syscall_ret_cb(qemu_plugin_id_t id, unsigned vcpu, int64_t number, int64_t result);

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, qemu_tb_cb *cb);
void qemu_plugin_register_vcpu_init_cb(qemu_plugin_id_t id, qemu_vcpu_cb *cb);
void qemu_plugin_register_vcpu_idle_cb(qemu_plugin_id_t id, qemu_vcpu_cb *cb);
void qemu_plugin_register_vcpu_exit_cb(qemu_plugin_id_t id, qemu_vcpu_cb *cb);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, qemu_exec_cb *cb,
                                          enum qemu_plugin_cb_flags flags, void *user);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, qemu_exec_cb *cb,
                                            enum qemu_plugin_cb_flags flags, void *user);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn, qemu_mem_cb *cb,
                                      enum qemu_plugin_cb_flags flags, enum qemu_plugin_mem_rw rw,
                                      void *user);
void qemu_plugin_register_vcpu_syscall_cb(qemu_plugin_id_t id, qemu_syscall_cb *cb);
void qemu_plugin_register_vcpu_syscall_ret_cb(qemu_plugin_id_t id, qemu_syscall_ret_cb *cb);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, qemu_exit_cb *cb, void *user);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t index);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
void *qemu_plugin_insn_haddr(const struct qemu_plugin_insn *insn);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
unsigned qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t info);
bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t info);
const char *qemu_plugin_path_to_binary(void);
uint64_t qemu_plugin_start_code(void);
uint64_t qemu_plugin_end_code(void);
uint64_t qemu_plugin_entry_code(void);
