/* Claims, the leases behind the claims, and the results of tasks. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "counters/host/ctr_timer.h"
#include "experiments/base/text.h"
#include "experiments/base/store_sql.h"

/* ---- leases ---- */

/*
 * Reads field 22 of a process's stat, counted after the command's name, which may hold any character. Returns 0 without
 * the field. The file is the first thread's, because QEMU's emulators invent the file of the process.
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

static bool is_here(const struct exp_lease *l)
{
    char host[sizeof l->host];

    say_host(host, sizeof host);
    return !strcmp(host, l->host);
}

static bool is_equal(const struct exp_lease *a, const struct exp_lease *b)
{
    return a->pid == b->pid && a->started == b->started && !strcmp(a->host, b->host);
}

/* Tells whether a process can have this number, on this host. */
static bool is_possible(const struct exp_lease *l)
{
    return *l->host && l->pid > 0 && l->pid <= INT_MAX;
}

/* Tells whether the process still runs. A process of another host counts as running, unless the lease is impossible. */
static bool is_alive(const struct exp_lease *l)
{
    if (!is_possible(l))
        return false;
    if (!is_here(l))
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

/* Finds a watched process, or begins to watch the process. */
static struct exp_watched *watch(struct exp_store *s, const struct exp_lease *l, int64_t beat)
{
    struct exp_watched *w;

    for (size_t i = 0; i < s->n_watched; i++) {
        if (is_equal(&s->watched[i].lease, l))
            return &s->watched[i];
    }
    w = exp_append(&s->watched, &s->n_watched, sizeof *w);
    *w = (struct exp_watched){ *l, beat, ctr_now_ns() };
    return w;
}

/* Returns the observed seconds of silence of a process. */
static double silence_of_process(struct exp_store *s, const struct exp_lease *l, int64_t beat)
{
    struct exp_watched *w = watch(s, l, beat);

    if (w->beat != beat)
        *w = (struct exp_watched){ *l, beat, ctr_now_ns() };
    return (double)(ctr_now_ns() - w->since_ns) * 1e-9;
}

/* ---- this process's lease, renewed while the process lives ---- */

enum { BEAT_S = 5 };

/*
 * Renews the lease, within a transaction. A beat is only compared with the last beat, so this process's clock is
 * enough.
 */
static int renew(struct exp_store *s)
{
    sqlite3_bind_int64(s->statement[EXP_SQL_RENEW], 1, (int64_t)ctr_now_ns());
    exp_store_bind_own(s, EXP_SQL_RENEW);
    return exp_store_run(s, EXP_SQL_RENEW);
}

static int beat(struct exp_store *s, void *arg)
{
    (void)arg;
    return renew(s);
}

/* Waits for the next beat. Returns false at the end. */
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
        exp_store_transact(s, beat, NULL, &why); /* after a failure, the next beat may succeed */
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

/* Starts to renew the lease every few seconds, once. Returns 0 or -errno with one line in why. */
static int start_heart(struct exp_store *s, struct exp_why *why)
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

/* ---- claims ---- */

struct claiming {
    const int64_t *id;
    size_t n;
    const struct exp_claim_rules *rules;
    enum exp_claim *claim;
    bool has_taken;
};

/* Reads the owner of a task. */
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

    if (is_equal(&l, &s->own) || !is_alive(&l))
        return false;
    return is_here(&l) || silence_of_process(s, &l, sqlite3_column_int64(row, 4)) < silence_of(rules);
}

/* Tells whether a task may be claimed, from the task's row. */
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
    return code == SQLITE_DONE && c->has_taken ? renew(s) : code;
}

int exp_store_claim(struct exp_store *s, const int64_t *id, size_t n, const struct exp_claim_rules *rules,
                    enum exp_claim *claim, struct exp_why *why)
{
    struct claiming c = { id, n, rules, claim, false };
    int err = exp_store_transact(s, claim_all, &c, why);

    return err || !c.has_taken ? err : start_heart(s, why);
}

/* ---- waiting ---- */

static void note_held(struct exp_store *s, sqlite3_stmt *row, const struct exp_claim_rules *rules,
                      struct exp_waiting *w)
{
    const char *seen = (const char *)sqlite3_column_text(row, 5);
    const struct exp_lease l = lease_of_row(row);

