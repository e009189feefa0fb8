/* Reader of textual traces (LANGUAGE.md A.9). */
#ifndef CT_MONITOR_TEXT_IN_H
#define CT_MONITOR_TEXT_IN_H

#include "monitor/run.h"

struct text_reader {
    struct text rest; /* of a line cut by the end of a chunk */
    char *name;       /* of the trace, for messages */
    uint64_t line, events, limit;
    bool done; /* the event limit was reached */
    struct {
        uint32_t hash, input; /* input + 1; 0: free */
    } * table;
    uint32_t mask;
    char error[512];
};

/* Reads a value of the type at *p; on failure *actual describes what stands there. */
struct value_in {
    const char *p, *end;
    struct heap *heap;
    int depth;
    /* where it went wrong: the member, the type found there and its text */
    const struct type *expected;
    const char *found_type;
    const char *found;
    size_t found_size;
    char path[128];
};
bool value_read(struct value_in *in, const struct type *type, struct cell *out);
void value_skip_blank(struct value_in *in);

#endif
