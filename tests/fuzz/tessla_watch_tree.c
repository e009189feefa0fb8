/* SPDX-License-Identifier: Apache-2.0 */
/* Random syntax trees of the watchpoint dialect as text: events, signals, temporal formulas. */
#include "tessla_text.h"

static void add_events(struct tessla_text *t, unsigned depth);
static void add_signal(struct tessla_text *t, unsigned depth);
static void add_formula(struct tessla_text *t, unsigned depth);

static void add_number(struct tessla_text *t, unsigned depth)
{
    switch (depth ? tessla_below(t, 6) : 0) {
    case 0:
        TESSLA_PICK(t, "0", "1", "3", "17", "9223372036854775807", "mrv(x, 0)", "maximum(x)", "minimum(x, 4)",
                    "sum(x)");
        break;
    case 1:
        tessla_add(t, "eventCount(");
        add_events(t, depth - 1);
        if (tessla_below(t, 2)) {
            tessla_add(t, ", ");
            add_events(t, depth - 1);
        }
        tessla_add(t, ")");
        break;
    case 2:
        tessla_add(t, "-");
        add_number(t, depth - 1);
        break;
    default:
        tessla_add(t, "(");
        add_number(t, depth - 1);
        TESSLA_PICK(t, " + ", " - ", " * ", " / ", " % ");
        add_number(t, depth - 1);
        tessla_add(t, ")");
        break;
    }
}

static void add_signal(struct tessla_text *t, unsigned depth)
{
    switch (depth ? tessla_below(t, 6) : 0) {
    case 0:
        TESSLA_PICK(t, "true", "false", "mrv(b, false)", "mrv(b, true)");
        break;
    case 1:
        tessla_add(t, "inPast(");
        add_events(t, depth - 1);
        TESSLA_PICK(t, ", 0)", ", 1)", ", 5)", ", 2ns)");
        break;
    case 2:
        tessla_add(t, "within(");
        add_events(t, depth - 1);
        TESSLA_PICK(t, ", 0, 3)", ", 3, 1)", ", 2, 9)");
        break;
    case 3:
        tessla_add(t, "not ");
        add_signal(t, depth - 1);
        break;
    case 4:
        tessla_add(t, "(");
        add_number(t, depth - 1);
        TESSLA_PICK(t, " < ", " <= ", " == ", " != ", " > ", " >= ");
        add_number(t, depth - 1);
        tessla_add(t, ")");
        break;
    default:
        tessla_add(t, "(");
        add_signal(t, depth - 1);
        TESSLA_PICK(t, " and ", " or ", " implies ");
        add_signal(t, depth - 1);
        tessla_add(t, ")");
        break;
    }
}

static void add_events(struct tessla_text *t, unsigned depth)
{
    switch (depth ? tessla_below(t, 6) : 0) {
    case 0:
        TESSLA_PICK(t, "p", "q");
        break;
    case 1:
        tessla_add(t, "(on ");
        add_events(t, depth - 1);
        tessla_add(t, " if ");
        add_signal(t, depth - 1);
        tessla_add(t, ")");
        break;
    case 2:
        TESSLA_PICK(t, "merge(", "occursAny(", "occursAll(", "duration(");
        add_events(t, depth - 1);
        tessla_add(t, ", ");
        add_events(t, depth - 1);
        tessla_add(t, ")");
        break;
    case 3:
        TESSLA_PICK(t, "delayEventByTime(", "delayEventByCount(", "sma(");
        add_events(t, depth - 1);
        TESSLA_PICK(t, ", 0)", ", 1)", ", 3)", ", 40)");
        break;
    case 4:
        tessla_add(t, "changeOf(");
        add_signal(t, depth - 1);
        tessla_add(t, ")");
        break;
    default:
        tessla_add(t, "filter(");
        add_events(t, depth - 1);
        tessla_add(t, ", ");
        add_signal(t, depth - 1);
        tessla_add(t, ")");
        break;
    }
}

static void add_formula(struct tessla_text *t, unsigned depth)
{
    switch (depth ? tessla_below(t, 5) : 0) {
    case 0:
        TESSLA_PICK(t, "p", "q", "b", "true", "x > 0", "10 / x > 1");
        break;
    case 1:
        TESSLA_PICK(
            t, "not ", "always ", "eventually ", "never ", "next ", "next[3] ", "next[16] ", "holding[2] ",
            "holding[<=3] ", "holding[>=2] ", "within[<=4] ", "within[=2] ", "within[16] ", "next[17] ",
            "nextn[1..3] ", "occurring[>=2] ", "occurring[<3] ", "holding[i] ", "alwaysinpast ",
            "eventuallyinpast ", "neverinpast ", "nextinpast ", "nextinpastn[0..2] ", "holdinginpast[=2] ",
            "occurringinpast[>1] ", "allof list p, b as i in ", "someof {p, q} as i in i or ",
            "exactlyoneof enumerate [1..3] as i in x > i and ", "noneof list q as i in ", "if p then ");
        add_formula(t, depth - 1);
        break;
    case 2:
        tessla_add(t, "(");
        add_formula(t, depth - 1);
        TESSLA_PICK(t, " upto ", " from ", " between q, ", " accepton ", " rejecton ", " untilinpast ",
                    " releasesinpast ", " until ");
        if (tessla_below(t, 2))
            TESSLA_PICK(t, "excl ", "incl req ", "weak ", "optional ", "inclusive weak ", "opt excl ",
                        "incl timed[<4] ", "timed[>2] ");
        add_formula(t, tessla_below(t, 3) ? 0 : depth - 1);
        tessla_add(t, ")");
        break;
    default:
        tessla_add(t, "(");
        add_formula(t, depth - 1);
        TESSLA_PICK(t, " and ", " or ", " implies ", " iff ", " until ", " until weak ", " weak until ",
                    " unless ", " releases ", " before ", " before weak ");
        add_formula(t, depth - 1);
        tessla_add(t, ")");
        break;
    }
}

void tessla_add_watch_tree(struct tessla_text *t)
{
    tessla_add(t, "in p: Events[Unit]\nin q: Events[Unit]\nin b: Events[Bool]\nin x: Events[Int]\n");
    const unsigned n = 1 + tessla_below(t, 3);
    for (unsigned i = 0; i < n; i++) {
        const unsigned depth = 1 + tessla_below(t, 4);
        tessla_add_format(t, "define d%u := ", i);
        switch (tessla_below(t, 5)) {
        case 0:
            add_events(t, depth);
            break;
        case 1:
            add_signal(t, depth);
            break;
        case 2:
            add_number(t, depth);
            break;
        default:
            tessla_add(t, "monitor(");
            add_formula(t, depth);
            TESSLA_PICK(t, ")", ")", ", clock := p)", ", clock := *)", ", p := q)");
            break;
        }
        tessla_add_format(t, "\nout d%u\n", i);
    }
}
