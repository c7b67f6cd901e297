#include <errno.h>
#include <stdbool.h>
#include <stdio.h>

#include "experiments/base/exp_error.h"
#include "experiments/store/exp_store_sql.h"

/*
 * From version 1 of the tables to version 2: tasks get a hash, processes a table.
 *
 * What is there is taken for right, as version 1 took it. A task whose counts are missing or impossible is to be done again.
 */

static const char additions[] = "ALTER TABLE task ADD COLUMN hash INTEGER;" EXP_STORE_PROCESS_TABLE;

static const char version[] = "PRAGMA user_version = 2;";

/* Statements of the migration alone. */
enum { DONE_TASKS, COUNTS, SET_HASH, TO_DO, N_STATEMENTS };

static const char *const texts[N_STATEMENTS] = {
    [DONE_TASKS] = "SELECT task.id, kind, w.text, s.text, p.text FROM task JOIN text w ON w.id = what "
                   "JOIN text s ON s.id = setting JOIN text p ON p.id = program WHERE state = 'done'",
    [COUNTS] = "SELECT name, value FROM count WHERE task = ?1 ORDER BY place",
    [SET_HASH] = "UPDATE task SET hash = ?2 WHERE id = ?1",
    [TO_DO] = "UPDATE task SET state = 'todo' WHERE state = 'done' AND hash IS NULL",
};

/* Hashes the task of a row of DONE_TASKS. Returns SQLite's code. */
static int hash_row(sqlite3_stmt *const statement[N_STATEMENTS])
{
    sqlite3_stmt *row = statement[DONE_TASKS], *counts = statement[COUNTS], *set = statement[SET_HASH];
    const char *text[4];
    struct exp_result r = { 0 };
    int code;

    for (int i = 0; i < 4; i++)
        text[i] = (const char *)sqlite3_column_text(row, i + 1);
    if (!text[0] || !text[1] || !text[2] || !text[3])
        return SQLITE_NOMEM;
    sqlite3_bind_int64(counts, 1, sqlite3_column_int64(row, 0));
    code = exp_store_read_counts(counts, &r);
    sqlite3_reset(counts);
    if (code == SQLITE_DONE && r.n && !r.err) {
        const struct exp_task task = { .kind = text[0], .what = text[1], .setting = text[2], .program = text[3] };

        sqlite3_bind_int64(set, 1, sqlite3_column_int64(row, 0));
        sqlite3_bind_int64(set, 2, exp_store_hash(&task, &r));
        code = sqlite3_step(set);
        sqlite3_reset(set);
    }
    exp_result_release(&r);
    return code;
}

static int hash_all(sqlite3_stmt *const statement[N_STATEMENTS])
{
    int code;

    while ((code = sqlite3_step(statement[DONE_TASKS])) == SQLITE_ROW) {
        code = hash_row(statement);
        if (code != SQLITE_DONE)
            return code;
    }
    sqlite3_reset(statement[DONE_TASKS]);
    return code == SQLITE_DONE ? sqlite3_step(statement[TO_DO]) : code;
}

int exp_store_migrate(struct exp_store *s)
{
    sqlite3_stmt *statement[N_STATEMENTS] = { NULL };
    int code = sqlite3_exec(s->db, additions, NULL, NULL, NULL);

    for (int i = 0; i < N_STATEMENTS && code == SQLITE_OK; i++)
        code = sqlite3_prepare_v2(s->db, texts[i], -1, &statement[i], NULL);
    if (code == SQLITE_OK)
        code = hash_all(statement);
    for (int i = 0; i < N_STATEMENTS; i++)
        sqlite3_finalize(statement[i]);
    if (code == SQLITE_DONE)
        code = sqlite3_exec(s->db, version, NULL, NULL, NULL) == SQLITE_OK ? SQLITE_DONE : sqlite3_errcode(s->db);
    return code;
}

enum { APPLICATION_ID = 0x436e7653 };

