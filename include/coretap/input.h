/* SPDX-License-Identifier: Apache-2.0 */
/* coretap input: the description of a capture: its buffers, the sources in them, their registers, and the
 * memory images of the target. Formats: docs/formats.md. A program may also fill in a ct_buffer itself.
 *
 *     if (ct_capture_open(ctx, "capture", &capture) == CT_OK)
 *         for (size_t i = 0; i < capture->buffer_count; i++)
 *             for (size_t k = 0; k < capture->buffers[i].source_count; k++)
 *                 printf("%s: %s\n", capture->buffers[i].sources[k].name,
 *                        ct_protocol_name(capture->buffers[i].sources[k].protocol));
 *     else
 *         fprintf(stderr, "%s\n", ct_ctx_error(ctx));
 *     ct_capture_free(capture); */
#ifndef CORETAP_INPUT_H
#define CORETAP_INPUT_H

#include "coretap/base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum ct_protocol {
    CT_PROTOCOL_NONE,
    CT_PROTOCOL_ETM4,
    CT_PROTOCOL_ETE,
    CT_PROTOCOL_ETM3,
    CT_PROTOCOL_PTM,
    CT_PROTOCOL_STM,
    CT_PROTOCOL_ITM,
};

/* Returns the short name of a protocol as in listings and .ini files: "etmv4i", "ete", "etmv3", "ptm", "stm",
 * "itm". */
CT_API const char *ct_protocol_name(enum ct_protocol protocol);

enum ct_framing {
    CT_FRAMING_AUTO,    /* detect from the bytes (ct_framing_probe in frame.h) */
    CT_FRAMING_NONE,    /* one source, no frames */
    CT_FRAMING_FRAMES,  /* 16-byte CoreSight frames from the first byte on (memory-aligned, ETB/ETR) */
    CT_FRAMING_TPIU,    /* frames with FSYNC and perhaps HSYNC words between and inside them */
    CT_FRAMING_DSTREAM, /* TPIU with an 8-byte footer at the end of each block of 512 bytes */
};

/* Returns the name of a framing: "auto", "none", "frames", "tpiu" or "dstream". */
CT_API const char *ct_framing_name(enum ct_framing framing);

enum ct_profile {
    CT_PROFILE_UNKNOWN,
    CT_PROFILE_A,
    CT_PROFILE_R,
    CT_PROFILE_M,
};

/* Architecture of a core, which decides which instructions are waypoints. */
struct ct_arch {
    uint8_t major;   /* 7, 8, 9; 0: unknown */
    uint8_t minor;   /* 3 for v8.3 */
    uint8_t profile; /* enum ct_profile */
    uint8_t newest;  /* 1: "ARM-AA64", the newest A profile */
};

/* Finds the architecture of a core by its name, such as "Cortex-A53", "ARMv8.3-A" or "ARM-AA64". Case does
 * not matter. CT_ERR_NOT_FOUND when the name is unknown; *out does not change then. CT_ERR_ARG for a NULL. */
CT_API int ct_arch_by_name(const char *model, struct ct_arch *out);

/* Registers of a trace source as the capture gives them, with defaults filled in. The protocol decides which
 * ones matter: docs/formats.md. */
struct ct_source_regs {
    uint32_t configr, traceidr, idr0, idr1, idr2, idr8, idr9, idr10, idr11, idr12, idr13,
        devarch;                                  /* ETMv4, ETE */
    uint32_t etmcr, etmidr, etmccer, etmtraceidr; /* ETMv3, PTM */
    uint32_t stmtcsr;                             /* STM */
    uint32_t itmtcr;                              /* ITM */
    uint32_t eventctl0r, eventctl1r;              /* ETMv4, ETE: which resources cause events */
    uint32_t rsctlr[32];                          /* ETMv4, ETE: what these resources are */
    uint32_t extinselr[4]; /* ETMv4, ETE: what the external inputs are connected to. ETMv4: only the first */
    uint32_t dwt_comp[4];  /* ITM: addresses of the DWT's comparators, 0 when unknown */
};

/* Number of different events in the trace of an ETMv4 or ETE. */
#define CT_SOURCE_EVENTS 4

struct ct_source {
    const char *name;
    const char *core;  /* name of the traced core, or NULL for a system source */
    const char *model; /* core type as stated, or NULL */
    uint8_t protocol;  /* enum ct_protocol */
    uint8_t trace_id;  /* 0 to 127, from the source's ID register; listings show 00 in streams without
                          frames */
    struct ct_arch arch;
    uint8_t without_sync; /* 1: an ITM that writes no synchronisation packets: packets begin at the first
                             byte, and again after an invalid one */
    struct ct_source_regs regs;
    /* Names of the events of its trace unit, by number: from the capture or, for an ETE, the PMU event that
     * its registers select. NULL: unknown. */
    const char *events[CT_SOURCE_EVENTS];
};