    if (!w->n_tasks++) {
        w->whose = l;
        w->is_here = is_here(&l);
        w->left_s = w->is_here ? 0 : silence_of(rules) - silence_of_process(s, &l, sqlite3_column_int64(row, 4));
        exp_say(w->seen, sizeof w->seen, "%s", seen ? seen : "");
    }
    w->n_of_whose += is_equal(&l, &w->whose);
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

/* ---- named counts ---- */

void exp_result_put(struct exp_result *r, const char *name, uint64_t value)
{
    size_t n = r->n;

    if (value > INT64_MAX)
        r->err = -ERANGE;
    if (r->err)
        return;
    *(char **)exp_append(&r->name, &n, sizeof *r->name) = exp_copy_text(name);
    *(uint64_t *)exp_append(&r->value, &r->n, sizeof *r->value) = value;
}

int exp_result_get(const struct exp_result *r, const char *name, uint64_t *value)
{
    for (size_t i = 0; i < r->n; i++) {
        if (!strcmp(r->name[i], name)) {
            *value = r->value[i];
            return 0;
        }
    }
    *value = 0;
    return -ENOENT;
}

void exp_result_release(struct exp_result *r)
{
    for (size_t i = 0; i < r->n; i++)
        free(r->name[i]);
    free(r->name);
    free(r->value);
    *r = (struct exp_result){ 0 };
}

bool exp_result_comes(const struct exp_result_moving *x, const char *prefix)
{
    return x->from && x->at < x->from->n && !strncmp(x->from->name[x->at], prefix, strlen(prefix));
}

void exp_result_move(struct exp_result_moving *x, const char *name, uint64_t *value)
{
    if (x->to && *value)
        exp_result_put(x->to, name, *value);
    if (x->from)
        *value = exp_result_comes(x, name) && !strcmp(x->from->name[x->at], name) ? x->from->value[x->at++] : 0;
}

/* ---- hashes ---- */

static uint64_t add_text(uint64_t hash, const char *text)
{
    return exp_hash_bytes(hash, text, strlen(text) + 1);
}

static uint64_t add_number(uint64_t hash, uint64_t value)
{
    unsigned char bytes[8];

    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(value >> 8 * i);
    return exp_hash_bytes(hash, bytes, sizeof bytes);
}

int64_t exp_store_hash(const struct exp_task *task, const struct exp_result *r)
{
    const char *const texts[] = { task->kind, task->what, task->setting, task->program };
    uint64_t hash = 0;

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        hash = add_text(hash, texts[i]);
    for (size_t i = 0; i < r->n; i++)
        hash = add_number(add_text(hash, r->name[i]), r->value[i]);
    return (int64_t)hash;
}

/* ---- writing ---- */

static int clear_counts(struct exp_store *s, int64_t id)
{
    sqlite3_bind_int64(s->statement[EXP_SQL_CLEAR], 1, id);
    return exp_store_run(s, EXP_SQL_CLEAR);
}

static int write_counts(struct exp_store *s, int64_t id, const struct exp_result *r)
{
    sqlite3_stmt *add = s->statement[EXP_SQL_ADD_COUNT];
    int code = clear_counts(s, id); /* only a damaged file has counts here */

    for (size_t i = 0; i < r->n && code == SQLITE_DONE; i++) {
        sqlite3_bind_int64(add, 1, id);
        sqlite3_bind_int64(add, 2, (int64_t)i);
        exp_store_bind_text(s, EXP_SQL_ADD_COUNT, 3, r->name[i]);
        sqlite3_bind_int64(add, 4, (int64_t)r->value[i]);
        code = exp_store_run(s, EXP_SQL_ADD_COUNT);
    }
    return code;
}

static int end_task(struct exp_store *s, const struct exp_outcome *o)
{
    sqlite3_stmt *end = s->statement[EXP_SQL_END];
    int code;

    sqlite3_bind_int64(end, 1, o->id);
    exp_store_bind_text(s, EXP_SQL_END, 2, o->failure ? "failed" : "done");
    exp_store_bind_text(s, EXP_SQL_END, 3, o->failure);
    sqlite3_bind_double(end, 4, o->seconds);
    if (o->cpu >= 0)
        sqlite3_bind_int(end, 5, o->cpu);
    exp_store_bind_text(s, EXP_SQL_END, 6, s->own.host);
    if (!o->failure)
        sqlite3_bind_int64(end, 7, exp_store_hash(o->task, &o->result));
    code = exp_store_run(s, EXP_SQL_END);
    if (code != SQLITE_DONE || o->failure || !sqlite3_changes(s->db))
        return code;
    return write_counts(s, o->id, &o->result);
}

struct ending {
    const struct exp_outcome *outcome;
    size_t n;
};

static int end_tasks(struct exp_store *s, void *arg)
{
    const struct ending *e = arg;
    int code = SQLITE_DONE;

    for (size_t i = 0; i < e->n && code == SQLITE_DONE; i++)
        code = end_task(s, &e->outcome[i]);
    return code;
}

int exp_store_finish(struct exp_store *s, const struct exp_outcome *outcome, size_t n, struct exp_why *why)
{
    return exp_store_transact(s, end_tasks, &(struct ending){ outcome, n }, why);
}

/* ---- reading ---- */

int exp_store_read_counts(sqlite3_stmt *row, struct exp_result *r)
{
    int code;

    while ((code = sqlite3_step(row)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(row, 0);

        if (!name && sqlite3_errcode(sqlite3_db_handle(row)) == SQLITE_NOMEM)
            return SQLITE_NOMEM;
        exp_result_put(r, name ? name : "", (uint64_t)sqlite3_column_int64(row, 1));
    }
    return code;
}

/* The stored result of a task. */
struct kept {
    bool is_done, has_hash;
    int64_t hash;
};

/* Returns SQLITE_DONE. */
static int read_kept(struct exp_store *s, int64_t id, struct kept *k)
{
    sqlite3_stmt *row = s->statement[EXP_SQL_HASH];
    const char *state;
    int code;

    sqlite3_bind_int64(row, 1, id);
    code = exp_store_step(s, EXP_SQL_HASH);
    if (code == SQLITE_ROW) {
        state = (const char *)sqlite3_column_text(row, 0);
        *k = (struct kept){ state && !strcmp(state, "done"), sqlite3_column_type(row, 1) == SQLITE_INTEGER,
                            sqlite3_column_int64(row, 1) };
    }
    exp_store_reset(s, EXP_SQL_HASH);
    return code == SQLITE_ROW ? SQLITE_DONE : code == SQLITE_DONE ? SQLITE_CORRUPT : code;
}

static int read_result(struct exp_store *s, int64_t id, struct exp_result *r)
{
    int code;

    sqlite3_bind_int64(s->statement[EXP_SQL_READ], 1, id);
    code = exp_store_read_counts(s->statement[EXP_SQL_READ], r);
    exp_store_reset(s, EXP_SQL_READ);
    return code;
}

/* Checks a result against the stored hash of the task. */
static int check_result(const struct exp_store *s, const struct exp_task *task, const struct kept *k,
                        const struct exp_result *r, struct exp_why *why)
{
    if (!k->is_done)
        return exp_fail(why, -ENOENT, "%s: task '%s' has no result", s->path, task->name);
    if (!r->err && k->has_hash && k->hash == exp_store_hash(task, r))
        return 0;
    return exp_fail(why, -EBADMSG, "%s: the result of task '%s' was damaged", s->path, task->name);
}

int exp_store_read(struct exp_store *s, int64_t id, const struct exp_task *task, struct exp_result *r,
                   struct exp_why *why)
{
    struct kept kept = { 0 };
    int code, err;

    *r = (struct exp_result){ 0 };
    pthread_mutex_lock(&s->lock);
    code = read_kept(s, id, &kept);
    if (code == SQLITE_DONE)
        code = read_result(s, id, r);
    err = code == SQLITE_DONE ? check_result(s, task, &kept, r, why) : exp_store_report(s, code, why);
    pthread_mutex_unlock(&s->lock);
    if (err)
        exp_result_release(r);
    return err;
}

static int discard(struct exp_store *s, void *arg)
{
    const int64_t *id = arg;
    int code;

    sqlite3_bind_int64(s->statement[EXP_SQL_DISCARD], 1, *id);
    code = exp_store_run(s, EXP_SQL_DISCARD);
    return code == SQLITE_DONE && sqlite3_changes(s->db) ? clear_counts(s, *id) : code;
}

int exp_store_discard(struct exp_store *s, int64_t id, struct exp_why *why)
{
    return exp_store_transact(s, discard, &id, why);
}

/* Notes the state of the i-th task. */
static void note_state(struct exp_store_states *states, const char *state, size_t i)
{
    bool is_failed = !strcmp(state, "failed");

    if (!strcmp(state, "done")) {
        states->n_done++;
        return;
    }
    if ((is_failed && !states->n_failed) || states->first_not_done == SIZE_MAX)
        states->first_not_done = i;
    states->n_failed += is_failed;
}

int exp_store_count(struct exp_store *s, const int64_t *id, size_t n, struct exp_store_states *states,
                    struct exp_why *why)
{
    int code = SQLITE_ROW, err = 0;

    *states = (struct exp_store_states){ .first_not_done = SIZE_MAX };
    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < n && code == SQLITE_ROW; i++) {
        sqlite3_bind_int64(s->statement[EXP_SQL_STATE], 1, id[i]);
        code = exp_store_step(s, EXP_SQL_STATE);
        if (code == SQLITE_ROW)
            note_state(states, (const char *)sqlite3_column_text(s->statement[EXP_SQL_STATE], 0), i);
        exp_store_reset(s, EXP_SQL_STATE);
    }
    if (code != SQLITE_ROW)
        err = exp_store_report(s, code, why);
    pthread_mutex_unlock(&s->lock);
    return err;
}
