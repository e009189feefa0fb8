/* SPDX-License-Identifier: Apache-2.0 */
#include "format/event_text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/printable.h"
#include "format/exception_name.h"
#include "format/software_note.h"

#define NOTE_SIZE 256

/* largest integer up to which all readers of JSON are exact */
#define JSON_EXACT (INT64_C(1) << 53)

static const struct ct_word type_names[] = {
    [CT_EVENT_BRANCH] = CT_WORD("Br"),       [CT_EVENT_START] = CT_WORD("Go"),
    [CT_EVENT_HARDWARE] = CT_WORD("Evt"),    [CT_EVENT_EXCEPTION] = CT_WORD("Exc"),
    [CT_EVENT_RETURN] = CT_WORD("Ret"),      [CT_EVENT_CONTEXT] = CT_WORD("Ctx"),
    [CT_EVENT_TIMESTAMP] = CT_WORD("Ts"),    [CT_EVENT_TRACE_ON] = CT_WORD("On"),
    [CT_EVENT_GAP] = CT_WORD("Gap"),         [CT_EVENT_NO_ACCESS] = CT_WORD("NoMem"),
    [CT_EVENT_UNKNOWN_PATH] = CT_WORD("Q"),  [CT_EVENT_TRANSACTION] = CT_WORD("Tx"),
    [CT_EVENT_MARKER] = CT_WORD("Mark"),     [CT_EVENT_SOFTWARE] = CT_WORD("Sw"),
    [CT_EVENT_END] = CT_WORD("End"),         [CT_EVENT_SW] = CT_WORD("Sw"),
    [CT_EVENT_DWT] = CT_WORD("Dwt"),         [CT_EVENT_TEXT] = CT_WORD("Txt"),
    [CT_EVENT_VALUE] = CT_WORD("Val"),       [CT_EVENT_SPAN_BEGIN] = CT_WORD("Begin"),
    [CT_EVENT_SPAN_END] = CT_WORD("Finish"),
};

static const char *const gaps[] = {
    [CT_GAP_INIT] = "before the first synchronisation",
    [CT_GAP_RESET] = "stream reset",
    [CT_GAP_OVERFLOW] = "trace unit overflow",
    [CT_GAP_DISCARD] = "discarded by the trace unit",
    [CT_GAP_BAD_PACKET] = "packet that cannot be",
    [CT_GAP_BAD_IMAGE] = "program image does not fit the trace",
    [CT_GAP_LIMIT] = "too much uncommitted trace",
    [CT_GAP_END] = "end of trace",
};

static const char *const trace_ons[] = {"filter", "after overflow", "after debug state"};
static const char *const transactions[] = {"init", "start", "commit", "fail"};
static const char *const worlds[] = {"s", "ns", "root", "realm"};

/* Returns the word for a number, or "" for numbers that are not in the table. */
#define WORD(words, number) ((number) < sizeof(words) / sizeof *(words) ? (words)[number] : "")

/* How a value is shown: in hexadecimal, unless it is a count. */
enum value_kind {
    NO_VALUE,
    HEX,
    DEC,
};

static void context_note(const struct ct_event *e, char *note)
{
    int n = 0;
    if (e->b & CT_CONTEXT_EL)
        n = snprintf(note, NOTE_SIZE, "EL%u ", e->a & 15u);
    else if (e->a & 15u) /* a PTM tells nothing else about levels */
        n = snprintf(note, NOTE_SIZE, "Hyp ");
    n += snprintf(note + n, (size_t)(NOTE_SIZE - n), "%s %s", worlds[e->a >> 4 & 3],
                  e->b & CT_CONTEXT_SF ? "64-bit" : "32-bit");
    if (e->b & CT_CONTEXT_CTXT)
        n += snprintf(note + n, (size_t)(NOTE_SIZE - n), " ctxt=0x%x", (unsigned)e->value);
    if (e->b & CT_CONTEXT_VMID)
        snprintf(note + n, (size_t)(NOTE_SIZE - n), " vmid=0x%x", (unsigned)(e->value >> 32));
}

static void exception_note(const struct ct_event *e, const struct ct_source *source, char *note)
{
    char number[32];
    const char *name = ct_exception_name(source, (unsigned)e->value, number, sizeof number);
    if (e->b)
        snprintf(note, NOTE_SIZE, "%s, returns to 0x%llx", name, (unsigned long long)e->extra);
    else
        snprintf(note, NOTE_SIZE, "%s", name);
}

