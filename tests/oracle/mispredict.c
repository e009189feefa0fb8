/* Finds the mispredicts that OpenCSD 1.3.3 cannot carry out: it takes the addresses off that lie above the
 * atom, and when something lies above such an address, or nothing below it, it goes on from memory that it has just
 * freed. To see them coming, the elements that are uncommitted are modelled as one letter each. */
#include <string.h>

#include "oracle/patch.h"

enum {
    ROOM = 4096
};

struct model {
    char item
        [ROOM]; /* oldest first. A: atom, P: another P0 element, a: address, e: stays when cancelled, o: other */
    size_t count;
    uint32_t p0, unseen, max_spec;
    enum {
        UNSYNCED,
        ALIGNED,
        DECODING
    } state;
    int pending; /* an exception or Q waits for its address */
};

static int is_p0(char item)
{
    return item == 'A' || item == 'P';
}

static void lose(struct model *m)
{
    *m = (struct model){.max_spec = m->max_spec};
}

static void push(struct model *m, char item, unsigned n)
{
    for (; n; n--) {
        if (m->count == ROOM) {
            memmove(m->item, m->item + 1, ROOM - 1);
            m->count--;
        }
        m->item[m->count++] = item;
        m->p0 += (uint32_t)is_p0(item);
    }
}

static void commit(struct model *m, uint32_t n)
{
    size_t i = 0;
    for (; n && m->unseen; n--)
        m->unseen--;
    for (; n && i < m->count; i++)
        if (is_p0(m->item[i])) {
            n--;
            m->p0--;
        }
    memmove(m->item, m->item + i, m->count - i);
    m->count -= i;
    if (n)
        lose(m);
}

static void cancel(struct model *m, uint32_t n)
{
    size_t keep = m->count, i = m->count;
    for (; n && i; i--) {
        char item = m->item[i - 1];
        if (is_p0(item)) {
            n--;
            m->p0--;
        } else if (item == 'e') {
            m->item[--keep] = item;
        }
    }
    if (i != keep)
        memmove(m->item + i, m->item + keep, m->count - keep);
    m->count -= keep - i;
    for (; n && m->unseen; n--)
        m->unseen--;
    if (n)
        lose(m);
}

/* True when 1.3.3 survives it. */
static int mispredict(struct model *m)
{
    size_t top = m->count, i;
    while (top && m->item[top - 1] == 'a')
        top--;
    for (i = top; i && m->item[i - 1] != 'A'; i--)
        if (m->item[i - 1] == 'a')
            return 0;
    if (!top && m->count)
        return 0;
    m->count = top;
    if (!i && !m->unseen)
        lose(m);
    return 1;
}

static void add(struct model *m, const struct ct_etm4_packet *p, const struct ct_etm4_config *config)
{
    if (p->type >= CT_ETM4_ADDR_S_IS0 && p->type <= CT_ETM4_ADDR_MATCH) {
        if (p->flags & CT_ETM4_HAS_CONTEXT)
            push(m, 'o', 1);
        push(m, 'a', 1);
        m->pending = 0;
    } else if (p->type >= CT_ETM4_SRC_ADDR_S_IS0 && p->type <= CT_ETM4_SRC_ADDR_MATCH) {
        push(m, 'P', 1);
    } else if (p->natoms) {
        push(m, 'A', p->natoms);
    }
    switch (p->type) {
    case CT_ETM4_EXCEPT:
        m->pending = 1;
        push(m, 'P', 1);
        break;
    case CT_ETM4_Q:
        m->pending = !(p->flags & CT_ETM4_HAS_ADDR);
        push(m, 'P', 1);
        if (!m->pending)
            push(m, 'a', 1);
        break;
    case CT_ETM4_PE_RESET:
    case CT_ETM4_FUNC_RET:
        push(m, 'P', 1);
        break;
    case CT_ETM4_EXCEPT_RTN:
        push(m, config->v7m ? 'P' : 'o', 1);
        break;
    case CT_ETM4_TRANS_ST:
        push(m, config->trans_start_p0 ? 'P' : 'o', 1);
        break;
    case CT_ETM4_CTXT:
    case CT_ETM4_TRACE_ON:
    case CT_ETM4_TRANS_COMMIT:
    case CT_ETM4_TRANS_FAIL:
        push(m, 'o', 1);
        break;
    case CT_ETM4_TIMESTAMP:
    case CT_ETM4_TS_MARKER:
    case CT_ETM4_EVENT:
    case CT_ETM4_CCNT_F1:
    case CT_ETM4_CCNT_F2:
    case CT_ETM4_CCNT_F3:
        push(m, 'e', 1);
        break;
    default:
        break;
    }
}

static int is_cancel(const struct ct_etm4_packet *p)
{
    return p->type >= CT_ETM4_CANCEL_F1 && p->type <= CT_ETM4_CANCEL_F3;
}

static int is_mispredict(const struct ct_etm4_packet *p)
{
    return (is_cancel(p) && p->type != CT_ETM4_CANCEL_F1) || p->type == CT_ETM4_MISPREDICT;
}

/* False when the packet is one to be taken out. */
static int decoding(struct model *m, const struct ct_etm4_packet *p, const struct ct_etm4_config *config)
{
    uint32_t commits = p->type == CT_ETM4_COMMIT || p->flags & CT_ETM4_HAS_COMMIT ? p->count2 : 0;
    add(m, p, config);
    if (!m->pending && !commits && m->p0 + m->unseen > m->max_spec)
        commits = m->p0 + m->unseen - m->max_spec;
    if (commits)
        commit(m, commits);
    if (is_cancel(p) && m->state == DECODING)
        cancel(m, p->count2);
    if (is_mispredict(p) && m->state == DECODING)
        return mispredict(m);
    return 1;
}

int patch_mispredicts(const struct ct_source *source, uint8_t *bytes, const struct ct_etm4_packet *packets,
                      size_t count)
{
    static struct model m;
    struct ct_etm4_config config;
    int patched = 0;
    if (ct_etm4_config_init(NULL, source, &config))
        return 0;
    m = (struct model){.max_spec = config.max_spec};
    for (size_t i = 0; i < count; i++) {
        const struct ct_etm4_packet *p = &packets[i];
        if (!config.max_spec && is_mispredict(p)) { /* damage: there is no atom that could be one */
            memset(bytes + p->pos, 0x80, p->size);
            patched++;
        } else if (p->type <= CT_ETM4_EXTENSION || p->type == CT_ETM4_OVERFLOW ||
                   p->type == CT_ETM4_DISCARD) {
            lose(&m);
        } else if (m.state == DECODING) {
            struct model before = m;
            if (!decoding(&m, p, &config)) {
                memset(bytes + p->pos, 0x80, p->size);
                m = before;
                patched++;
            }
        } else if (p->type == CT_ETM4_ASYNC) {
            m.state = ALIGNED;
        } else if (p->type == CT_ETM4_TRACE_INFO && m.state == ALIGNED) {
            m.state = DECODING;
            m.unseen = p->count2;
        }
    }
    return patched;
}
