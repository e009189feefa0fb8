/* Names of addresses: functions, objects, sections, regions. */
#include <errno.h>
#include <elf.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/ctx.h"
#include "base/elf_strings.h"
#include "base/printable.h"
#include "cli/fractal.h"
#include "coretap/program.h"

struct names {
    struct ct_arena arena;
    struct name *all; /* symbols, then sections, then regions: each part sorted by lo; then the unknown */
    size_t count, symbols, sections, capacity;
    uint64_t code, end;
    unsigned machine;
    struct ct_symbols *functions; /* whose names those of functions are */
};

static int push(struct names *n, uint64_t lo, uint64_t size, const char *text, enum name_kind kind)
{
    if (n->count + 1 >= n->capacity) {
        const size_t capacity = n->capacity ? n->capacity * 2 : 1024;
        struct name *all = realloc(n->all, capacity * sizeof *all);
        if (!all)
            return 0;
        n->all = all;
        n->capacity = capacity;
    }
    const char *copy = ct_arena_strdup(&n->arena, text);
    const char *printable = copy ? ct_printable(&n->arena, copy) : NULL;
    if (!printable)
        return 0;
    n->all[n->count++] = (struct name){.lo = lo, .hi = lo + size, .text = printable, .kind = kind};
    n->all[n->count] = (struct name){.text = CT_SYMBOL_UNKNOWN, .kind = NAME_UNKNOWN};
    return 1;
}

static int by_address(const void *a, const void *b)
{
    const struct name *x = a, *y = b;
    if (x->lo != y->lo)
        return x->lo < y->lo ? -1 : 1;
    /* Of several for one address the longest counts, then the first by name: always the same one. */
    if (x->hi != y->hi)
        return x->hi > y->hi ? -1 : 1;
    return strcmp(x->text, y->text);
}

/* Aliases go, and a symbol without a size ends where the next begins. */
static void tidy_symbols(struct names *n)
{
    if (n->count)
        qsort(n->all, n->count, sizeof *n->all, by_address);
    size_t kept = 0;
    for (size_t i = 0; i < n->count; i++)
        if (!kept || n->all[i].lo != n->all[kept - 1].lo)
            n->all[kept++] = n->all[i];
    for (size_t i = 0; i < kept; i++)
        if (n->all[i].hi == n->all[i].lo)
            n->all[i].hi = i + 1 < kept ? n->all[i + 1].lo : n->all[i].lo + 4;
    n->count = n->symbols = kept;
    n->all[kept] = (struct name){.text = CT_SYMBOL_UNKNOWN, .kind = NAME_UNKNOWN};
}

/* Functions with all that the name service knows: those of stripped programs, too. */
static int add_functions(struct names *n, const struct cli_args *args, const char *path, uint64_t bias)
{
    size_t count;
    const struct ct_symbol_options options = {
        .size = sizeof options, .bias = bias, .files = args->debug_files, .raw_names = args->raw_names};
    int fine = ct_symbols_load_with(args->ctx, path, &options, &n->functions) == CT_OK;
    const struct ct_symbol *all = fine ? ct_symbols_all(n->functions, &count) : NULL;
    for (size_t i = 0; fine && i < count; i++) {
        fine = push(n, all[i].addr, all[i].size, ct_symbols_label(n->functions, &all[i]), NAME_FUNCTION);
        if (fine)
            n->all[n->count - 1].raw = all[i].name;
    }
    return fine;
}

static int add_objects(struct names *n, Elf *elf, Elf_Scn *scn, const GElf_Shdr *shdr, uint64_t bias)
{
    Elf_Data *data = elf_getdata(scn, NULL);
    const size_t total = data && shdr->sh_entsize ? shdr->sh_size / shdr->sh_entsize : 0;
    for (size_t i = 0; i < total; i++) {
        GElf_Sym sym;
        if (!gelf_getsym(data, (int)i, &sym) || sym.st_shndx == SHN_UNDEF || !sym.st_value)
            continue;
        const char *text = elf_strptr(elf, shdr->sh_link, sym.st_name);
        if (!text || !*text || GELF_ST_TYPE(sym.st_info) != STT_OBJECT)
            continue;
        if (!push(n, sym.st_value + bias, sym.st_size, text, NAME_OBJECT))
            return 0;
    }
    return 1;
}

