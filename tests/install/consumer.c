/* The smallest program that uses the library: it is compiled against the installed tree. */
#include <stdio.h>

#include <coretap/base.h>

int main(void)
{
    struct ct_ctx *ctx = ct_ctx_new();
    if (!ctx)
        return 1;
    puts(ct_version());
    ct_ctx_free(ctx);
    return 0;
}
