/* Settles who does what: claims, and the leases that they stand on. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "counters/host/ctr_timer.h"
#include "experiments/base/exp_error.h"
#include "experiments/store/exp_store_sql.h"

/* ---- leases ---- */

/*
 * Reads field 22 of a process's stat, counted after the command's name, which may hold anything. Returns 0 if there is
 * none. It is its first thread's file, because QEMU's emulators make up the process's for the process itself.
 */
static int64_t start_of(int64_t pid)
{
    enum { FIELDS_BETWEEN = 20 };
    char path[64], text[1024];
    int64_t started = 0;
    const char *at;
    FILE *in;

    snprintf(path, sizeof path, "/proc/%" PRId64 "/task/%" PRId64 "/stat", pid, pid);
    in = fopen(path, "r");
    if (!in)
        return 0;
    text[fread(text, 1, sizeof text - 1, in)] = '\0';
    fclose(in);
    at = strrchr(text, ')');
    for (int i = 0; at && i < FIELDS_BETWEEN; i++)
        at = strchr(at + 1, ' ');
    return at && sscanf(at, "%" SCNd64, &started) == 1 ? started : 0;
}

static void say_host(char *host, size_t bytes)
{
    struct utsname name;

    snprintf(host, bytes, "%.*s", (int)bytes - 1, uname(&name) ? "unknown" : name.nodename);
}

struct exp_lease exp_lease_own(void)
{
    struct exp_lease own = { .pid = getpid(), .started = start_of(getpid()) };

    say_host(own.host, sizeof own.host);
    return own;
}

bool exp_lease_is_here(const struct exp_lease *l)
{
    char host[sizeof l->host];

    say_host(host, sizeof host);
    return !strcmp(host, l->host);
}

bool exp_lease_equal(const struct exp_lease *a, const struct exp_lease *b)
{
    return a->pid == b->pid && a->started == b->started && !strcmp(a->host, b->host);
}

/* Tells whether a process can have this number, on a host with this name. */
static bool is_possible(const struct exp_lease *l)
{
    return *l->host && l->pid > 0 && l->pid <= INT_MAX;
}

bool exp_lease_is_alive(const struct exp_lease *l)
{
    if (!is_possible(l))
        return false;
    if (!exp_lease_is_here(l))
        return true;
    if (kill((pid_t)l->pid, 0) && errno == ESRCH)
        return false;
    return start_of(l->pid) == l->started;
}

/* ---- processes of other hosts ---- */

static double silence_of(const struct exp_claim_rules *rules)
{
    return rules->silence_s > 0 ? rules->silence_s : EXP_STORE_SILENCE_S;
}

/* Finds a process that is watched, or begins to watch it. Returns NULL when out of memory. */
static struct exp_watched *watch(struct exp_store *s, const struct exp_lease *l, int64_t beat)
{
    struct exp_watched *grown;

    for (size_t i = 0; i < s->n_watched; i++) {
        if (exp_lease_equal(&s->watched[i].lease, l))
            return &s->watched[i];
    }
    grown = realloc(s->watched, (s->n_watched + 1) * sizeof *grown);
    if (!grown)
        return NULL;
    s->watched = grown;
    grown[s->n_watched] = (struct exp_watched){ *l, beat, ctr_now_ns() };
    return &grown[s->n_watched++];
}

/* Returns for how many seconds a process was seen to be silent. */
static double silence_of_process(struct exp_store *s, const struct exp_lease *l, int64_t beat)
{
    struct exp_watched *w = watch(s, l, beat);

    if (!w)
        return 0;
    if (w->beat != beat)
        *w = (struct exp_watched){ *l, beat, ctr_now_ns() };
    return (double)(ctr_now_ns() - w->since_ns) * 1e-9;
}

/* ---- claims ---- */

struct claiming {
    const int64_t *id;
    size_t n;
    const struct exp_claim_rules *rules;
    enum exp_claim *claim;
    bool has_taken;
};

/* Reads who has a task. */
static struct exp_lease lease_of_row(sqlite3_stmt *row)
{
    const char *host = (const char *)sqlite3_column_text(row, 1);
    struct exp_lease l = { .pid = sqlite3_column_int64(row, 2), .started = sqlite3_column_int64(row, 3) };

    strncpy(l.host, host ? host : "", sizeof l.host - 1);
    return l;
}

static bool is_held(struct exp_store *s, sqlite3_stmt *row, const struct exp_claim_rules *rules)
{
    const struct exp_lease l = lease_of_row(row);

    if (exp_lease_equal(&l, &s->own) || !exp_lease_is_alive(&l))
        return false;
    return exp_lease_is_here(&l) || silence_of_process(s, &l, sqlite3_column_int64(row, 4)) < silence_of(rules);
}

/* Says what may be done with a task whose row has been read. */
static enum exp_claim claim_of_row(struct exp_store *s, sqlite3_stmt *row, const struct exp_claim_rules *rules)
{
    const char *state = (const char *)sqlite3_column_text(row, 0);

    if (!strcmp(state, "done"))
        return EXP_CLAIM_DONE;
    if (!strcmp(state, "failed"))
        return rules->retries_failed ? EXP_CLAIM_TAKEN : EXP_CLAIM_FAILED;
    return !strcmp(state, "running") && is_held(s, row, rules) ? EXP_CLAIM_ELSEWHERE : EXP_CLAIM_TAKEN;
}