/* Returns the architectural name of a PMU event (DDI 0487, D13.11), such as "L1D_CACHE_REFILL". NULL for
 * numbers that the architecture leaves to the core. */
CT_API const char *ct_pmu_event_name(uint32_t number);

/* Returns 1 when the VMID in the trace of a source is Linux's number of the running thread, else 0. Linux
 * writes the number into the context ID register of its exception level; the trace unit traces the register
 * of EL2 as VMID when VMID and VMIDOPT are set (DDI 0487, TRCCONFIGR). */
static inline int ct_source_thread_in_vmid(const struct ct_source *source)
{
    return source->regs.configr >> 7 & source->regs.configr >> 15 & 1;
}

/* Returns 1 when the trace of a source says which context runs, else 0. */
static inline int ct_source_tells_context(const struct ct_source *source)
{
    if (source->protocol == CT_PROTOCOL_ETM3 || source->protocol == CT_PROTOCOL_PTM)
        return (source->regs.etmcr >> 14 & 3) != 0;
    return (source->regs.configr >> 6 & 1) != 0 || ct_source_thread_in_vmid(source);
}

/* Returns the name of the core that a source watches, or else the source's own name; NULL when both are
 * unknown. */
static inline const char *ct_source_core(const struct ct_source *source)
{
    return source->core ? source->core : source->name;
}

/* Returns 1 for the protocols of software trace, else 0: a program writes STM and ITM, and they say nothing
 * of its instructions. `protocol` is one of enum ct_protocol. */
static inline int ct_protocol_is_software(uint8_t protocol)
{
    return protocol == CT_PROTOCOL_STM || protocol == CT_PROTOCOL_ITM;
}

/* Returns 1 when a source is an ETMv3 that traces data transfers, else 0. Bits 2 and 3 of ETMCR enable their
 * values and addresses. */
static inline int ct_source_traces_data(const struct ct_source *source)
{
    return source->protocol == CT_PROTOCOL_ETM3 && (source->regs.etmcr & 0xcu) != 0;
}

/* Returns the trace ID of the data trace of an ETMv4 (TRCIDR0.TRCDATA, TRCCONFIGR.DA and DV). It is a
 * separate stream, whose ID is that of the source plus one. 0 when there is none. It is not decoded
 * (docs/losses.md). */
static inline uint8_t ct_source_data_id(const struct ct_source *source)
{
    return source->protocol == CT_PROTOCOL_ETM4 && (source->regs.idr0 >> 3 & 3) == 3 &&
                   (source->regs.configr >> 16 & 3)
               ? (uint8_t)(source->trace_id + 1)
               : 0;
}

/* Returns 1 when loads or stores have their own atoms in the trace of an ETMv4, else 0. Bit 0 of
 * TRCCONFIGR.INSTP0 is for loads, bit 1 for stores. Such a trace is not followed along the program
 * (docs/losses.md). */
static inline int ct_source_has_data_atoms(const struct ct_source *source)
{
    return source->protocol == CT_PROTOCOL_ETM4 && (source->regs.idr0 >> 1 & 3) == 3 &&
           (source->regs.configr >> 1 & 3) != 0;
}

/* Memory spaces, as bits: the security states and exception levels of an image or an access. */
enum ct_space {
    CT_SPACE_EL1S = 0x01,
    CT_SPACE_EL1N = 0x02,
    CT_SPACE_EL2N = 0x04,
    CT_SPACE_EL3 = 0x08,
    CT_SPACE_EL2S = 0x10,
    CT_SPACE_EL1R = 0x20,
    CT_SPACE_EL2R = 0x40,
    CT_SPACE_ROOT = 0x80,
    CT_SPACE_ANY_S = CT_SPACE_EL1S | CT_SPACE_EL3 | CT_SPACE_EL2S,
    CT_SPACE_ANY_NS = CT_SPACE_EL1N | CT_SPACE_EL2N,
    CT_SPACE_ANY_R = CT_SPACE_EL1R | CT_SPACE_EL2R,
    CT_SPACE_ANY = 0xff,
};

/* A section of a kernel module. */
struct ct_module_section {
    const char *name;
    uint64_t addr; /* from the start of the module's memory; wraps for sections before it */
};

/* Where the sections of a kernel module were loaded, as the target reported. The kernel decides this when it
 * loads the module; the file does not say it. */
