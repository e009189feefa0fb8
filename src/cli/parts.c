/* SPDX-License-Identifier: Apache-2.0 */
/* The optional parts of the command: which of them this build has, and what is impossible without them.
 * meson.build sets CT_WITH_… to what was found. */
#include <dlfcn.h>
#include <stdlib.h>

#include "cli/cli.h"

struct part {
    const char *name;
    bool built;
    const char *library;  /* loaded at run time when needed; NULL when linked */
    const char *variable; /* environment variable that names another file to load as the library; or NULL */
    const char *with;     /* what it provides */
    const char *without;  /* what is impossible without it */
    const char *package;  /* Debian package */
};

static const struct part parts[] = {
    {"capstone", CT_WITH_CAPSTONE, "libcapstone.so.4", "CORETAP_CAPSTONE",
     "reports show instructions as assembly text", "reports show instructions as opcodes", "libcapstone-dev"},
    {"cbc", CT_WITH_CBC, "libCbcSolver.so.3", "CORETAP_CBC", "wcet and report find the longest path",
     "wcet and report cannot find the longest path; wcet --lp writes the model for another solver",
     "coinor-libcbc-dev"},
    {"gccjit", CT_WITH_GCCJIT, "libgccjit.so.0", "CORETAP_GCCJIT", "specifications run as machine code",
     "specifications run as bytecode, which is slower", "libgccjit-12-dev"},
    {"live", CT_WITH_LIVE, "libmicrohttpd.so.12", "CORETAP_MICROHTTPD",
     "live serves its page and the API that ctl uses",
     "live serves no page, and ctl cannot be used; live still writes its reports", "libmicrohttpd-dev"},
    {"curl", CT_WITH_CURL, "libcurl.so.4", "CORETAP_CURL", "live sends violations to a URL",
     "live cannot send violations to a URL; it can run a command for each", "libcurl4-openssl-dev"},
    {"lzma", CT_WITH_LZMA, NULL, NULL, "stripped programs get function names from .gnu_debugdata",
     "functions named only in .gnu_debugdata have no names", "liblzma-dev"},
    {"demangle", CT_WITH_DEMANGLE, NULL, NULL, "names of C++ and Rust are demangled",
     "names of C++ and Rust are not demangled", "libiberty-dev"},
    {"opencsd", CT_WITH_OPENCSD, NULL, NULL, "perf-env runs perf with coretap's libopencsd",
     "perf-env cannot be used, because coretap's libopencsd is missing", "libopencsd-dev"},
    {"debuginfod", true, "libdebuginfod.so.1", NULL, "missing files are fetched from servers by build id",
     "missing files are not fetched from servers", "libdebuginfod1"},
};

static bool is_here(const struct part *part)
{
    if (!part->built || !part->library)
        return part->built;
    const char *other = part->variable ? getenv(part->variable) : NULL;
    return dlopen(other ? other : part->library, RTLD_LAZY | RTLD_LOCAL) != NULL;
}

void cli_print_parts(FILE *out)
{
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const struct part *part = &parts[i];
        if (is_here(part))
            fprintf(out, "%-10s  present: %s\n", part->name, part->with);
        else
            fprintf(out, "%-10s  missing: %s (Debian: %s%s)\n", part->name, part->without,
                    part->built ? "" : "rebuild coretap with ", part->package);
    }
}