static int claim_one(struct exp_store *s, int64_t id, const struct exp_claim_rules *rules, enum exp_claim *claim)
{
    int code;

    sqlite3_bind_int64(s->statement[EXP_SQL_STATE], 1, id);
    code = exp_store_step(s, EXP_SQL_STATE);
    if (code == SQLITE_ROW)
        *claim = claim_of_row(s, s->statement[EXP_SQL_STATE], rules);
    exp_store_reset(s, EXP_SQL_STATE);
    if (code != SQLITE_ROW)
        return code == SQLITE_DONE ? SQLITE_CORRUPT : code; /* tasks are never deleted */
    if (*claim != EXP_CLAIM_TAKEN)
        return SQLITE_DONE;
    sqlite3_bind_int64(s->statement[EXP_SQL_CLAIM], 1, id);
    exp_store_bind_own(s, EXP_SQL_CLAIM);
    return exp_store_run(s, EXP_SQL_CLAIM);
}

static int claim_all(struct exp_store *s, void *arg)
{
    struct claiming *c = arg;
    int code = SQLITE_DONE;

    for (size_t i = 0; i < c->n && code == SQLITE_DONE; i++) {
        code = claim_one(s, c->id[i], c->rules, &c->claim[i]);
        c->has_taken |= c->claim[i] == EXP_CLAIM_TAKEN;
    }
    return code == SQLITE_DONE && c->has_taken ? exp_store_renew(s) : code;
}

int exp_store_claim(struct exp_store *s, const int64_t *id, size_t n, const struct exp_claim_rules *rules,
                    enum exp_claim *claim, struct exp_why *why)
{
    struct claiming c = { id, n, rules, claim, false };
    int err = exp_store_transact(s, claim_all, &c, why);

    return err || !c.has_taken ? err : exp_store_heart_start(s, why);
}

/* ---- waiting ---- */

static void note_held(struct exp_store *s, sqlite3_stmt *row, const struct exp_claim_rules *rules,
                      struct exp_waiting *w)
{
    const char *seen = (const char *)sqlite3_column_text(row, 5);
    const struct exp_lease l = lease_of_row(row);

    if (!w->n_tasks++) {
        w->whose = l;
        w->is_here = exp_lease_is_here(&l);
        w->left_s = w->is_here ? 0 : silence_of(rules) - silence_of_process(s, &l, sqlite3_column_int64(row, 4));
        exp_say(w->seen, sizeof w->seen, "%s", seen ? seen : "");
    }
    w->n_of_whose += exp_lease_equal(&l, &w->whose);
}

int exp_store_waiting(struct exp_store *s, const int64_t *id, size_t n, const struct exp_claim_rules *rules,
                      struct exp_waiting *w, struct exp_why *why)
{
    sqlite3_stmt *row = s->statement[EXP_SQL_STATE];
    int code = SQLITE_ROW, err = 0;

    *w = (struct exp_waiting){ 0 };
    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < n && code == SQLITE_ROW; i++) {
        sqlite3_bind_int64(row, 1, id[i]);
        code = exp_store_step(s, EXP_SQL_STATE);
        if (code == SQLITE_ROW && claim_of_row(s, row, rules) == EXP_CLAIM_ELSEWHERE)
            note_held(s, row, rules, w);
        exp_store_reset(s, EXP_SQL_STATE);
    }
    if (code != SQLITE_ROW)
        err = exp_store_report(s, code, why);
    pthread_mutex_unlock(&s->lock);
    return err;
}

/* A process's lease, renewed for as long as it lives. */

enum { BEAT_S = 5 };

/* A beat is only compared with the one before: this process's clock will do. */
int exp_store_renew(struct exp_store *s)
{
    sqlite3_bind_int64(s->statement[EXP_SQL_RENEW], 1, (int64_t)ctr_now_ns());
    exp_store_bind_own(s, EXP_SQL_RENEW);
    return exp_store_run(s, EXP_SQL_RENEW);
}

static int beat(struct exp_store *s, void *arg)
{
    (void)arg;
    return exp_store_renew(s);
}

/* Waits for the time of the next beat. Returns whether there is to be one. */
static bool pause_between_beats(struct exp_store_heart *h)
{
    struct timespec next;
    bool ends;
    int err = 0;

    clock_gettime(CLOCK_MONOTONIC, &next);
    next.tv_sec += BEAT_S;
    pthread_mutex_lock(&h->lock);
    while (!h->ends && !err)
        err = pthread_cond_timedwait(&h->end, &h->lock, &next);
    ends = h->ends;
    pthread_mutex_unlock(&h->lock);
    return !ends;
}

static void *beat_on(void *store)
{
    struct exp_store *s = store;
    struct exp_why why;

    while (pause_between_beats(&s->heart))
        exp_store_transact(s, beat, NULL, &why); /* if it fails: the next one may not */
    return NULL;
}

/* Starts a thread that takes no signals. */
static int start_thread(struct exp_store *s)
{
    pthread_condattr_t clock;
    sigset_t all, before;
    int err;

    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_mutex_init(&s->heart.lock, NULL);
    pthread_cond_init(&s->heart.end, &clock);
    pthread_condattr_destroy(&clock);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    err = pthread_create(&s->heart.thread, NULL, beat_on, s) ? -ENOMEM : 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return err;
}

int exp_store_heart_start(struct exp_store *s, struct exp_why *why)
{
    int err = 0;

    pthread_mutex_lock(&s->lock);
    if (!s->heart.beats)
        err = start_thread(s);
    s->heart.beats = !err;
    pthread_mutex_unlock(&s->lock);
    return err ? exp_fail(why, err, "no thread can be started: out of memory, or of threads (ulimit -u)") : 0;
}

void exp_store_heart_end(struct exp_store *s)
{
    struct exp_store_heart *h = &s->heart;

    if (!h->beats)
        return;
    pthread_mutex_lock(&h->lock);
    h->ends = true;
    pthread_cond_signal(&h->end);
    pthread_mutex_unlock(&h->lock);
    pthread_join(h->thread, NULL);
    pthread_cond_destroy(&h->end);
    pthread_mutex_destroy(&h->lock);
    h->beats = false;
}
