/* SPDX-License-Identifier: Apache-2.0 */
/* Reactions to violations: a command to run, and a URL to post to. Each has a bounded queue and threads of
 * its own, so that they never delay the analyses. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coretap/json.h"
#include "coretap/verdict.h"

struct ct_live;
struct ct_live_hooks;

/* A queued violation, in one allocation: its JSON line, and "NAME=VALUE" texts for an environment, NULL at
 * the end. */
struct ct_live_notice {
    struct ct_live_notice *next;
    const char *json;
    size_t json_size;
    char *facts[16];
    char text[];
};

/* A way to report violations. */
struct ct_live_teller {
    /* Reports one violation, in any of the hook's threads, until ct_live_teller_is_late. Returns false with
     * the reason in `why`; errno is ENOMEM when out of memory. */
    bool (*tell)(const struct ct_live_teller *teller, const struct ct_live_notice *notice, char *why,
                 size_t size);
    unsigned seconds; /* seconds that one violation may take */
    int over;         /* 1: no time is left at all; set atomically */
};

/* Returns whether the time is up for a violation that began at `begin` (ct_live_now). */
bool ct_live_teller_is_late(const struct ct_live_teller *teller, double begin);

/* ---- the analysing thread ---- */

/* Queues a violation for all hooks. */
void ct_live_hooks_tell(struct ct_live *live, const struct ct_verdict_origin *origin,
                        const struct ct_verify_result *result);

/* Ends all hooks. Processes waiting violations as long as there is time. */
void ct_live_hooks_end(struct ct_live *live);

/* Frees the hooks; NULL is allowed. */
void ct_live_hooks_free(struct ct_live_hooks *hooks);

/* Writes the state of the hooks as JSON members. */
void ct_live_put_hooks(struct ct_live *live, struct ct_json *json);

/* ---- a command (hook_command.c) ---- */

struct ct_live_command_hook {
    struct ct_live_teller teller;
    char **words; /* the program and its arguments, NULL at the end */
};

/* Splits the text into words. Returns the errors of ct_live_hook. */
int ct_live_command_hook_init(struct ct_live_command_hook *hook, struct ct_ctx *ctx, const char *text);
void ct_live_command_hook_free(struct ct_live_command_hook *hook);

/* ---- a URL (hook_post.c) ---- */

struct ct_live_post_client;

struct ct_live_post_hook {
    struct ct_live_teller teller;
    struct ct_live_post_client *client;
};

/* Reads the URL and looks up its host. `ca`: file of trusted certificates for https:, or NULL. Returns the
 * errors of ct_live_hook. */
int ct_live_post_hook_init(struct ct_live_post_hook *hook, struct ct_ctx *ctx, const char *url,
                           const char *ca);
void ct_live_post_hook_free(struct ct_live_post_hook *hook);
