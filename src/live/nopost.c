/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces posting to a URL in a build without libcurl's header. */
#include "base/ctx.h"
#include "live/hooks.h"

int ct_live_post_hook_init(struct ct_live_post_hook *h, struct ct_ctx *ctx, const char *url, const char *ca)
{
    (void)h;
    (void)ca;
    return ct_fail(
        ctx, CT_ERR_UNSUPPORTED,
        "%s: coretap was built without libcurl, so violations cannot be sent there; build coretap where "
        "libcurl is installed (Debian: libcurl4-openssl-dev), or run a command instead, such as 'curl "
        "--data-binary @- URL'",
        url);
}

void ct_live_post_hook_free(struct ct_live_post_hook *h)
{
    (void)h;
}
