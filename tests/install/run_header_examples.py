#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles the examples in the opening comments of the public headers, and checks that each header with a
function that makes an object has one. Prints TAP.

usage: run_header_examples.py SOURCE_ROOT"""
import pathlib
import re
import subprocess
import sys
import tempfile

MAKES = re.compile(r"CT_API int ct_\w+_(?:new|open|load|compile)\([^;]*?\*\*\w+\);", re.DOTALL)
CODE = " *     "

# What the examples use without declaring it.
COMMON = """#include <coretap/coretap.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static struct ct_ctx *ctx;
static struct ct_capture *capture;
static struct ct_programs *programs;
static struct ct_program *program;
static struct ct_session *session;
static const struct ct_source *source;
static const struct ct_stream *stream;
static struct ct_cover *cover;
static const struct ct_step_batch *batch;
static ct_write_fn *write, *write_to_file;
static void *user, *files;
static FILE *file;
static const uint8_t *bytes;
static size_t size, count, taken, used;
static uint64_t addr, offset;
static uint32_t number;
static const char *path;
static int rc, more;
"""
# The objects of one header's example.
DECLARED = {
    "analysis": "struct ct_cover *tuesday;",
    "axis": """struct ct_verifier *verifier; struct ct_watches *watches; struct ct_verify_axis *axis; void
        *my;
        ct_verify_fn *on_result; const char **cores; int source, (*decode_some)(int);""",
    "branch_list": "struct ct_branch_list *list; struct ct_branch_list_counted counted;",
    "cfg": "struct ct_cfg *cfg;",
    "cover": "struct ct_cover_item *items; struct ct_cover_report *report;",
    "decode": """struct ct_chain *chain; void *mine;
        int (*on_elems)(void *, const struct ct_stream *, const struct ct_elem_batch *);""",
    "edge_events": "struct ct_step_batch batch;",
    "edges": "struct ct_edges *edges;",
    "elem": """struct ct_etm4_resolver *resolver; struct ct_etm4_packet packets[64]; size_t packet_count;
        struct ct_elem elems[512];""",
    "encode": """struct ct_etm4_emitter *emitter; const struct ct_elem *elems; size_t length; uint8_t
        out[512];""",
    "event": """struct ct_events *events; struct ct_flow records[64]; size_t record_count;
        struct ct_event out[64];""",
    "export": "struct ct_perf_samples *samples; int (*seek)(void *, uint64_t); uint32_t lane;",
    "fleet": """struct ct_manifest *manifest; struct ct_fleet_job *job; struct ct_fleet_piece *piece;
        struct ct_fleet_job_options options; struct ct_analysis *sum; const char *text; const void *data;
        size_t bytes;""",
    "flow": """struct ct_walk *walk; const struct ct_memory *memory; struct ct_elem elems[64]; size_t
        elem_count;
        uint64_t end; struct ct_flow records[64];""",
    "format": "struct ct_cover_views *views;",
    "fractal": """struct ct_fractal *f; struct ct_fractal_message m; struct ct_fractal_command c; size_t n;
        struct ct_fractal_event events[64]; void (*carry_out)(const struct ct_fractal_command *);""",
    "fractal_names": "struct ct_fractal_log *log; struct ct_fractal_event event;",
    "fractal_report": """struct ct_fractal_log *log; struct ct_fractal_report *report;
        struct ct_fractal_sums *sums;""",
    "fractal_run": "struct ct_fractal_replay *replay;",
    "fractal_sums": """struct ct_fractal_sums *sums; struct ct_fractal_reader *reader; uint64_t dropped;
        struct ct_fractal_event event; struct ct_fractal_place place; int damaged;""",
    "fractal_watch": """struct ct_fractal_watch *watch; struct ct_watches *watches; struct ct_verifier
        *verifier;
        struct ct_watch_event events[256];""",
    "fractal_wire": """struct ct_fractal *f; struct ct_fractal_command command; struct ct_fractal_wire *wire;
        struct ct_fractal_flit flit; struct ct_fractal_message message, beside;
        void (*send)(const struct ct_fractal_flit *, int);""",
    "frame": "struct ct_demux *demux; struct ct_run run;",
    "graph": "const struct ct_graph *graph; uint32_t node_count, edge_count;",
    "info": "struct ct_info_writer *info; struct ct_chain *chain;",
    "json": "struct ct_json *json; struct ct_seen *seen;",
    "live": "struct ct_live *live;",
    "merge": "struct ct_merge *merge;",
    "monitor": "struct ct_monitor_spec *spec; struct ct_monitor *monitor; ct_monitor_fn *on_results;",
    "named": "struct ct_named_table *table;",
    "named_event": """struct ct_named_reader *reader; struct ct_event *events;
        struct ct_named_table *table;""",
    "packet": "struct ct_etm4_decoder *decoder; struct ct_etm4_packet packets[64];",
    "packet_etm3": "struct ct_etm3_decoder *decoder; struct ct_etm3_packet packets[64];",
    "packet_itm": "struct ct_itm_decoder *decoder; struct ct_itm_packet packets[64];",
    "packet_ptm": "struct ct_ptm_decoder *decoder; struct ct_ptm_packet packets[64];",
    "packet_stm": "struct ct_stm_decoder *decoder; struct ct_stm_packet packets[64];",
    "program": "struct ct_memory *memory; struct ct_symbols *symbols;",
    "ran": """const struct ct_buffer *buffer; const struct ct_chain *chain; const struct ct_seen *seen;""",
    "report": "struct ct_report *report; struct ct_cover_views *views;",
    "shard": """struct ct_shard *shard, *all; struct ct_cover *sum; const char *name[8]; const void *text[8];
        size_t size[8];""",
    "soc": "struct ct_soc *soc; struct ct_soc_tap tap; uint32_t pid; uint64_t address;",
    "source_lines": "struct ct_lines *lines;",
    "stacks": "struct ct_stack_sums *sums; struct ct_stack_found found;",
    "steps": "const struct ct_node *nodes; const struct ct_edge *edges; uint64_t instructions;",
    "tables": """struct ct_tables *tables; struct ct_timing_sums *sums;
        int (*write)(void *, enum ct_table, const void *, size_t);""",
    "timeline": """struct ct_timeline *timeline; struct ct_event *events; struct ct_timed_event timed[64];
        size_t timed_count;""",
    "timing": "struct ct_timing_sums *sums; struct ct_timing_found found;",
    "verdict": """struct ct_verdict_writer *writer; struct ct_verifier *verifier; ct_verify_fn *on_result;""",
    "together": """struct ct_together_options options; struct ct_together *together; void *my;
        struct ct_capture **captures; enum ct_together_trouble trouble; struct ct_verifier *verifier;
        struct ct_monitor_spec *spec; ct_verify_fn *on_result; struct ct_watches *watches;""",
    "verify": """struct ct_verify_options options; struct ct_watches *watches; struct ct_verifier *verifier;
        struct ct_monitor_options monitor_options; struct ct_monitor_spec *spec; struct ct_watcher *watcher;
        struct ct_watch_event events[64]; size_t cap; ct_verify_fn *on_result; const char *text;""",
    "verify_sums": "struct ct_monitor_spec *spec; const struct ct_verify_sum *all;",
    "watch": """struct ct_watches *watches; struct ct_watcher *watcher; struct ct_watch_event events[64];
        uint32_t first, count; size_t event_count;""",
    "wcet": """struct ct_cfg *cfg; struct ct_wcet *wcet; struct ct_timing_sums *sums; const char *text;
        struct ct_wcet_result result; const struct ct_stream *streams; size_t i;""",
}


def opening(text):
    """The lines of code in the first comment of a header: number and text."""
    rows = text[:text.index("#ifndef")].split("\n")
    found = [(number, row[len(CODE):].removesuffix(" */")) for number, row in enumerate(rows, 1)
             if row.startswith(CODE)]
    return found if any(row.endswith(";") for _, row in found) else []


def function(header, rows):
    """A function of an example, whose compiler messages name the lines of the header."""
    code = "".join(f'#line {number} "{header}"\n{row}\n' for number, row in rows)
    objects = DECLARED.get(header.stem, "")
    return (f'#line 1 "{header.stem} in DECLARED"\n'
            f"static void of_{header.stem}(void)\n{{\n{objects}\n{{\n{code}}}\n}}\n")


def main():
    headers = sorted((pathlib.Path(sys.argv[1]) / "include/coretap").glob("*.h"))
    code, missing = COMMON, []
    for header in headers:
        text = header.read_text()
        rows = opening(text)
        if rows:
            code += function(header, rows)
        elif MAKES.search(text):
            missing.append(header.name)
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "examples.c"
        program.write_text(code)
        done = subprocess.run(["cc", "-std=gnu17", "-Wall", "-Wno-unused", "-Werror", "-fsyntax-only",
                               "-I", headers[0].parent.parent, program],
                              capture_output=True, text=True, check=False)
    failed = 0
    for number, (name, why) in enumerate((
            ("the examples of headers compile", done.stderr),
            ("headers whose functions make objects have an example", "\n".join(missing))), 1):
        print(f"{'not ' if why else ''}ok {number} - {name}")
        print("".join(f"# {row}\n" for row in why.splitlines()), end="")
        failed += bool(why)
    print("1..2")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