static int add_sections(struct names *n, Elf *elf, uint64_t bias)
{
    size_t strings;
    if (elf_getshdrstrndx(elf, &strings))
        return 1;
    for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));) {
        GElf_Shdr shdr;
        if (!gelf_getshdr(scn, &shdr) || !(shdr.sh_flags & SHF_ALLOC) || shdr.sh_flags & SHF_TLS ||
            !shdr.sh_size)
            continue;
        const char *text = elf_strptr(elf, strings, shdr.sh_name);
        if (text && !push(n, shdr.sh_addr + bias, shdr.sh_size, text, NAME_SECTION))
            return 0;
    }
    if (n->all && n->count > n->symbols)
        qsort(n->all + n->symbols, n->count - n->symbols, sizeof *n->all, by_address);
    n->sections = n->count;
    return 1;
}

static uint64_t lowest_code(Elf *elf, unsigned count)
{
    uint64_t lowest = UINT64_MAX;
    for (unsigned i = 0; i < count; i++) {
        GElf_Phdr phdr;
        if (gelf_getphdr(elf, (int)i, &phdr) && phdr.p_type == PT_LOAD && phdr.p_flags & PF_X &&
            phdr.p_vaddr < lowest)
            lowest = phdr.p_vaddr;
    }
    return lowest == UINT64_MAX ? 0 : lowest;
}

static uint64_t highest_address(Elf *elf, unsigned count)
{
    uint64_t highest = 0;
    for (unsigned i = 0; i < count; i++) {
        GElf_Phdr phdr;
        if (gelf_getphdr(elf, (int)i, &phdr) && phdr.p_type == PT_LOAD &&
            phdr.p_vaddr + phdr.p_filesz > highest)
            highest = phdr.p_vaddr + phdr.p_filesz;
    }
    return highest;
}

static int read_elf(struct names *n, Elf *elf, uint64_t bias)
{
    GElf_Ehdr ehdr;
    if (!gelf_getehdr(elf, &ehdr))
        return 0;
    n->code = lowest_code(elf, ehdr.e_phnum) + bias;
    n->end = highest_address(elf, ehdr.e_phnum) + bias;
    n->machine = ehdr.e_machine;
    int dynamic_only = 1;
    for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));) {
        GElf_Shdr shdr;
        if (gelf_getshdr(scn, &shdr) && shdr.sh_type == SHT_SYMTAB) {
            dynamic_only = 0;
            if (!add_objects(n, elf, scn, &shdr, bias))
                return 0;
        }
    }
    for (Elf_Scn *scn = NULL; dynamic_only && (scn = elf_nextscn(elf, scn));) {
        GElf_Shdr shdr;
        if (gelf_getshdr(scn, &shdr) && shdr.sh_type == SHT_DYNSYM && !add_objects(n, elf, scn, &shdr, bias))
            return 0;
    }
    if (n->all)
        tidy_symbols(n);
    return add_sections(n, elf, bias);
}