/* The tables. README.md of this folder says what they mean. */
static const char tables[] =
    "CREATE TABLE text (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);"
    "CREATE TABLE task ("
    "  id INTEGER PRIMARY KEY,"
    "  kind TEXT NOT NULL,"
    "  name TEXT NOT NULL,"
    "  what INTEGER NOT NULL REFERENCES text (id),"
    "  setting INTEGER NOT NULL REFERENCES text (id),"
    "  program INTEGER NOT NULL REFERENCES text (id),"
    "  state TEXT NOT NULL CHECK (state IN ('todo', 'running', 'done', 'failed')),"
    "  tries INTEGER NOT NULL DEFAULT 0,"
    "  host TEXT, pid INTEGER, started INTEGER,"
    "  why TEXT, seconds REAL, cpu INTEGER, finished TEXT, hash INTEGER,"
    "  UNIQUE (kind, what, setting, program));"
    "CREATE INDEX task_state ON task (state) WHERE state <> 'done';"
    "CREATE TABLE count ("
    "  task INTEGER NOT NULL REFERENCES task (id),"
    "  place INTEGER NOT NULL,"
    "  name TEXT NOT NULL,"
    "  value INTEGER NOT NULL,"
    "  PRIMARY KEY (task, place)) WITHOUT ROWID;" EXP_STORE_PROCESS_TABLE "CREATE VIEW result AS"
    "  SELECT task.id, kind, task.name AS task, count.name AS count, value FROM task"
    "  JOIN count ON count.task = task.id WHERE state = 'done';";

static int number_of(struct exp_store *s, const char *pragma, int *value)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(s->db, pragma, -1, &statement, NULL);

    if (code == SQLITE_OK)
        code = sqlite3_step(statement);
    *value = code == SQLITE_ROW ? sqlite3_column_int(statement, 0) : 0;
    sqlite3_finalize(statement);
    return code == SQLITE_ROW ? SQLITE_DONE : code;
}

struct versions {
    int application, version, n_tables;
};

static int look(struct exp_store *s, struct versions *v)
{
    int code = number_of(s, "PRAGMA application_id", &v->application);

    if (code == SQLITE_DONE)
        code = number_of(s, "PRAGMA user_version", &v->version);
    if (code == SQLITE_DONE)
        code = number_of(s, "SELECT count(*) FROM sqlite_master", &v->n_tables);
    return code;
}

static bool is_empty(const struct versions *v)
{
    return !v->application && !v->version && !v->n_tables;
}

static bool is_older(const struct versions *v)
{
    return v->application == APPLICATION_ID && v->version == EXP_STORE_VERSION - 1;
}

/* Makes the tables, unless another process was first. */
static int make_tables(struct exp_store *s, void *arg)
{
    struct versions v;
    int code = look(s, &v);
    char marks[96];

    (void)arg;
    if (code != SQLITE_DONE || !is_empty(&v))
        return code;
    snprintf(marks, sizeof marks, "PRAGMA application_id = %d; PRAGMA user_version = %d;", APPLICATION_ID,
             EXP_STORE_VERSION);
    code = sqlite3_exec(s->db, tables, NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_exec(s->db, marks, NULL, NULL, NULL);
    return code == SQLITE_OK ? SQLITE_DONE : code;
}

static int check(const struct exp_store *s, const struct versions *v, struct exp_why *why)
{
    if (v->application != APPLICATION_ID)
        return exp_fail(why, -EINVAL,
                        "%s: a database of another program, not a results store; STORE= names another file", s->path);
    if (v->version != EXP_STORE_VERSION)
        return exp_fail(
            why, -EINVAL,
            "%s: a results store of version %d, and this program knows version %d; STORE= names another file", s->path,
            v->version, EXP_STORE_VERSION);
    return 0;
}

/* Brings the tables of an older version up to date, unless another process was first. */
static int update_tables(struct exp_store *s, void *arg)
{
    struct versions v;
    int code = look(s, &v);

    (void)arg;
    return code == SQLITE_DONE && is_older(&v) ? exp_store_migrate(s) : code;
}

int exp_store_settle_schema(struct exp_store *s, struct exp_why *why)
{
    struct versions v;
    int code = look(s, &v), err = 0;

    if (code != SQLITE_DONE)
        return exp_store_report(s, code, why);
    if (is_empty(&v))
        err = exp_store_transact(s, make_tables, NULL, why);
    else if (is_older(&v))
        err = exp_store_transact(s, update_tables, NULL, why);
    if (err)
        return err;
    code = look(s, &v);
    return code == SQLITE_DONE ? check(s, &v, why) : exp_store_report(s, code, why);
}
