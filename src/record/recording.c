/* SPDX-License-Identifier: Apache-2.0 */
/* Derives data from the options of a recording: trace IDs, comparators, sources of software trace. */
#include "record/capture.h"

#define FIRST_ID 0x10

/* bytes of a variable within which the low 16 bits of an address tell how far it is from the begin */
#define MOST_COMPARED 0x8000

bool ct_recording_ids(struct ct_recording *recording, const uint8_t *ids, size_t count)
{
    bool taken[CT_RECORD_LAST_ID + 1] = {false};
    if (count > CT_RECORD_CORES)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (ids[i] < 1 || ids[i] > CT_RECORD_LAST_ID || taken[ids[i]])
            return false;
        taken[ids[i]] = true;
        recording->ids[i] = ids[i];
    }
    for (unsigned id = FIRST_ID; count < CT_RECORD_CORES; id = id == CT_RECORD_LAST_ID ? 1 : id + 1)
        if (!taken[id]) {
            taken[id] = true;
            recording->ids[count++] = (uint8_t)id;
        }
    unsigned free_id = 0;
    for (unsigned i = 0; i < CT_RECORD_SOFTWARE; i++) {
        do
            free_id++;
        while (taken[free_id]);
        recording->software_ids[i] = (uint8_t)free_id;
    }
    return true;
}

void ct_recording_comparators(const struct ct_recording *recording, struct ct_source_regs *regs)
{
    for (unsigned i = 0; i < recording->watched_count; i++) {
        const struct ct_recording_watched *w = &recording->watched[i];
        if (w->kind == CT_SOFTWARE_WATCHED && w->comparator < 4 && w->size <= MOST_COMPARED)
            regs->dwt_comp[w->comparator] = (uint32_t)(recording->code_start + w->start);
    }
}

bool ct_recording_software(const struct ct_recording *recording, enum ct_record_software which,
                           struct ct_source *source)
{
    ct_software_source(which == CT_RECORD_STM ? CT_PROTOCOL_STM : CT_PROTOCOL_ITM,
                       recording->software_ids[which], source);
    for (unsigned i = 0; i < recording->watched_count; i++)
        if ((recording->watched[i].kind == CT_SOFTWARE_CHANNEL) == (which == CT_RECORD_STM))
            return true;
    return false;
}
