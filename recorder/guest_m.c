/* SPDX-License-Identifier: Apache-2.0 */
#include "guest_m.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "guest.h"
#include "vmstate.h"

#define REGS 16
#define IPSR 0x1ffu

static const uint32_t *word_at(void *cpu, const void *description, const char *name, int num)
{
    size_t offset;
    return vmstate_field(description, name, sizeof(uint32_t), num, &offset)
               ? (const uint32_t *)(const void *)((const char *)cpu + offset)
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
    m->other_sp = word_at(cpu, vmstate_subsection(part, "cpu/m/other-sp"), "env.v7m.other_sp", 0);
    if (vmstate_applies(security, cpu)) {
        m->secure = word_at(cpu, security, "env.v7m.secure", 0);
        m->other_state_msp = word_at(cpu, security, "env.v7m.other_ss_msp", 0);
        m->other_state_psp = word_at(cpu, security, "env.v7m.other_ss_psp", 0);
        if (!m->secure || !m->other_state_msp || !m->other_state_psp)
            return false;
    }
    return m->regs && m->exception && m->other_sp && is_as_described(m);
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
