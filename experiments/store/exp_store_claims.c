/* Settles who does what: claims, and the leases that they stand on. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "counters/host/ctr_timer.h"
#include "experiments/base/exp_error.h"
#include "experiments/store/exp_store_sql.h"

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
