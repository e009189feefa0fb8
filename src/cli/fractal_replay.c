/* SPDX-License-Identifier: Apache-2.0 */
/* coretap fractal replay: the modules alone, on a recorded message stream. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/fractal.h"

enum {
    OPT_MESSAGES,
    OPT_PGD,
    OPT_ASID,
    OPT_GRANULE,
    OPT_VA_BITS,
    OPT_RANGE,
    OPT_POINT,
    OPT_MODE,
    OPT_COMMANDS,
    OPT_OUTPUT,
    OPTS
};

struct replay {
    const struct cli_args *args;
    struct ct_fractal *fractal;
    struct ct_fractal_port *port;
    struct ct_fractal_writer *writer;
    struct cli_output log_output, commands_output;
    FILE *in, *commands;
    const char *path;
    uint64_t line, messages, refused, events, dropped, issued[CT_FRACTAL_CMD_KIND_COUNT];
    struct ct_fractal_event buffer[1024];
};

static int drain_commands(struct replay *r, uint64_t time)
{
    struct ct_fractal_command c;
    while (ct_fractal_command(r->fractal, &c)) {
        r->issued[c.kind]++;
        if (r->commands)
            fprintf(r->commands, "%llu,%s,0x%llx,0x%llx,%u,0x%x,0x%llx,0x%llx\n", (unsigned long long)time,
                    ct_fractal_command_name(c.kind), (unsigned long long)c.pa, (unsigned long long)c.va,
                    c.asid, c.arsnoop, (unsigned long long)c.araddr[0], (unsigned long long)c.araddr[1]);
    }
    return CLI_CLEAN;
}

static int drain_events(struct replay *r)
{
    uint64_t dropped;
    size_t n;
    ct_fractal_reg_read(r->fractal, CT_FRACTAL_REG_DROPPED, 8, &dropped);
    while ((n = ct_fractal_events(r->fractal, r->buffer, sizeof r->buffer / sizeof *r->buffer))) {
        r->events += n;
        if (r->writer && ct_fractal_writer_add(r->writer, r->buffer, n, dropped - r->dropped))
            return cli_library_error(r->args->ctx);
        r->dropped = dropped;
    }
    return CLI_CLEAN;
}

/* A line that cannot be parsed, or a message that cannot be: said with its place, and passed over. */
static void refuse(struct replay *r)
{
    if (r->refused++ < 10)
        cli_say("%s:%llu: %s", r->path, (unsigned long long)r->line, ct_ctx_error(r->args->ctx));
    else if (r->refused == 11)
        cli_say("%s: more lines like these are not shown", r->path);
}

static int one_line(struct replay *r, const char *text, size_t length)
{
    struct ct_fractal_message m;
    uint64_t line[CT_FRACTAL_LINE_WORDS];
    if (!length || text[0] == '#' || (r->line == 1 && !strncmp(text, "time,", 5)))
        return CLI_CLEAN;
    r->messages++;
    if (ct_fractal_message_parse(r->args->ctx, text, length, &m, line)) {
        refuse(r);
        return CLI_CLEAN;
    }
    const int err = m.op == CT_FRACTAL_DATA ? ct_fractal_data(r->fractal, m.time, m.addr, line)
                                            : ct_fractal_message(r->fractal, &m);
    if (err)
        refuse(r);
    drain_commands(r, m.time);
    return r->messages % 256 ? CLI_CLEAN : drain_events(r);
}

static int read_stream(struct replay *r)
{
    char *text = NULL;
    size_t room = 0;
    ssize_t n;
    int code = CLI_CLEAN;
    while (!code && (n = getline(&text, &room, r->in)) >= 0) {
        r->line++;
        while (n && (text[n - 1] == '\n' || text[n - 1] == '\r'))
            n--;
        code = one_line(r, text, (size_t)n);
    }
    const int error = errno;
    free(text);
    if (!code && !feof(r->in)) { /* a line that finds no memory is no error of the file */
        cli_say("%s: cannot be read: %s", r->path, strerror(error));
        return CLI_FAILED;
    }
    return code ? code : drain_events(r);
}