struct ct_module_place {
    const struct ct_module_section *sections;
    size_t count;
};

/* Bytes of a file in the target's memory. */
struct ct_image {
    const char *path;
    uint64_t addr;
    uint64_t offset; /* first byte of the file that is used */
    uint64_t size;   /* number of bytes used */
    uint32_t space;  /* enum ct_space bits */
    uint8_t is_elf;  /* 1: `path` is an ELF file, whose PT_LOAD segments are used; addr is the load bias. 2
                        (CT_IMAGE_OF_NAMES): only its names are used; the bytes at these addresses come from
                        another image */
    const struct ct_module_place *placed; /* for a kernel module: where its sections were loaded; NULL: by the
                                             rules of the kernel */
};

/* Of ct_image.is_elf: the file only gives names to a copy of memory, which is a separate image. */
#define CT_IMAGE_OF_NAMES 2

/* Returns 1 when both images say the same about the same addresses, else 0. */
CT_API int ct_image_same(const struct ct_image *a, const struct ct_image *b);

/* Values of an unknown thread or time. */
#define CT_NO_THREAD UINT32_MAX
#define CT_NO_TIME   UINT64_MAX

/* A part of a buffer's file that was recorded without interruption. */
struct ct_piece {
    uint64_t offset; /* of its first byte in the file */
    uint64_t size;   /* number of bytes, all of which should be in the file; UINT64_MAX: up to its end */
    uint64_t time;   /* when it was complete, in nanoseconds of the capture's clock, or CT_NO_TIME; see
                        ct_maps.by_piece */
    uint32_t tid;    /* the thread that ran then, or CT_NO_THREAD */
    uint8_t joins;  /* 1: its first byte follows the last one of the piece before; 0: decoders start afresh */
    uint8_t cut;    /* 1: the kernel had no room for what followed */
    uint8_t pad[2]; /* 0 */
};

/* The memory of one process from a time on, up to the next generation of the process. */
struct ct_generation {
    uint64_t from;    /* nanoseconds */
    const char *name; /* of the program, or "" */
    size_t image_count;
    const struct ct_image *images; /* none overlaps another */
    size_t program_count;
    const struct ct_image *programs; /* the ELF files among the images; is_elf is 1, addr is the load bias */
    uint8_t has_main;                /* 1: the first of `programs` is the one that was started */
};

struct ct_process {
    uint32_t pid;
    size_t generation_count;
    const struct ct_generation *generations; /* in order of time */
};

/* The process of a thread from a time on. */
struct ct_thread {
    uint64_t from; /* nanoseconds */
    uint32_t tid;
    uint32_t pid;
};

/* Converts timestamps of trace to nanoseconds of the capture: zero + (timestamp * mult >> shift). */
struct ct_clock {
    uint64_t zero;
    uint32_t mult;
    uint16_t shift; /* 0 to 63 */
    uint8_t known;
    uint8_t pad; /* 0 */
};

/* Memory that changes during the capture (perf.data, recorded code that changed). A thread without an entry
 * is the first one of the process with its number. */
struct ct_maps {
    size_t process_count;
    const struct ct_process *processes; /* by pid */
    size_t thread_count;
    const struct ct_thread *threads; /* by tid, then by time */
    struct ct_clock clock;
    /* 1: there is only one process, whatever threads the trace names, and its generations are states of
     * memory without a time: `from` of a generation and `time` of a piece are numbers of generations. */
    uint8_t by_piece;
    uint8_t pad[7]; /* 0 */
};

/* The name of a context from a time on: from an .ini file, or of a thread of Linux. */
struct ct_context_name {
    const char *name;
    uint64_t from;    /* nanoseconds of the capture's clock; 0: always */
    uint32_t context; /* context ID; for Linux the thread ID */
    uint32_t process; /* for Linux: the ID of its process; else as `context` */
};

/* Returns the generation with a number, or NULL. Numbers begin at 1, process by process. */
CT_API const struct ct_generation *ct_maps_generation(const struct ct_maps *maps, uint32_t number);

struct ct_buffer {
    const char *name; /* NULL, of the buffer or a source, is CT_ERR_ARG; so is an image without a path */
    const char *path; /* "-" is standard input; NULL: the caller passes the bytes (ct_chain_push) */
    size_t piece_count;
    const struct ct_piece *pieces; /* NULL: the whole file is trace */
    uint8_t framing;               /* enum ct_framing from the capture; CT_FRAMING_AUTO: to be detected from
                                      the bytes */
    size_t source_count;
    const struct ct_source *sources; /* in a buffer without frames only the first is used */
    size_t image_count;
    const struct ct_image *images; /* of all cores with a source in the buffer, without duplicates */
    const struct ct_maps *maps;    /* memory of processes besides these images, or NULL: none */
    size_t name_count;
    const struct ct_context_name *names; /* names of contexts, sorted by context, then by time */
};

