/* SPDX-License-Identifier: Apache-2.0 */
/* What is done about violations: a command that is run, and a URL that is told. Each has a queue of bounded
 * length and threads of its own, so that neither holds back the analyses. */
#ifndef CT_LIVE_HOOKS_H
#define CT_LIVE_HOOKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coretap/json.h"
#include "coretap/verdict.h"

struct ct_live;
struct ct_live_hooks;

/* A violation that waits: its line of JSON, and "NAME=VALUE" texts for an environment, the last NULL, all in
 * one piece of memory. */
struct ct_live_notice {
    struct ct_live_notice *next;
    const char *json;
    size_t json_size;
    char *facts[16];
    char text[];
};

/* One way to tell of violations. */
struct ct_live_teller {
    /* Tells of one, in any of its threads, up to ct_live_teller_is_late. Returns false with the reason in
     * `why`; errno is ENOMEM when memory was missing. */
    bool (*tell)(const struct ct_live_teller *teller, const struct ct_live_notice *notice, char *why,
                 size_t size);
    unsigned seconds; /* that one may take */
    int over;         /* 1: there is no more time at all; set atomically */
};

/* Returns true when there is no more time for what began at a time (ct_live_now). */
bool ct_live_teller_is_late(const struct ct_live_teller *teller, double begin);

/* ---- the analysing thread ---- */

/* Takes a violation. */
void ct_live_hooks_tell(struct ct_live *live, const struct ct_verdict_origin *origin,
                        const struct ct_verify_result *result);

/* Ends all, if there are any: what waits is done, as long as there is time. */
void ct_live_hooks_end(struct ct_live *live);

/* Frees them; NULL is fine. */
void ct_live_hooks_free(struct ct_live_hooks *hooks);

/* Writes how they go, as members. */
void ct_live_put_hooks(struct ct_live *live, struct ct_json *json);

/* ---- a command (hook_command.c) ---- */

struct ct_live_command_hook {
    struct ct_live_teller teller;
    char **words; /* the program and its arguments, then NULL */
};

/* Parts the text into words. The errors of ct_live_hook. */
int ct_live_command_hook_init(struct ct_live_command_hook *hook, struct ct_ctx *ctx, const char *text);
void ct_live_command_hook_free(struct ct_live_command_hook *hook);

/* ---- a URL (hook_post.c) ---- */

struct ct_live_post_client;

struct ct_live_post_hook {
    struct ct_live_teller teller;
    struct ct_live_post_client *client;
};

/* Reads the URL and looks up its host. `ca`: file of certificates that one of https: is trusted by, or NULL.
 * The errors of ct_live_hook. */
int ct_live_post_hook_init(struct ct_live_post_hook *hook, struct ct_ctx *ctx, const char *url,
                           const char *ca);
void ct_live_post_hook_free(struct ct_live_post_hook *hook);

#endif