/* Returns the name of an event of a trace unit, possibly in `room`. */
static const char *hardware_name(const struct ct_source *source, unsigned number, char *room, size_t size)
{
    if (number < CT_SOURCE_EVENTS && source->events[number])
        return source->events[number];
    snprintf(room, size, "event %u", number);
    return room;
}

/* Writes the names of the events in one packet, if the capture has any. */
static void hardware_note(const struct ct_event *e, const struct ct_source *source, char *note)
{
    char room[16];
    size_t used = 0;
    bool known = false;
    for (unsigned i = 0; i < CT_SOURCE_EVENTS; i++)
        known |= e->value >> i & 1 && source->events[i];
    for (unsigned i = 0; known && i < 8 && used < NOTE_SIZE; i++)
        if (e->value >> i & 1)
            used += (size_t)snprintf(note + used, NOTE_SIZE - used, "%s%s", used ? ", " : "",
                                     hardware_name(source, i, room, sizeof room));
}

/* Writes the remaining facts about an event to `note`. Returns how its value is shown. */
static enum value_kind describe(const struct ct_event *e, const struct ct_source *source, char *note)
{
    note[0] = 0;
    switch (e->type) {
    case CT_EVENT_BRANCH:
        if (!e->unknown)
            return HEX;
        snprintf(note, NOTE_SIZE, "target not in the trace");
        return NO_VALUE;
    case CT_EVENT_CONTEXT:
        context_note(e, note);
        return NO_VALUE;
    case CT_EVENT_EXCEPTION:
        exception_note(e, source, note);
        return HEX;
    case CT_EVENT_GAP:
        snprintf(note, NOTE_SIZE, "bytes lost at offset %llu: %s", (unsigned long long)e->offset,
                 WORD(gaps, e->a));
        return DEC;
    case CT_EVENT_HARDWARE:
        if (!e->b) {
            hardware_note(e, source, note);
            return HEX;
        }
        snprintf(note, NOTE_SIZE, "trigger");
        return NO_VALUE;
    case CT_EVENT_TRACE_ON:
        snprintf(note, NOTE_SIZE, "%s", WORD(trace_ons, e->a));
        return NO_VALUE;
    case CT_EVENT_TRANSACTION:
        snprintf(note, NOTE_SIZE, "%s", WORD(transactions, e->a));
        return NO_VALUE;
    case CT_EVENT_NO_ACCESS:
        snprintf(note, NOTE_SIZE, "no image has this address");
        return HEX;
    case CT_EVENT_UNKNOWN_PATH:
        snprintf(note, NOTE_SIZE,
                 e->extra ? "after %llu instructions" : "after an unknown number of instructions",
                 (unsigned long long)e->extra);
        return HEX;
    case CT_EVENT_SOFTWARE:
        snprintf(note, NOTE_SIZE, "from EL%u", e->a);
        return HEX;
    case CT_EVENT_SW:
    case CT_EVENT_DWT:
        ct_software_note(e, source, note, NOTE_SIZE);
        if (!(e->b & CT_SW_BITS))
            return NO_VALUE;
        return e->type == CT_EVENT_SW && e->a == CT_SW_FREQUENCY ? DEC : HEX;
    case CT_EVENT_END:
        snprintf(note, NOTE_SIZE, "%s", WORD(gaps, e->a));
        return NO_VALUE;
    case CT_EVENT_RETURN:
    case CT_EVENT_MARKER:
        return NO_VALUE;
    default:
        return HEX;
    }
}

bool ct_event_address(const struct ct_event *e, uint64_t *addr)
{
    switch (e->type) {
    case CT_EVENT_BRANCH:
        *addr = e->value;
        return !e->unknown;
    case CT_EVENT_START:
    case CT_EVENT_UNKNOWN_PATH:
        *addr = e->value;
        return true;
    case CT_EVENT_EXCEPTION:
        *addr = e->extra;
        return e->b;
    default:
        return false;
    }
}

static void value_text(struct ct_text *t, enum value_kind kind, uint64_t value)
{
    if (kind == HEX) {
        ct_text_lit(t, "0x");
        ct_text_hex(t, value);
    } else if (kind == DEC) {
        ct_text_dec(t, value);
    }
}