/* Returns the name of a context of a buffer at a time, in nanoseconds of the capture's clock; CT_NO_TIME: at
 * the end. NULL: it has no name. */
CT_API const struct ct_context_name *ct_context_name_find(const struct ct_buffer *buffer, uint32_t context,
                                                          uint64_t time);

/* A capture. Immutable once opened: any number of threads may decode its buffers, each with its own context.
 */
struct ct_capture {
    const char *path;
    const char *kind; /* "snapshot", "raw", "perf.data" */
    size_t buffer_count;
    const struct ct_buffer *buffers;
    size_t missing_count; /* number of `missing`: texts about images that are named but do not exist, and
                             where they are named */
    const char *const *missing;
    size_t damage_count; /* number of `damage`: texts about what the file should contain and does not:
                            truncated, lost while recording */
    const char *const *damage;
    const struct ct_maps *maps;      /* the processes of all buffers, or NULL */
    size_t program_count;            /* number of `programs` */
    const struct ct_image *programs; /* the ELF files that ran, for their names and lines; is_elf is 1, addr
                                        is the load bias. `images` has what was in memory */
    size_t main_count; /* the first main_count of `programs` were started; the others were loaded by them, or
                          it is unknown which */
    size_t gone_count; /* number of `gone`: files that ran and do not exist here: path is the name on the
                          target, addr and size are where they were loaded; for is_elf, addr is the load bias
                          and the size is unknown */
    const struct ct_image *gone;
    const char *const *gone_build_ids; /* build id of each of `gone` as hexadecimal digits; NULL: unknown */
    size_t symbol_map_count;           /* number of `symbol_maps`: files with names of generated code
                                          (ct_symbols_load_map) */
    const char *const *symbol_maps;
};

/* Where to find the files that ran on the target. Mostly needed for perf.data: other captures name local
 * files. Texts may be NULL. */
struct ct_capture_options {
    size_t size;             /* sizeof(struct ct_capture_options) */
    const char *symfs;       /* folder with the files of the target, at their paths there */
    const char *vmlinux;     /* the kernel, not stripped */
    const char *kcore;       /* the running kernel's memory as copied by perf, including modules */
    const char *buildid_dir; /* cache of files by build id; NULL: ~/.debug */
    /* Returns the path of a file with this build id, or NULL. It is asked after all other places and before a
     * server, for snapshots also about the programs that they name. May be NULL. */
    const char *(*find_file)(void *user, const uint8_t *build_id, size_t size);
    void *user;
};

/* Opens the capture at `path`: a snapshot directory (or its snapshot.ini), the .ini of a raw trace, a
 * perf.data file. The capture and all it points to belong to the library until ct_capture_free. CT_ERR_IO,
 * CT_ERR_FORMAT, CT_ERR_CONFIG, CT_ERR_NOMEM, CT_ERR_NOT_FOUND for a perf.data file without trace,
 * CT_ERR_UNSUPPORTED for a file of a known kind that is no capture; the context's text names file, line or
 * key, what was expected and what to do. When no reader recognises the path, the text gives the reason of
 * each reader. */
CT_API int ct_capture_open(struct ct_ctx *ctx, const char *path, struct ct_capture **out);

/* The same with options (NULL: none). CT_ERR_ARG for options that are not understood. */
CT_API int ct_capture_open_with(struct ct_ctx *ctx, const char *path,
                                const struct ct_capture_options *options, struct ct_capture **out);
CT_API void ct_capture_free(struct ct_capture *capture);

/* Returns 1 when the description of a raw trace can contain this file name. It cannot contain ; and #, for
 * example, which begin a comment. */
CT_API int ct_raw_can_name(const char *name);

/* Writes the description of a raw trace for a copy of it. The copy is called `trace` and is beside the new
 * description. `text` is the old description, `size` bytes that were read from `path`. File names become
 * absolute paths, gaps are left out, and `framing` replaces the old one unless it is AUTO. CT_ERR_CONFIG when
 * the text does not describe a raw trace, or names a file that cannot be written in one; CT_ERR_FORMAT,
 * CT_ERR_ARG, CT_ERR_NOMEM, what `write` returned. */
CT_API int ct_raw_describe(struct ct_ctx *ctx, const char *path, const char *text, size_t size,
                           const char *trace, enum ct_framing framing, ct_write_fn *write, void *user);

#ifdef __cplusplus
}
#endif
#endif
