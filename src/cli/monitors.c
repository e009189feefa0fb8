/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/monitors.h"
#include "cli/spec.h"

#include <stdlib.h>
#include <string.h>

const char *const cli_clocks[] = {"cycles", "timestamps", NULL};
const char *const cli_engines[] = {"bytecode", "native", "background", NULL};

/* Returns the number of units in a second, or 0 for a unit that the clock of a trace cannot have. */
static uint64_t per_second(const char *unit)
{
    static const char *const names[] = {"s", "ms", "us", "ns", "ps", "fs"};
    uint64_t n = 1;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++, n *= 1000)
        if (strcmp(unit, names[i]) == 0)
            return n;
    return 0;
}

static bool set_clock(struct cli_monitors *m)
{
    const struct cli_value *v = m->args->values + m->shift;
    const struct cli_value *unit = &v[CLI_MONITOR_UNIT];
    m->verify = (struct ct_verify_options){.size = sizeof m->verify,
                                           .clock = (uint8_t)v[CLI_MONITOR_CLOCK].number,
                                           .forget = v[CLI_MONITOR_FORGET].number,
                                           .history = m->history};
    m->compile = (struct ct_monitor_options){.size = sizeof m->compile,
                                             .changes_only = !m->all,
                                             .engine = (uint8_t)v[CLI_MONITOR_ENGINE].number,
                                             .time_unit = unit->given                      ? unit->text
                                                          : v[CLI_MONITOR_FREQUENCY].given ? "ns"
                                                                                           : NULL};
    m->limits = cli_spec_limits(&v[CLI_MONITOR_BUDGET], &v[CLI_MONITOR_MEMORY], &m->compile);
    m->verify.limits = &m->limits;
    if (!v[CLI_MONITOR_FREQUENCY].given)
        return true;
    m->verify.ticks = v[CLI_MONITOR_FREQUENCY].number;
    m->verify.ticks_to = per_second(unit->given ? unit->text : "ns");
    if (!m->verify.ticks_to)
        cli_usage_error(
            m->args->command,
            "--time-unit %s: this unit cannot be used with --frequency; use fs, ps, ns, us, ms or s",
            unit->text);
    return m->verify.ticks_to != 0;
}

static bool is_among(const struct cli_pairs *pairs, const char *name)
{
    bool found = false;
    for (size_t i = 0; i < pairs->count && !found; i++)
        found = strcmp(pairs->pairs[i].input, name) == 0;
    return found;
}

/* Splits the texts of a list option at their first '='. No name may be used twice. Returns false after a
 * message. */
static bool split(const struct cli_args *args, size_t option, bool needed, struct cli_pairs *out)
{
    const struct cli_option *row = &args->command->options[option];
    char *room = out->room;
    size_t size = sizeof out->room;
    for (size_t i = 0; i < args->list_count; i++) {
        const char *text = args->list[i].text;
        if (args->list[i].option != option)
            continue;
        const size_t length = strlen(text) + 1;
        const char *equal = strchr(text, '=');
        if (length > size || equal == text || (needed && !equal)) {
            cli_usage_error(args->command, "--%s: '%s' is not %s", row->name, text, row->arg);
            return false;
        }
        memcpy(room, text, length);
        if (equal)
            room[equal - text] = '\0';
        if (is_among(out, room)) {
            cli_usage_error(args->command,
                            "--%s: %s is named twice; only one place can be used; leave one out", row->name,
                            room);
            return false;
        }
        out->pairs[out->count++] = (struct ct_verify_bind){room, equal ? room + (equal - text) + 1 : NULL};
        room += length;
        size -= length;
    }
    return true;
}

size_t cli_monitors_named(const struct cli_args *args, size_t spec)
{
    size_t count = 0;
    for (size_t i = 0; i < args->list_count; i++)
        count += args->list[i].option == spec;
    return count;
}

static bool is_given(const struct cli_args *args, size_t option)
{
    bool given = args->values[option].given;
    for (size_t i = 0; i < args->list_count && !given; i++)
        given = args->list[i].option == option;
    return given;
}

bool cli_monitors_check_idle(const struct cli_args *args, size_t spec)
{
    const size_t end = spec + CLI_MONITOR_SPEC_OPTIONS - CLI_MONITOR_SPEC;
    for (size_t i = spec + 1; i < end && !cli_monitors_named(args, spec); i++) {
        const char *name = cli_option_at(args->command, i)->name;
        if (!is_given(args, i) || strcmp(name, "frequency") == 0) /* which is also that of timestamps */
            continue;
        cli_usage_error(args->command, "--%s works only with --spec; add that, or leave --%s out", name,
                        name);
        return false;
    }
    return true;
}

static bool compile(struct cli_monitors *m)
{
    bool fine = true;
    for (size_t i = 0; fine && i < m->args->list_count; i++) {
        if (m->args->list[i].option != CLI_MONITOR_SPEC + m->shift)
            continue;
        m->names[m->count] = m->args->list[i].text;
        fine = cli_spec_load(m->args, m->names[m->count], &m->compile, &m->specs[m->count],
                             m->keeps_texts ? &m->texts[m->count] : NULL) == CLI_SPEC_FINE;
        m->count++;
        if (fine && !ct_monitor_output_count(m->specs[m->count - 1])) {
            cli_say("%s: the specification has no outputs, so nothing would be checked; add out statements",
                    m->names[m->count - 1]);
            fine = false;
        }
    }
    return fine;
}

bool cli_monitors_load(struct cli_monitors *m, const struct cli_args *args)
{
    m->args = args;
    return split(args, CLI_MONITOR_BIND + m->shift, true, &m->binds) &&
           split(args, CLI_MONITOR_VIOLATION + m->shift, false, &m->violations) && set_clock(m) && compile(m);
}