struct names *names_load(const struct cli_args *args, const char *path, uint64_t bias)
{
    struct ct_ctx *ctx = args->ctx;
    struct names *n = calloc(1, sizeof *n);
    if (!n || !push(n, 0, 0, "", NAME_UNKNOWN)) {
        names_free(n);
        ct_fail_nomem(ctx, path ? path : "names");
        return NULL;
    }
    n->count = 0;
    n->all[0] = (struct name){.text = CT_SYMBOL_UNKNOWN, .kind = NAME_UNKNOWN};
    if (!path)
        return n;
    elf_version(EV_CURRENT);
    errno = 0;
    /* Read, not mapped: a file that shrinks meanwhile is an error and no signal. */
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    Elf *elf = fd >= 0 ? elf_begin(fd, ELF_C_READ, NULL) : NULL;
    const int is_elf = elf && elf_kind(elf) == ELF_K_ELF && !ct_elf_has_packed_strings(elf);
    bool no_memory = errno == ENOMEM;
    int ok = is_elf && !no_memory && add_functions(n, args, path, bias);
    no_memory |= errno == ENOMEM;
    errno = 0;
    ok = ok && read_elf(n, elf, bias);
    no_memory |= errno == ENOMEM;
    elf_end(elf);
    if (fd >= 0)
        close(fd);
    if (no_memory) {
        names_free(n);
        ct_fail_nomem(ctx, path);
        return NULL;
    }
    if (ok)
        return n;
    const int told = is_elf && !n->functions; /* the name service said why */
    names_free(n);
    if (told)
        return NULL;
    ct_fail(ctx, CT_ERR_FORMAT, "%s: %s; no names can be taken from it", path,
            fd < 0 ? "cannot be opened" : "not an ELF file");
    return NULL;
}

void names_free(struct names *n)
{
    if (!n)
        return;
    ct_arena_free(&n->arena);
    ct_symbols_free(n->functions);
    free(n->all);
    free(n);
}

int names_region(struct names *n, uint64_t lo, uint64_t hi, const char *text)
{
    if (!push(n, lo, hi - lo, text, NAME_REGION))
        return 0;
    qsort(n->all + n->sections, n->count - n->sections, sizeof *n->all, by_address);
    return 1;
}

static const struct name *lookup(const struct name *first, size_t count, uint64_t va)
{
    size_t lo = 0, hi = count;
    while (lo < hi) {
        const size_t mid = lo + (hi - lo) / 2;
        if (first[mid].lo <= va)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo && va < first[lo - 1].hi ? &first[lo - 1] : NULL;
}

/* The log knows lines: a line belongs to what its first byte belongs to, else to the first name that
 * begins in it. */
static const struct name *lookup_line(const struct name *first, size_t count, uint64_t va)
{
    const struct name *at = lookup(first, count, va);
    return at || va & 63 ? at : lookup(first, count, va + 63);
}

const struct name *names_at(const struct names *n, uint64_t va)
{
    const struct name *at = lookup_line(n->all, n->symbols, va);
    if (!at)
        at = lookup_line(n->all + n->symbols, n->sections - n->symbols, va);
    if (!at)
        at = lookup(n->all + n->sections, n->count - n->sections, va);
    return at ? at : &n->all[n->count];
}

const struct name *names_find(const struct names *n, const char *text, bool section)
{
    const size_t first = section ? n->symbols : 0, last = section ? n->sections : n->symbols;
    for (size_t i = first; i < last; i++)
        if (!strcmp(n->all[i].text, text) || (n->all[i].raw && !strcmp(n->all[i].raw, text)))
            return &n->all[i];
    return NULL;
}

uint64_t names_code(const struct names *n)
{
    return n->code;
}

uint64_t names_end(const struct names *n)
{
    return n->end;
}

unsigned names_machine(const struct names *n)
{
    return n->machine;
}

const struct name *names_all(const struct names *n, size_t *count)
{
    *count = n->count + 1;
    return n->all;
}

/* Names come from files: what would break a line of values is quoted (RFC 4180). */
static void csv_text(FILE *out, const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

void fractal_csv_line(FILE *out, const struct ct_fractal_event *e, const struct names *names)
{
    static const char kind[] = {'-', 'I', 'D'};
    fprintf(out, "%llu,0x%llx,0x%llx,%s,%u,%c,", (unsigned long long)e->time, (unsigned long long)e->va,
            (unsigned long long)e->pa, ct_fractal_op_name(e->op), e->initiator,
            kind[e->kind < 3 ? e->kind : 0]);
    csv_text(out, names_at(names, e->va)->text);
    fputc('\n', out);
}