/* The target as the options give it; without --pgd the stream's own register writes say. */
static int configure(struct replay *r, struct ct_fractal_target *t)
{
    static const uint8_t mode[] = {CT_FRACTAL_ACTIVE, CT_FRACTAL_PASSIVE, CT_FRACTAL_POINTS};
    const struct cli_value *v = r->args->values;
    *t = (struct ct_fractal_target){.pgd = v[OPT_PGD].number,
                                    .range_hi = UINT64_C(1) << 48,
                                    .asid = (uint16_t)v[OPT_ASID].number,
                                    .granule = v[OPT_GRANULE].given ? (uint8_t)v[OPT_GRANULE].number : 12,
                                    .va_bits = v[OPT_VA_BITS].given ? (uint8_t)v[OPT_VA_BITS].number : 48,
                                    .mode = mode[v[OPT_MODE].number]};
    if (v[OPT_RANGE].given && !cli_fractal_parse_range(v[OPT_RANGE].text, &t->range_lo, &t->range_hi))
        return cli_usage_error(r->args->command, "--range: '%s' is not LO..HI in hexadecimal",
                               v[OPT_RANGE].text);
    if (!v[OPT_PGD].given)
        return CLI_CLEAN;
    if (ct_fractal_port_start(r->port, t))
        return cli_library_error(r->args->ctx);
    for (size_t i = 0; i < r->args->list_count; i++)
        if (ct_fractal_port_point(r->port, strtoull(r->args->list[i].text, NULL, 16), 1))
            return cli_library_error(r->args->ctx);
    return drain_commands(r, 0);
}

static FILE *open_text(const char *path)
{
    FILE *f = strcmp(path, "-") ? fopen(path, "r") : stdin;
    if (!f)
        cli_say("%s: cannot be opened: %s", path, strerror(errno));
    return f;
}

static int open_log(struct replay *r, const struct ct_fractal_target *t)
{
    const char *path = r->args->values[OPT_OUTPUT].text;
    const struct ct_fractal_log_info info = {.pgd = t->pgd,
                                             .range_lo = t->range_lo,
                                             .range_hi = t->range_hi,
                                             .asid = t->asid,
                                             .mode = t->mode,
                                             .granule = t->granule,
                                             .fields = CT_FRACTAL_FIELD_ALL,
                                             .text = "source=message stream\n"};
    FILE *log = cli_fractal_output_open(&r->log_output, path);
    if (!log)
        return CLI_FAILED;
    return ct_fractal_writer_to(r->args->ctx, cli_output_write, log, path, &info, &r->writer)
               ? cli_library_error(r->args->ctx)
               : CLI_CLEAN;
}

static int open_files(struct replay *r, const struct ct_fractal_target *t)
{
    const struct cli_value *v = r->args->values;
    r->path = v[OPT_MESSAGES].text;
    if (!(r->in = open_text(r->path)))
        return CLI_FAILED;
    if (v[OPT_COMMANDS].given) {
        if (!(r->commands = cli_fractal_output_open(&r->commands_output, v[OPT_COMMANDS].text)))
            return CLI_FAILED;
        fputs("time,command,pa,va,asid,arsnoop,araddr0,araddr1\n", r->commands);
    }
    return v[OPT_OUTPUT].given ? open_log(r, t) : CLI_CLEAN;
}

static void print_summary(const struct replay *r)
{
    FILE *out =
        r->args->values[OPT_OUTPUT].given && !strcmp(r->args->values[OPT_OUTPUT].text, "-") ? stderr : stdout;
    struct ct_fractal_reg_info info;
    uint64_t value;
    fprintf(out, "%-16s %llu\n", "messages", (unsigned long long)r->messages);
    fprintf(out, "%-16s %llu\n", "refused", (unsigned long long)r->refused);
    for (unsigned i = 0; !ct_fractal_reg_info(i, &info); i++) {
        if (info.offset < CT_FRACTAL_REG_SNOOPS || info.offset == CT_FRACTAL_REG_INCONSISTENT)
            continue;
        ct_fractal_reg_read(r->fractal, info.offset, 8, &value);
        fprintf(out, "%-16s %llu\n", info.name, (unsigned long long)value);
    }
    for (unsigned k = 0; k < CT_FRACTAL_CMD_KIND_COUNT; k++)
        fprintf(out, "  %-14s %llu\n", ct_fractal_command_name(k), (unsigned long long)r->issued[k]);
}

