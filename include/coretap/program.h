/* SPDX-License-Identifier: Apache-2.0 */
/* coretap program: the contents of the target's memory, and how a trace unit sees its instructions. Usually
 * programs.h finds and loads all of this. By hand, for one file, here the function at an address, and its
 * first instruction:
 *
 *     const struct ct_image image = {.path = "firmware.elf", .is_elf = 1, .space = CT_SPACE_ANY};
 *     if (!ct_memory_new(ctx, &memory) && !ct_memory_add_image(memory, &image) &&
 *         !ct_symbols_load(ctx, "firmware.elf", 0, &symbols)) {
 *         const uint8_t *code = ct_memory_at(memory, addr, CT_SPACE_ANY, &size);
 *         const struct ct_symbol *function = ct_symbols_at(symbols, addr, &offset);
 *         if (code && function && size >= 4)
 *             printf("%s+0x%llx: %02x%02x%02x%02x\n", function->name, (unsigned long long)offset, code[3],
 *                    code[2], code[1], code[0]);
 *     } */
#ifndef CORETAP_PROGRAM_H
#define CORETAP_PROGRAM_H

#include "coretap/base.h"
#include "coretap/input.h"

#ifdef __cplusplus
extern "C" {
#endif

enum ct_isa {
    CT_ISA_A64,
    CT_ISA_A32,
    CT_ISA_T32,
    CT_ISA_TEE, /* ThumbEE */
    CT_ISA_JAZ, /* Jazelle */
    CT_ISA_UNKNOWN,
};

/* ---- memory: regions of bytes with an address and a space ---- */

/* A memory. Any number of threads may read it while nothing is added. */
struct ct_memory;

/* Makes a memory without regions. CT_ERR_NOMEM. */
CT_API int ct_memory_new(struct ct_ctx *ctx, struct ct_memory **out);
CT_API void ct_memory_free(struct ct_memory *memory);

/* Adds a copy of `size` bytes at `addr`, in the memory spaces of the mask `space` (enum ct_space; 0: all).
 * CT_ERR_CONFIG when the region overlaps an earlier one in a common space, which stays, or exceeds the 64-bit
 * address space; CT_ERR_ARG without bytes; CT_ERR_NOMEM. */
CT_API int ct_memory_add_bytes(struct ct_memory *memory, const void *bytes, size_t size, uint64_t addr,
                               uint32_t space);

/* Adds an image of a capture. Maps the file read-only, or for an ELF file each PT_LOAD segment (with its
 * zero-filled tail, up to 4 GiB) at its virtual address plus image->addr; offset and size are not used then.
 * Size 0 is the rest of the file. The same file at the same address again only adds its spaces. An image of
 * names (CT_IMAGE_OF_NAMES) adds nothing. Others are added whole or not at all. CT_ERR_IO, CT_ERR_FORMAT,
 * CT_ERR_UNSUPPORTED (big-endian, or for another machine), CT_ERR_CONFIG as for ct_memory_add_bytes and for
 * bytes that the file does not have, CT_ERR_LIMIT, CT_ERR_NOMEM. The file must not become shorter while it is
 * mapped. */
CT_API int ct_memory_add_image(struct ct_memory *memory, const struct ct_image *image);

/* Returns the readable bytes at `addr`, up to the end of their region, and their number in *size. The
 * region's spaces include all of `space`. NULL and 0 when there are none. Borrowed from the memory and valid
 * as long as it. This is a binary search, so callers that read consecutive instructions should keep the
 * pointer. */
CT_API const uint8_t *ct_memory_at(const struct ct_memory *memory, uint64_t addr, uint32_t space,
                                   size_t *size);

/* ---- instructions, as a trace unit sees them ---- */

enum ct_insn_type {
    CT_INSN_OTHER,
    CT_INSN_BR,  /* direct branch */
    CT_INSN_IBR, /* indirect branch */
    CT_INSN_ISB,
    CT_INSN_DSB_DMB,
    CT_INSN_WFI_WFE,
    CT_INSN_TSTART,
};

enum ct_insn_sub {
    CT_INSN_SUB_NONE,
    CT_INSN_SUB_LINK,   /* branch with link */
    CT_INSN_SUB_RET,    /* A64 RET, RETAA, RETAB */
    CT_INSN_SUB_ERET,   /* A64 ERET, ERETAA, ERETAB */
    CT_INSN_SUB_V7_RET, /* A32 and T32 return idioms */
};

/* How a trace unit sees an instruction. This is only the class: whether a DSB or WFI is a waypoint depends on
 * the source's configuration and is decided by the walk (listings call a DSB or WFI that is no waypoint
 * `other`). */
struct ct_insn {
    uint64_t target; /* direct branches: target when taken (bit 0 clear) */
    uint8_t type;    /* enum ct_insn_type */
    uint8_t sub;     /* enum ct_insn_sub */
    uint8_t size;    /* bytes: 2 or 4 */
    uint8_t cond;    /* 1: the instruction itself is conditional, branch or not (the caller handles IT
                        blocks) */
    uint8_t loop;    /* 1: WLS, WLSTP, LE or LETP of Armv8.1-M with an end: conditional, but listings print
                        cond=0 */
    uint8_t isa;     /* direct branches: enum ct_isa at the target */
    uint8_t it;      /* T32 IT: number of instructions in the block it opens, 1 to 4; else 0 */
};

/* Classifies the instruction `opcode` at `addr`, for a core of architecture `arch`. A64 and A32: the 32-bit
 * word. T32: the first halfword in bits 31:16, the second in 15:0 (whatever follows when the instruction is
 * 16 bits wide). Every opcode has a result. Arm ARM DDI 0487, chapters C4, F3 and F4; Armv8-M Arm ARM DDI
 * 0553, C2. */
CT_API void ct_insn_decode_a64(uint32_t opcode, uint64_t addr, const struct ct_arch *arch,
                               struct ct_insn *out);
CT_API void ct_insn_decode_a32(uint32_t opcode, uint64_t addr, const struct ct_arch *arch,
                               struct ct_insn *out);
CT_API void ct_insn_decode_t32(uint32_t opcode, uint64_t addr, const struct ct_arch *arch,
                               struct ct_insn *out);

/* How an instruction accesses data in memory. */
struct ct_insn_access {
    uint8_t loads;  /* 1: it reads */
    uint8_t stores; /* 1: it writes; both: SWP, which reads first */
    uint8_t bytes;  /* of each transfer: 1, 2 or 4. Multiple and 64-bit accesses are transfers of 4 */
    uint8_t pad;    /* 0 */
};

/* Finds out whether an A32 or T32 instruction loads or stores, as ETMv3 traces its transfers. `opcode` as for
 * ct_insn_decode_a32 and ct_insn_decode_t32. Other instructions, and other instruction sets, give neither.
 * Arm ARM DDI 0406, A5 and A6. */
CT_API void ct_insn_access_of(uint32_t opcode, enum ct_isa isa, struct ct_insn_access *out);

/* ---- symbols: the functions of an ELF file ----
 *
 * Names come from the symbol table, the dynamic symbols, .gnu_debugdata and a separate file with debug
 * information, in this order; entries of the procedure linkage table are called name@plt. A function without
 * a name has the bounds from its unwind information, and is called module+0x1234, where 0x1234 is its address
 * in the file. The same applies to each piece of code between functions, so every address of the file's code
 * has a name.
 *
 *     struct ct_symbols *symbols;
 *     if (ct_symbols_load(ctx, "/usr/bin/gzip", bias, &symbols) == CT_OK) {
 *         char where[256];
 *         puts(ct_symbols_describe(symbols, addr, where, sizeof where));
 *         ct_symbols_free(symbols);
 *     } */

/* The source of a function's name and bounds. */
enum ct_symbol_source {
    CT_SYMBOL_SYMTAB,     /* .symtab of the file */
    CT_SYMBOL_DYNSYM,     /* .dynsym of the file */
    CT_SYMBOL_MINIDEBUG,  /* .gnu_debugdata: a compressed ELF file with symbols only */
    CT_SYMBOL_DEBUG_FILE, /* the file of .gnu_debuglink or of the build id; kallsyms */
    CT_SYMBOL_PLT,        /* an entry of the procedure linkage table: name@plt */
    CT_SYMBOL_UNWIND,     /* no name: bounds by .eh_frame or .ARM.exidx */
    CT_SYMBOL_CODE,       /* no name and no bounds: code between functions */
    CT_SYMBOL_GO,         /* .gopclntab, the table of Go's runtime: a name */
    CT_SYMBOL_MAP,        /* a row of a symbol map: a name */
};

struct ct_symbol {
    const char *name; /* as in the file, without a version ("@@GLIBC_2.17"); "module+0x1234" when it has
                         none */
    uint64_t addr;    /* of the first instruction, load bias included, bit 0 clear */
    uint64_t size;    /* bytes; without a size in the file, up to the next symbol or the end of the section */
    uint8_t isa;      /* enum ct_isa */
    uint8_t source;   /* enum ct_symbol_source */
};

/* The functions of one ELF file. Immutable once loaded: any number of threads may use it. */
struct ct_symbols;

/* Where separate files with names are searched. One object can serve any number of programs; only one thread
 * may use it at a time. */
struct ct_debug_files;

/* Makes an object that only knows the standard places. CT_ERR_NOMEM. */
CT_API int ct_debug_files_new(struct ct_ctx *ctx, struct ct_debug_files **out);
CT_API void ct_debug_files_free(struct ct_debug_files *files);

/* Adds a folder that is searched by build id, including subfolders, or a single file. It is read once, when
 * first needed; symbolic links to folders are not followed. CT_ERR_IO when it cannot be read, CT_ERR_FORMAT
 * when a single file is not an ELF file with a build ID, CT_ERR_NOMEM. */
CT_API int ct_debug_files_add_dir(struct ct_debug_files *files, const char *path);

/* Finds a program or shared object by its build id in the folders that were added. Skips files with only
 * debug information. *path is NULL when there is none, and belongs to `files`. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_debug_files_program(struct ct_debug_files *files, const uint8_t *build_id, size_t size,
                                  const char **path);

/* Adds a folder from which source files named by debug information may be read. Without any, this is the
 * current folder; the folder of the program is always allowed. CT_ERR_IO when there is no such folder,
 * CT_ERR_NOMEM. */
CT_API int ct_debug_files_add_source_root(struct ct_debug_files *files, const char *path);

/* Limits the uncompressed size of a program's compressed sections, in bytes. These are sections with
 * SHF_COMPRESSED, .zdebug_ and .gnu_debugdata, including those of its separate files. Without this call, and
 * for a `files` of NULL, the limit is CT_DEBUG_LIMIT. */
#define CT_DEBUG_LIMIT (UINT64_C(256) << 20)
CT_API void ct_debug_files_limit(struct ct_debug_files *files, uint64_t bytes);

/* Keeps loaded symbols and lines of programs, for many captures of the same programs. A later set of programs
 * (ct_programs_new) with the same `files` then uses them; a program that was written meanwhile is loaded
 * again. `files` and its context must outlive all these sets. */
CT_API void ct_debug_files_keep(struct ct_debug_files *files);

/* Does the same for all processes of a machine, in files of a folder: the first process that loads the
 * symbols or lines of a program writes them, and others read that file. Only programs with a build id are
 * stored, with names and lines from at most one separate file. The files of programs that have changed,
 * damaged files, and those of other versions are written again. If the folder cannot be written, there is a
 * warning, once. CT_ERR_NOMEM. */
CT_API int ct_debug_files_cache(struct ct_debug_files *files, const char *folder);

struct ct_symbol_options {
    size_t size;                  /* sizeof(struct ct_symbol_options) */
    uint64_t bias;                /* added to each address of the file */
    const char *module;           /* name of the file in names; NULL: the last component of its path */
    struct ct_debug_files *files; /* NULL: only the standard places, without servers */
    uint8_t raw_names;            /* 1: ct_symbols_label does not demangle */
    const struct ct_module_place *placed; /* see struct ct_image */
    uint8_t headers_alone; /* 1: no functions, only the ranges of code and the build id; reads little of the
                              file */
};

/* Loads the functions and the build id of the ELF file at `path`. Functions are defined symbols of the types
 * STT_FUNC and STT_GNU_IFUNC. When the file has no .symtab, a separate file is searched: by .gnu_debuglink
 * beside it, in .debug and below usr/lib/debug; by build id in usr/lib/debug/.build-id (below each folder of
 * the path, so that files of a target's root are found there); in the folders of options->files; and, with
 * options->files and $DEBUGINFOD_URLS, at debuginfod servers. Of several names for one address the choice is:
 * one with a size, then the most global, then the longest function, then the fewest leading underscores, then
 * alphabetical order. A file without symbols is no error. Damage in a source of names other than the symbol
 * tables gives a warning, and the source is left out. CT_ERR_IO, CT_ERR_FORMAT, CT_ERR_UNSUPPORTED
 * (big-endian, for another machine, or an object file that was not linked and so has no addresses),
 * CT_ERR_NOMEM, CT_ERR_ARG. */
CT_API int ct_symbols_load_with(struct ct_ctx *ctx, const char *path, const struct ct_symbol_options *options,
                                struct ct_symbols **out);

/* The same with the standard options. */
CT_API int ct_symbols_load(struct ct_ctx *ctx, const char *path, uint64_t bias, struct ct_symbols **out);

/* The same from the bytes of a file, called `name` in messages, which are not needed afterwards. Separate
 * files are not searched. */
CT_API int ct_symbols_load_bytes(struct ct_ctx *ctx, const char *name, const void *bytes, size_t size,
                                 uint64_t bias, struct ct_symbols **out);
/* The same for memory whose file has no symbols, such as a memory dump: one piece of code (CT_SYMBOL_CODE)
 * from image->addr on, named after the file and the offset in it, or __kernel_rt_sigreturn when it begins
 * with the instructions of that function of Linux. CT_ERR_IO when the size is not given and cannot be read
 * from the file, CT_ERR_ARG for an ELF file, CT_ERR_NOMEM. */
CT_API int ct_symbols_of_image(struct ct_ctx *ctx, const struct ct_image *image, struct ct_symbols **out);

/* The same from a symbol map: a file with the names of code that a program generated while it ran, the text
 * /tmp/perf-PID.map or the jitdump jit-PID.dump (docs/formats.md). Where rows overlap, the last one in the
 * file counts. Lines that are no rows are left out with a warning, and so is what follows a damaged record.
 * CT_ERR_IO, CT_ERR_LIMIT, CT_ERR_NOMEM, CT_ERR_ARG. */
CT_API int ct_symbols_load_map(struct ct_ctx *ctx, const char *path, struct ct_symbols **out);
CT_API void ct_symbols_free(struct ct_symbols *symbols);

/* Returns all functions, sorted by address. */
CT_API const struct ct_symbol *ct_symbols_all(const struct ct_symbols *symbols, size_t *count);

/* Returns all functions, followed by all pieces of code between functions. Pieces are CT_SYMBOL_CODE and
 * include padding; both parts are sorted by address. */
CT_API const struct ct_symbol *ct_symbols_all_code(const struct ct_symbols *symbols, size_t *count);

/* Finds the function that contains `addr`. It is the innermost where functions overlap; *offset receives the
 * offset in it (offset may be NULL). NULL when there is none. */
CT_API const struct ct_symbol *ct_symbols_at(const struct ct_symbols *symbols, uint64_t addr,
                                             uint64_t *offset);

/* The same, or else the piece of code: NULL only outside of the file's code. */
CT_API const struct ct_symbol *ct_symbols_code_at(const struct ct_symbols *symbols, uint64_t addr,
                                                  uint64_t *offset);

/* Returns the name of one of `symbols` for people, which means that C++ and Rust names are demangled. It
 * stays valid as long as the symbols. */
CT_API const char *ct_symbols_label(const struct ct_symbols *symbols, const struct ct_symbol *symbol);

/* Writes the name of an address, cut to `size` bytes: "label+0x10", "label" at the start of a function, or
 * "module+0x1234" outside of functions. Returns `text`. */
CT_API const char *ct_symbols_describe(const struct ct_symbols *symbols, uint64_t addr, char *text,
                                       size_t size);

/* Returns 1 when `name` is the name of `symbol` in the file or its demangled name, else 0. */
CT_API int ct_symbols_is_named(const struct ct_symbols *symbols, const struct ct_symbol *symbol,
                               const char *name);

/* The name of code that is in no known file. */
#define CT_SYMBOL_UNKNOWN "[unknown]"

/* Returns the load bias. */
CT_API uint64_t ct_symbols_bias(const struct ct_symbols *symbols);

/* Returns the name of the file in names. */
CT_API const char *ct_symbols_module(const struct ct_symbols *symbols);

/* Returns the readable form of a mangled name of C++, Rust, Fortran, OCaml or Haskell, to be freed. A
 * trailing "@plt" is kept. NULL when `name` is not mangled, or is of C++ or Rust and demangling is not built
 * in; when out of memory errno is ENOMEM, too. */
CT_API char *ct_demangle(const char *name);

/* Returns the instruction set of the code at `addr`. It is that of the mapping symbols of the Arm ELF ABI
 * ($a, $t, $x, $d), or without them that of the function at `addr`, or of the first function; CT_ISA_UNKNOWN
 * for data in code, such as literals. */
CT_API enum ct_isa ct_symbols_isa_at(const struct ct_symbols *symbols, uint64_t addr);

/* A range of addresses [from, end) for which the symbols give the same results. */
struct ct_symbol_span {
    uint64_t from;
    uint64_t end;
    const struct ct_symbol *function; /* as ct_symbols_at */
    const struct ct_symbol *code;     /* as ct_symbols_code_at */
    enum ct_isa isa;                  /* as ct_symbols_isa_at */
    uint32_t pad;                     /* 0 */
};

/* Finds the span around `addr`, so that a caller with many addresses in order asks once for each span.
 * Without symbols all addresses are one span, of which nothing is known. */
CT_API void ct_symbols_around(const struct ct_symbols *symbols, uint64_t addr, struct ct_symbol_span *span);

/* Returns the address of the first loaded segment of the file, load bias included; the load bias when there
 * is none. */
CT_API uint64_t ct_symbols_base(const struct ct_symbols *symbols);

/* Returns the entry point of the program (e_entry), load bias included; 0 when the file has none. */
CT_API uint64_t ct_symbols_entry(const struct ct_symbols *symbols);

/* A range of code addresses: [low, high). */
struct ct_code_range {
    uint64_t low, high;
};

/* Returns 1 when one of the ranges contains the address, else 0. */
static inline int ct_code_has(const struct ct_code_range *code, size_t count, uint64_t addr)
{
    for (size_t i = 0; i < count; i++)
        if (addr >= code[i].low && addr < code[i].high)
            return 1;
    return 0;
}

/* Returns the ranges of the file's code, with symbols or without. These are its executable segments, or all
 * loaded segments when none is executable. Sorted by address, load bias included. Borrowed from `symbols`. */
CT_API const struct ct_code_range *ct_symbols_code(const struct ct_symbols *symbols, size_t *count);

/* Returns the build id (NT_GNU_BUILD_ID), *size bytes; NULL and 0 when the file has none. */
CT_API const uint8_t *ct_symbols_build_id(const struct ct_symbols *symbols, size_t *size);

/* ---- layout: objects and sections of an ELF file ---- */

struct ct_area {
    const char *name;
    uint64_t addr; /* load bias included */
    uint64_t size; /* bytes; 0: unknown */
};

struct ct_layout {
    const struct ct_area *objects; /* data (STT_OBJECT) of .symtab, or without one of .dynsym, in file
                                      order */
    size_t object_count;
    const struct ct_area *sections; /* those in memory, except thread-local data */
    size_t section_count;
    uint64_t end; /* address after the last loaded byte of the file */
};

/* Reads the layout of the ELF file of an image, whose load bias is added to each address. The caller owns it.
 * CT_ERR_IO, CT_ERR_FORMAT, CT_ERR_UNSUPPORTED, CT_ERR_NOMEM, CT_ERR_ARG. */
CT_API int ct_layout_load(struct ct_ctx *ctx, const struct ct_image *image, struct ct_layout **out);
CT_API void ct_layout_free(struct ct_layout *layout);

#ifdef __cplusplus
}
#endif
#endif