static void time_text(struct ct_text *t, const uint64_t *time)
{
    if (time)
        ct_text_dec(t, *time);
}

static void plain_name(struct ct_text *t, bool csv, const struct ct_address_name *name)
{
    ct_address_name_put(t, csv ? CT_ADDRESS_CSV : CT_ADDRESS_TSV, name);
}

/* Writes the last column: the name of the event's address, the note, or both. */
static void plain_note(struct ct_text *t, bool csv, const struct ct_event *e, const char *note,
                       const struct ct_address_name *name)
{
    const bool is_return = e->type == CT_EVENT_EXCEPTION;
    const bool quoted = csv && (note[0] || name);
    if (quoted)
        ct_text_char(t, '"');
    if (name && !is_return)
        plain_name(t, csv, name);
    if (name && !is_return && note[0])
        ct_text_lit(t, ", ");
    if (csv)
        ct_text_csv(t, note);
    else
        ct_text_string(t, note);
    if (name && is_return) {
        ct_text_lit(t, " (");
        plain_name(t, csv, name);
        ct_text_char(t, ')');
    }
    if (quoted)
        ct_text_char(t, '"');
}

/* Writes a quote in CSV, at the begin or end of a field. */
static void quote(struct ct_text *t, bool csv)
{
    if (csv)
        ct_text_char(t, '"');
}

/* Writes the columns of source and instruction, if lines have them. */
static void plain_code(struct ct_text *t, bool csv, const struct ct_event_place *p)
{
    const struct ct_code_line *code = p->code;
    const char separator = csv ? ',' : '\t';
    if (p->sources)
        ct_text_char(t, separator);
    if (p->sources && code && code->file) {
        quote(t, csv);
        ct_code_source_put(t, csv ? CT_ADDRESS_CSV : CT_ADDRESS_TSV, code);
        quote(t, csv);
    }
    if (p->insns)
        ct_text_char(t, separator);
    if (p->insns && code && code->size) {
        quote(t, csv);
        ct_text_string(t, code->insn);
        quote(t, csv);
    }
}

/* Writes the members for source and instruction: of an exception's return address, or of the event. */
static void json_code(struct ct_text *t, bool is_return, const struct ct_code_line *code)
{
    if (code->file) {
        ct_text_json_text(t, is_return ? "return_file" : "file", code->file);
        ct_text_json_number(t, is_return ? "return_line" : "line", code->line);
    }
    if (code->size)
        ct_text_json_text(t, is_return ? "return_instruction" : "instruction", code->insn);
}

void ct_event_begin(struct ct_text *t, char separator, const struct ct_event *e)
{
    ct_text_word(t, &type_names[e->type]);
    ct_text_char(t, separator);
    ct_text_offset(t, e->cycle);
    ct_text_char(t, separator);
}

static void plain_line(struct ct_text *t, char separator, const struct ct_event_place *p,
                       const struct ct_event *e, enum value_kind kind, const char *note)
{
    const struct ct_event_origin *o = p->origin;
    bool csv = separator == ',';
    if (p->merged) {
        time_text(t, p->time);
        ct_text_char(t, separator);
    }
    if (p->merged && !csv) {
        ct_text_hex_digits(t, o->id, 2);
        ct_text_char(t, separator);
    }
    if (csv) {
        ct_text_char(t, '"');
        ct_text_csv(t, o->buffer);
        ct_text_lit(t, "\",");
        ct_text_hex_digits(t, o->id, 2);
        ct_text_char(t, ',');
        ct_text_dec(t, e->offset);
        ct_text_char(t, ',');
    }
    ct_event_begin(t, separator, e);
    value_text(t, kind, e->value);
    ct_text_char(t, separator);
    plain_note(t, csv, e, note, p->name);
    plain_code(t, csv, p);
    ct_text_char(t, '\n');
}