static int finish(struct replay *r, int code)
{
    if (ct_fractal_writer_close(r->writer))
        code = cli_library_error(r->args->ctx);
    struct cli_output *outputs[] = {&r->log_output, &r->commands_output};
    const bool keep = code != CLI_FAILED && !cli_lacked_memory(r->args->ctx);
    if (!cli_output_close_all(outputs, sizeof outputs / sizeof *outputs, keep))
        code = CLI_FAILED;
    if (r->in && r->in != stdin)
        fclose(r->in);
    ct_fractal_port_free(r->port);
    ct_fractal_free(r->fractal);
    free(r);
    return code;
}

static int run(const struct cli_args *args)
{
    if (!args->values[OPT_MESSAGES].given)
        return cli_usage_error(args->command, "--messages FILE is missing");
    struct replay *r = calloc(1, sizeof *r);
    struct ct_fractal_target target;
    if (!r) {
        cli_no_memory();
        return CLI_FAILED;
    }
    r->args = args;
    if (ct_fractal_new(args->ctx, NULL, &r->fractal) ||
        ct_fractal_port_model(args->ctx, r->fractal, &r->port))
        return finish(r, cli_library_error(args->ctx));
    int code = configure(r, &target);
    if (!code)
        code = open_files(r, &target);
    if (!code)
        code = read_stream(r);
    if (!code) {
        print_summary(r);
        code = r->refused ? CLI_DAMAGED : CLI_CLEAN;
    }
    return finish(r, code);
}

static const char *const mode_words[] = {"active", "passive", "points", NULL};

static const struct cli_option options[OPTS] = {
    [OPT_MESSAGES] = {.name = "messages",
                      .letter = 'm',
                      .kind = CLI_TEXT,
                      .arg = "FILE",
                      .help = "The stream, one message a line: " CT_FRACTAL_MESSAGES_HEADER
                              ". \"-\" is standard input."},
    [OPT_PGD] = {.name = "pgd",
                 .kind = CLI_HEX,
                 .arg = "PA",
                 .max = UINT64_C(0xffffffffffc0),
                 .help =
                     "Physical address of the target's top-level table. Without it the stream's own register "
                     "writes set the tracer up, and the options below have no effect."},
    [OPT_ASID] =
        {.name = "asid", .kind = CLI_NUMBER, .arg = "N", .max = 65535, .help = "Its address space number."},
    [OPT_GRANULE] = {.name = "granule",
                     .kind = CLI_NUMBER,
                     .arg = "BITS",
                     .min = 12,
                     .max = 16,
                     .help = "log2 of the page size: 12, 14 or 16. Without: 12."},
    [OPT_VA_BITS] = {.name = "va-bits",
                     .kind = CLI_NUMBER,
                     .arg = "BITS",
                     .min = 25,
                     .max = 48,
                     .help = "Bits of a virtual address. Without: 48."},
    [OPT_RANGE] = {.name = "range",
                   .kind = CLI_TEXT,
                   .arg = "LO..HI",
                   .help = "Addresses to trace. Without: all."},
    [OPT_POINT] = {.name = "point",
                   .kind = CLI_LIST,
                   .arg = "VA",
                   .help = "An observation point, hexadecimal."},
    [OPT_MODE] = {.name = "mode",
                  .kind = CLI_CHOICE,
                  .choices = mode_words,
                  .help = "How much the tracer may do."},
    [OPT_COMMANDS] = {.name = "commands",
                      .kind = CLI_TEXT,
                      .arg = "FILE",
                      .help = "Write the commands it issues."},
    [OPT_OUTPUT] =
        {.name = "output", .letter = 'o', .kind = CLI_TEXT, .arg = "LOG", .help = "Write the event log."},
};

const struct cli_command cli_fractal_replay = {
    .name = "fractal replay",
    .summary = "run the tracer on recorded messages of a port",
    .synopsis = "--messages FILE",
    .about = "Feeds a recorded message stream to the tracer's modules and prints what they made of it. "
             "Messages that "
             "cannot be are named with their line and passed over; the exit status is then 1.",
    .options = options,
    .option_count = OPTS,
    .own_output = true,
    .run = run,
};