static bool has_input(const struct ct_monitor_spec *spec, const char *name)
{
    struct ct_monitor_stream in = {.name = ""};
    bool found = false;
    for (size_t k = 0; !found && k < ct_monitor_input_count(spec); k++) {
        ct_monitor_input(spec, k, &in);
        found = strcmp(in.name, name) == 0;
    }
    return found;
}

/* Returns whether an input is bound to a place of a kind. Sets *is_bound when it is bound to any place. */
static bool is_bound_to(const struct cli_pairs *binds, const char *input, int (*is_kind)(const char *place),
                        bool *is_bound)
{
    *is_bound = false;
    for (size_t i = 0; i < binds->count && !*is_bound; i++) {
        *is_bound = strcmp(binds->pairs[i].input, input) == 0;
        if (*is_bound)
            return is_kind(binds->pairs[i].place);
    }
    return false;
}

uint8_t cli_monitors_protocol(const struct ct_source *source)
{
    return ct_source_traces_data(source) ? source->protocol | CT_VERIFY_TRACES_DATA : source->protocol;
}

/* Returns whether a place of a kind feeds an input of the specifications. */
static bool need(const struct cli_monitors *m, int (*is_kind)(const char *place))
{
    char place[512];
    for (size_t i = 0; i < m->count; i++) {
        for (size_t k = 0; k < ct_monitor_input_count(m->specs[i]); k++) {
            struct ct_monitor_stream in;
            bool is_bound;
            ct_monitor_input(m->specs[i], k, &in);
            if (is_bound_to(&m->binds, in.name, is_kind, &is_bound))
                return true;
            if (!is_bound && ct_verify_input_place(&in, place, sizeof place) == CT_OK && is_kind(place))
                return true;
        }
    }
    return false;
}

bool cli_monitors_need_software(const struct cli_monitors *m)
{
    return need(m, ct_verify_place_is_software);
}

static int is_context(const char *place)
{
    return strncmp(place, "context", 7) == 0;
}

bool cli_monitors_need_contexts(const struct cli_monitors *m)
{
    return need(m, is_context);
}

size_t cli_monitors_binds(const struct ct_monitor_spec *spec, const struct cli_pairs *binds,
                          struct ct_verify_bind *mine, bool *used)
{
    size_t n = 0;
    for (size_t i = 0; i < binds->count; i++) {
        if (!has_input(spec, binds->pairs[i].input))
            continue;
        mine[n++] = binds->pairs[i];
        if (used)
            used[i] = true;
    }
    return n;
}

/* The receiver of specifications, and its functions. */
struct taker {
    int (*add)(void *to, const struct ct_monitor_spec *spec, const char *name,
               const struct ct_verify_bind *binds, size_t count);
    int (*violation)(void *to, const char *output, const char *value);
    void *to;
};

/* Adds the specifications, each with the bindings of its inputs. Refuses a binding that belongs to no input.
 * Returns false after a message. */
static bool add_specs(const struct cli_monitors *m, const struct taker *taker)
{
    struct ct_verify_bind mine[CLI_LIST_MAX];
    bool used[CLI_LIST_MAX] = {false};
    for (size_t i = 0; i < m->count; i++) {
        const size_t n = cli_monitors_binds(m->specs[i], &m->binds, mine, used);
        if (taker->add(taker->to, m->specs[i], m->names[i], mine, n) != CT_OK) {
            cli_library_error(m->args->ctx);
            return false;
        }
    }
    for (size_t i = 0; i < m->binds.count; i++) {
        if (used[i])
            continue;
        cli_usage_error(
            m->args->command,
            "--bind %s=%s: no specification has an input %s; correct the name, or leave the option out",
            m->binds.pairs[i].input, m->binds.pairs[i].place, m->binds.pairs[i].input);
        return false;
    }
    return true;
}

static bool add_all(const struct cli_monitors *m, const struct taker *taker)
{
    bool fine = add_specs(m, taker);
    for (size_t i = 0; fine && i < m->violations.count; i++) {
        const struct ct_verify_bind *rule = &m->violations.pairs[i];
        fine = taker->violation(taker->to, rule->input, rule->place) == CT_OK;
        if (!fine)
            cli_library_error(m->args->ctx);
    }
    return fine;
}

static int add_to_verifier(void *to, const struct ct_monitor_spec *spec, const char *name,
                           const struct ct_verify_bind *binds, size_t count)
{
    return ct_verifier_add(to, spec, name, binds, count);
}

static int tell_verifier(void *to, const char *output, const char *value)
{
    return ct_verifier_violation(to, output, value);
}

bool cli_monitors_add(const struct cli_monitors *m, struct ct_verifier *verifier)
{
    return add_all(m, &(const struct taker){add_to_verifier, tell_verifier, verifier});
}

static int add_to_sums(void *to, const struct ct_monitor_spec *spec, const char *name,
                       const struct ct_verify_bind *binds, size_t count)
{
    return ct_verify_sums_add(to, spec, name, binds, count);
}

static int tell_sums(void *to, const char *output, const char *value)
{
    return ct_verify_sums_violation(to, output, value);
}

bool cli_monitors_add_sums(const struct cli_monitors *m, struct ct_verify_sums *sums)
{
    return add_all(m, &(const struct taker){add_to_sums, tell_sums, sums});
}

void cli_monitors_free(struct cli_monitors *m)
{
    for (size_t i = 0; i < m->count; i++) {
        ct_monitor_spec_free(m->specs[i]);
        free(m->texts[i].text);
    }
    m->count = 0;
}