/* Writes an argument. One that JSON cannot represent as a number is a string, like an address. */
static void named_argument(struct ct_text *t, enum ct_named_type type, const union ct_named_argument *a)
{
    CT_C_LOCALE;
    char text[40];
    switch (type) {
    case CT_NAMED_FLOAT:
    case CT_NAMED_DOUBLE:
        snprintf(text, sizeof text, isfinite(a->f) ? "%.*g" : "\"%.*g\"", type == CT_NAMED_FLOAT ? 9 : 17,
                 a->f);
        break;
    case CT_NAMED_INT:
    case CT_NAMED_LONG:
        snprintf(text, sizeof text,
                 a->i >= -JSON_EXACT && a->i <= JSON_EXACT ? "%" PRId64 : "\"%" PRId64 "\"", a->i);
        break;
    case CT_NAMED_POINTER:
        snprintf(text, sizeof text, "\"0x%" PRIx64 "\"", a->u);
        break;
    default:
        snprintf(text, sizeof text, a->u <= JSON_EXACT ? "%" PRIu64 : "\"%" PRIu64 "\"", a->u);
        break;
    }
    ct_text_string(t, text);
}

/* Writes the parts of a named event that a program may want without parsing the text. */
static void named_members(struct ct_text *t, const struct ct_named_event *named)
{
    char name[CT_NAMED_NOTE + 1];
    snprintf(name, sizeof name, "%s", named->entry->text);
    ct_text_room(t);
    ct_text_json_text(t, "event", name);
    ct_text_lit(t, ",\"arguments\":[");
    for (unsigned i = 0; i < named->count; i++) {
        if (i)
            ct_text_char(t, ',');
        named_argument(t, (enum ct_named_type)named->entry->types[i], &named->arguments[i]);
    }
    ct_text_char(t, ']');
    if (named->cut)
        ct_text_lit(t, ",\"cut\":true");
}

static void json_line(struct ct_text *t, const struct ct_event_place *p, const struct ct_event *e,
                      enum value_kind kind, const char *note, const struct ct_named_event *named)
{
    const struct ct_event_origin *o = p->origin;
    const bool is_return = e->type == CT_EVENT_EXCEPTION;
    ct_text_char(t, '{');
    if (p->time) {
        /* a string, like addresses */
        ct_text_lit(t, "\"time\":\"");
        time_text(t, p->time);
        ct_text_lit(t, "\",");
    }
    ct_text_lit(t, "\"buffer\":\"");
    ct_text_json(t, o->buffer);
    ct_text_lit(t, "\",\"id\":\"");
    ct_text_hex_digits(t, o->id, 2);
    ct_text_lit(t, "\",\"offset\":");
    ct_text_dec(t, e->offset);
    ct_text_lit(t, ",\"type\":\"");
    ct_text_word(t, &type_names[e->type]);
    ct_text_lit(t, "\",\"cycle\":");
    ct_text_dec(t, e->cycle);
    if (kind != NO_VALUE) {
        /* Addresses exceed the numbers of some readers of JSON, so they are strings. */
        ct_text_string(t, kind == HEX ? ",\"value\":\"" : ",\"value\":");
        value_text(t, kind, e->value);
        if (kind == HEX)
            ct_text_char(t, '"');
    }
    if (p->name) {
        ct_text_string(t, is_return ? ",\"return_name\":\"" : ",\"name\":\"");
        ct_address_name_put(t, CT_ADDRESS_JSON, p->name);
        ct_text_char(t, '"');
    }
    if (p->code)
        json_code(t, is_return, p->code);
    if (note[0])
        ct_text_json_text(t, "note", note);
    if (named)
        named_members(t, named);
    ct_text_lit(t, "}\n");
}

const char *ct_event_head(enum ct_event_format format, bool merged)
{
    if (format == CT_EVENT_FORMAT_TABLE1)
        return "Type\tCycle\tValue\n";
    if (format == CT_EVENT_FORMAT_TSV)
        return merged ? "time\tid\ttype\tcycle\tvalue\tnote\n" : "type\tcycle\tvalue\tnote\n";
    if (format == CT_EVENT_FORMAT_CSV)
        return merged ? "time,buffer,id,offset,type,cycle,value,note\n"
                      : "buffer,id,offset,type,cycle,value,note\n";
    return NULL;
}

/* Writes a line in any format. */
static void put_line(struct ct_text *t, enum ct_event_format format, const struct ct_event_place *p,
                     const struct ct_event *e, enum value_kind kind, const char *note,
                     const struct ct_named_event *named)
{
    ct_text_room(t);
    if (format == CT_EVENT_FORMAT_JSONL)
        json_line(t, p, e, kind, note, named);
    else
        plain_line(t, format == CT_EVENT_FORMAT_CSV ? ',' : '\t', p, e, kind, note);
}

