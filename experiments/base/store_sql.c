/* Statements on the store, one by one and in transactions. */
#include "experiments/base/store_sql.h"

#include <errno.h>

/* Errors for SQLite's codes; any further code is -EIO. */
static const struct {
    int code, err;
    const char *remedy;
} reports[] = {
    { SQLITE_NOTADB, -EINVAL, "not a results store, or damaged; move it away, or name another file with STORE=" },
    { SQLITE_CORRUPT, -EINVAL, "the results store is damaged; move it away, or name another file with STORE=" },
    { SQLITE_FULL, -ENOSPC, "the disk is full; what is in the results store is safe, and goes on when there is room" },
    { SQLITE_BUSY, -EBUSY, "other processes hold the results store for more than a minute; try again" },
    { SQLITE_CANTOPEN, -EACCES, "cannot open the results store; its folder must be there, and may be written to" },
    { SQLITE_READONLY, -EACCES,
      "the results store may not be written to; STORE= names another file, STORE=no uses none" },
    { SQLITE_NOMEM, -ENOMEM, "out of memory for the results store" },
};

int exp_store_report(const struct exp_store *s, int code, struct exp_why *why)
{
    for (size_t i = 0; i < sizeof reports / sizeof reports[0]; i++) {
        if ((code & 0xff) == reports[i].code)
            return exp_fail(why, reports[i].err, "%s: %s", s->path, reports[i].remedy);
    }
    return exp_fail(why, -EIO, "%s: the results store cannot be read or written: %s", s->path,
                    s->db ? sqlite3_errmsg(s->db) : sqlite3_errstr(code));
}

int exp_store_step(struct exp_store *s, enum exp_sql sql)
{
    return sqlite3_step(s->statement[sql]);
}

int exp_store_run(struct exp_store *s, enum exp_sql sql)
{
    int code = exp_store_step(s, sql);

    exp_store_reset(s, sql);
    return code;
}

void exp_store_bind_own(struct exp_store *s, enum exp_sql sql)
{
    exp_store_bind_text(s, sql, 2, s->own.host);
    sqlite3_bind_int64(s->statement[sql], 3, s->own.pid);
    sqlite3_bind_int64(s->statement[sql], 4, s->own.started);
}

void exp_store_reset(struct exp_store *s, enum exp_sql sql)
{
    sqlite3_reset(s->statement[sql]);
    sqlite3_clear_bindings(s->statement[sql]);
}

void exp_store_bind_text(struct exp_store *s, enum exp_sql sql, int place, const char *text)
{
    if (text)
        sqlite3_bind_text(s->statement[sql], place, text, -1, SQLITE_STATIC);
    else
        sqlite3_bind_null(s->statement[sql], place);
}

static int execute(struct exp_store *s, const char *sql)
{
    return sqlite3_exec(s->db, sql, NULL, NULL, NULL);
}

int exp_store_transact(struct exp_store *s, int (*within)(struct exp_store *s, void *arg), void *arg,
                       struct exp_why *why)
{
    int code, err = 0;

    pthread_mutex_lock(&s->lock);
    code = execute(s, "BEGIN IMMEDIATE");
    if (code == SQLITE_OK)
        code = within(s, arg);
    if (code == SQLITE_DONE)
        code = execute(s, "COMMIT");
    if (code != SQLITE_OK) {
        err = exp_store_report(s, code, why);
        for (int i = 0; i < EXP_N_SQL; i++) {
            if (s->statement[i])
                exp_store_reset(s, (enum exp_sql)i);
        }
        if (!sqlite3_get_autocommit(s->db))
            execute(s, "ROLLBACK");
    }
    pthread_mutex_unlock(&s->lock);
    return err;
}
