/* SPDX-License-Identifier: Apache-2.0 */
#include "guest_m.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "guest.h"
#include "vmstate.h"

#define REGS 16
#define IPSR 0x1ffu

static uint32_t *word_at(void *cpu, const void *description, const char *name, int num)
{
    size_t offset;
    return vmstate_field(description, name, sizeof(uint32_t), num, &offset)
               ? (uint32_t *)(void *)((char *)cpu + offset)
               : NULL;
}

/* Returns whether the described state equals what the debugger reads. */
static bool is_as_described(const struct guest_m *m)
{
    uint64_t value;
    for (int i = 0; i < REGS; i++)
        if (!guest_read_register(m->cpu, 1, i, &value) || value != m->regs[i])
            return false;
    return guest_read_register(m->cpu, 1, GUEST_CPSR, &value) && (value & IPSR) == *m->exception;
}

bool guest_m_find(void *cpu, struct guest_m *m)
{
    const void *all = vmstate_of_cpu();
    const void *part = vmstate_subsection(all, "cpu/m");
    const void *security = vmstate_subsection(all, "cpu/m-security");
    *m = (struct guest_m){.cpu = cpu};
    if (!cpu || !vmstate_applies(part, cpu))
        return false;
    m->regs = word_at(cpu, all, "env.regs", REGS);
    m->exception = word_at(cpu, part, "env.v7m.exception", 0);
    m->control[0] = word_at(cpu, part, "env.v7m.control[M_REG_NS]", 0);
    m->other_sp = word_at(cpu, vmstate_subsection(part, "cpu/m/other-sp"), "env.v7m.other_sp", 0);
    if (vmstate_applies(security, cpu)) {
        m->secure = word_at(cpu, security, "env.v7m.secure", 0);
        m->other_state_msp = word_at(cpu, security, "env.v7m.other_ss_msp", 0);
        m->other_state_psp = word_at(cpu, security, "env.v7m.other_ss_psp", 0);
        m->control[1] = word_at(cpu, security, "env.v7m.control[M_REG_S]", 0);
        if (!m->secure || !m->other_state_msp || !m->other_state_psp || !m->control[1])
            return false;
    }
    return m->regs && m->exception && m->other_sp && m->control[0] && is_as_described(m);
}

/* QEMU's debugger reads in the current state, so that is another one for a moment, of which nobody learns. */
bool guest_m_memory(const struct guest_m *m, bool secure, uint32_t addr, void *out, size_t size)
{
    const uint32_t state = m->secure ? *m->secure : 0;
    if (m->secure)
        *m->secure = secure;
    const bool good = guest_machine_memory(m->cpu, addr, out, size);
    if (m->secure)
        *m->secure = state;
    return good;
}

unsigned guest_m_it_left(const struct guest_m *m)
{
    uint64_t xpsr;
    return guest_read_register(m->cpu, 1, GUEST_CPSR, &xpsr) ? guest_it_left(xpsr) : 0;
}

void guest_m_model(const struct guest_m *m, char *name, unsigned size)
{
    const char *(*type_name)(void *);
    guest_find(&type_name, "object_get_typename");
    snprintf(name, size, "%s", type_name ? type_name(m->cpu) : "ARMv7-M");
    char *end = strstr(name, "-arm-cpu");
    if (end)
        *end = 0;
    for (char *at = name; *at; at++)
        if (at == name || at[-1] == '-')
            *at = (char)toupper((unsigned char)*at);
}