void ct_event_line(struct ct_text *t, enum ct_event_format format, const struct ct_event_place *p,
                   const struct ct_event *e)
{
    char note[NOTE_SIZE];
    enum value_kind kind = describe(e, p->origin->source, note);
    put_line(t, format, p, e, kind, note, NULL);
}

/* Begins a line of Table I. */
static void table1_begin(struct ct_text *t, const struct ct_event *e)
{
    char cycle[32];
    ct_text_room(t);
    ct_text_word(t, &type_names[e->type]);
    snprintf(cycle, sizeof cycle, "\t0x%03" PRIx64 "\t", e->cycle);
    ct_text_string(t, cycle);
}

void ct_event_table1(struct ct_text *t, const struct ct_event_origin *origin, const struct ct_event *e)
{
    char room[NOTE_SIZE];
    for (unsigned i = 0; e->type == CT_EVENT_HARDWARE && i < 8; i++) {
        if (e->b ? i : !(e->value >> i & 1))
            continue;
        table1_begin(t, e);
        ct_text_string(t, e->b ? "trigger" : hardware_name(origin->source, i, room, sizeof room));
        ct_text_char(t, '\n');
    }
    const bool is_loss = e->type == CT_EVENT_GAP || e->type == CT_EVENT_NO_ACCESS;
    if (e->type != CT_EVENT_BRANCH && !is_loss)
        return;
    const enum value_kind kind = describe(e, origin->source, room);
    table1_begin(t, e);
    if (kind == HEX)
        snprintf(room, sizeof room, "0x%06" PRIX64, e->value);
    ct_text_string(t, room);
    ct_text_char(t, '\n');
}

/* Writes text from a port to `note`, which has room for four times its size and a NUL. Escapes bytes that
 * cannot be printed, and the backslash, so that escapes are unambiguous. */
static void escape_note(char *note, const char *text, size_t size)
{
    size_t n = 0;
    for (size_t i = 0; i < size; i++) {
        const size_t length = text[i] == '\\' ? 0 : ct_printable_length(text + i, size - i);
        memcpy(note + n, text + i, length);
        n += length;
        if (length)
            i += length - 1;
        else
            n += (size_t)snprintf(note + n, 5, "\\x%02x", (unsigned char)text[i]);
    }
    note[n] = 0;
}

void ct_event_named_line(struct ct_text *t, enum ct_event_format format, const struct ct_event_place *p,
                         const struct ct_named_event *named, const struct ct_named_table *table,
                         uint64_t shift)
{
    static const uint8_t types[] = {[CT_NAMED_TEXT] = CT_EVENT_TEXT,
                                    [CT_NAMED_VALUE] = CT_EVENT_VALUE,
                                    [CT_NAMED_BEGIN] = CT_EVENT_SPAN_BEGIN,
                                    [CT_NAMED_END] = CT_EVENT_SPAN_END};
    static const char more[] = "…";
    static const char lost[] = ", not whole";
    char text[CT_NAMED_NOTE + 1];
    char note[4 * CT_NAMED_NOTE + sizeof more + sizeof lost];
    const struct ct_event event = {.offset = named->offset,
                                   .cycle = named->cycle,
                                   .value = named->port,
                                   .type = types[named->entry->kind]};
    size_t size = ct_named_event_text(named, table, shift, text, sizeof text);
    const bool whole = size < sizeof text;
    size = whole ? size : CT_NAMED_NOTE;
    if (size && text[size - 1] == '\n')
        size--;
    escape_note(note, text, size);
    strcat(note, whole ? "" : more);
    strcat(note, named->cut ? lost : "");
    put_line(t, format, p, &event, named->port == CT_SW_PORT_UNKNOWN ? NO_VALUE : HEX, note, named);
}

void ct_event_text_line(struct ct_text *t, enum ct_event_format format, const struct ct_event_place *p,
                        const struct ct_port_line *line)
{
    char note[4 * CT_PORT_LINE_SIZE + 1];
    const struct ct_event event = {
        .offset = line->offset, .cycle = line->cycle, .value = line->port, .type = CT_EVENT_TEXT};
    escape_note(note, line->text, line->size);
    put_line(t, format, p, &event, line->port == CT_SW_PORT_UNKNOWN ? NO_VALUE : HEX, note, NULL);
}
