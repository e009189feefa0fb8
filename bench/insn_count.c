/* SPDX-License-Identifier: Apache-2.0 */
/* QEMU plugin: prints on standard error how many instructions a program executed. Only for programs of one
 * thread. */
#include <stdio.h>

#include "../recorder/qemu_plugin_api.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT int qemu_plugin_version = 1;
EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc, char **argv);

static uint64_t count;

static void add(unsigned vcpu, void *insns)
{
    (void)vcpu;
    count += (uintptr_t)insns;
}

static void see_block(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    (void)id;
    qemu_plugin_register_vcpu_tb_exec_cb(tb, add, QEMU_PLUGIN_CB_NO_REGS,
                                         (void *)(uintptr_t)qemu_plugin_tb_n_insns(tb));
}

static void print(qemu_plugin_id_t id, void *user)
{
    (void)id, (void)user;
    fprintf(stderr, "%llu instructions\n", (unsigned long long)count);
}

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc, char **argv)
{
    (void)info, (void)argc, (void)argv;
    qemu_plugin_register_vcpu_tb_trans_cb(id, see_block);
    qemu_plugin_register_atexit_cb(id, print, NULL);
    return 0;
}
