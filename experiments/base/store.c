#include "experiments/base/store.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiments/base/outdir.h"
#include "experiments/base/store_sql.h"

/* ---- tables of every version ---- */

/*
 * From version 1 of the tables to version 2: tasks get a hash, processes a table.
 *
 * Existing results are taken for right, as in version 1. A task with missing or impossible counts is to be done again.
 */

static const char additions[] = "ALTER TABLE task ADD COLUMN hash INTEGER;" EXP_STORE_PROCESS_TABLE;

static const char version[] = "PRAGMA user_version = 2;";

/* Statements of the migration alone. */
enum { DONE_TASKS, COUNTS, SET_HASH, TO_DO, N_STATEMENTS };

static const char *const migration[N_STATEMENTS] = {
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

/* Upgrades tables of version 1, within a transaction. */
static int migrate(struct exp_store *s)
{
    sqlite3_stmt *statement[N_STATEMENTS] = { NULL };
    int code = sqlite3_exec(s->db, additions, NULL, NULL, NULL);

    for (int i = 0; i < N_STATEMENTS && code == SQLITE_OK; i++)
        code = sqlite3_prepare_v2(s->db, migration[i], -1, &statement[i], NULL);
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

/* Makes the tables, unless another process has made them. */
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

/* Upgrades the tables of an older version, unless another process has done so. */
static int update_tables(struct exp_store *s, void *arg)
{
    struct versions v;
    int code = look(s, &v);

    (void)arg;
    return code == SQLITE_DONE && is_older(&v) ? migrate(s) : code;
}

/* Makes missing tables, upgrades older tables, and checks the version. Returns 0 or -errno with one line in why. */
static int settle_schema(struct exp_store *s, struct exp_why *why)
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

enum { BUSY_MS = 60000 };

/* ---- opening and closing ---- */

/* A rollback journal and not a write-ahead log: one file that may be copied, also on file systems shared by hosts. */
static const char settings[] = "PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;";

static int prepare(struct exp_store *s)
{
#define TEXT_OF(name, sql) [EXP_SQL_##name] = sql,
    static const char *const texts[EXP_N_SQL] = { EXP_STORE_STATEMENTS(TEXT_OF) };
    int code = SQLITE_OK;

    for (int i = 0; i < EXP_N_SQL && code == SQLITE_OK; i++)
        code = sqlite3_prepare_v3(s->db, texts[i], -1, SQLITE_PREPARE_PERSISTENT, &s->statement[i], NULL);
    return code;
}

static int open_file(struct exp_store *s, struct exp_why *why)
{
    const bool is_new = access(s->path, F_OK) != 0;
    int code = sqlite3_open_v2(s->path, &s->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);
    int err;

    s->is_new = is_new;
    if (code == SQLITE_OK)
        code = sqlite3_busy_timeout(s->db, BUSY_MS);
    if (code == SQLITE_OK)
        code = sqlite3_exec(s->db, settings, NULL, NULL, NULL);
    if (code != SQLITE_OK)
        return exp_store_report(s, code, why);
    err = settle_schema(s, why);
    if (err)
        return err;
    code = prepare(s);
    return code == SQLITE_OK ? 0 : exp_store_report(s, code, why);
}

static void release(struct exp_store *s)
{
    for (int i = 0; i < EXP_N_SQL; i++)
        sqlite3_finalize(s->statement[i]);
    sqlite3_close(s->db);
    pthread_mutex_destroy(&s->lock);
    free(s->watched);
    free(s->path);
    free(s);
}

int exp_store_open(struct exp_store **s, const char *path, struct exp_why *why)
{
    struct exp_store *made = exp_new(1, sizeof *made);
    int err;

    assert(path);
    *s = NULL;
    pthread_mutex_init(&made->lock, NULL);
    made->own = exp_lease_own();
    made->path = exp_copy_text(path);
    err = open_file(made, why);
    if (err)
        release(made);
    else
        *s = made;
    return err;
}

const char *exp_store_path(const struct exp_store *s)
{
    assert(s);
    return s->path;
}

static int give_back(struct exp_store *s, void *arg)
{
    int code;

    (void)arg;
    exp_store_bind_own(s, EXP_SQL_GIVE_BACK);
    code = exp_store_run(s, EXP_SQL_GIVE_BACK);
    return code == SQLITE_DONE ? exp_store_run(s, EXP_SQL_LEAVE) : code;
}

void exp_store_close(struct exp_store *s)
{
    struct exp_why why;

    if (!s)
        return;
    exp_store_heart_end(s);
    exp_store_transact(s, give_back, NULL, &why); /* after a failure: this process will soon be dead */
    release(s);
}

static int remove_unused(struct exp_store *s, void *arg)
{
    int code = exp_store_run(s, EXP_SQL_USED);

    (void)arg;
    if (code != SQLITE_DONE)
        return code;
    unlink(s->path);
    return code;
}

void exp_store_withdraw(struct exp_store *s)
{
    struct exp_why why;

    if (s->is_new)
        exp_store_transact(s, remove_unused, NULL, &why); /* after a failure: an empty store stays */
}

/* ---- tasks ---- */

/* Runs a statement that finds a number. Returns SQLITE_ROW with *id, SQLITE_DONE without a number. */
static int find_id(struct exp_store *s, enum exp_sql sql, int64_t *id)
{
    int code = exp_store_step(s, sql);

    if (code == SQLITE_ROW)
        *id = sqlite3_column_int64(s->statement[sql], 0);
    exp_store_reset(s, sql);
    return code;
}

static int add_row(struct exp_store *s, enum exp_sql sql, int64_t *id)
{
    int code = exp_store_run(s, sql);

    *id = sqlite3_last_insert_rowid(s->db);
    return code == SQLITE_DONE ? SQLITE_ROW : code;
}

static int known_text(struct exp_store *s, const char *text, int64_t *id)
{
    exp_store_bind_text(s, EXP_SQL_FIND_TEXT, 1, text);
    return find_id(s, EXP_SQL_FIND_TEXT, id);
}

static int text_id(struct exp_store *s, const char *text, int64_t *id)
{
    int code = known_text(s, text, id);

    if (code != SQLITE_DONE)
        return code;
    exp_store_bind_text(s, EXP_SQL_ADD_TEXT, 1, text);
    return add_row(s, EXP_SQL_ADD_TEXT, id);
}

static void bind_task(struct exp_store *s, enum exp_sql sql, const struct exp_task *t, const int64_t text[3])
{
    exp_store_bind_text(s, sql, 1, t->kind);
    for (int i = 0; i < 3; i++)
        sqlite3_bind_int64(s->statement[sql], 2 + i, text[i]);
}

/* Finds a task whose texts get their numbers from text_of. Returns SQLITE_ROW, or SQLITE_DONE without a task. */
static int find_task(struct exp_store *s, const struct exp_task *t, int64_t text[3], int64_t *id,
                     int (*text_of)(struct exp_store *s, const char *text, int64_t *id))
{
    const char *const texts[3] = { t->what, t->setting, t->program };
    int code = SQLITE_ROW;

    for (int i = 0; i < 3 && code == SQLITE_ROW; i++)
        code = text_of(s, texts[i], &text[i]);
    if (code != SQLITE_ROW)
        return code;
    bind_task(s, EXP_SQL_FIND_TASK, t, text);
    return find_id(s, EXP_SQL_FIND_TASK, id);
}

static int add_task(struct exp_store *s, const struct exp_task *t, int64_t *id)
{
    int64_t text[3];
    int code = find_task(s, t, text, id, text_id);

    if (code != SQLITE_DONE)
        return code;
    bind_task(s, EXP_SQL_ADD_TASK, t, text);
    exp_store_bind_text(s, EXP_SQL_ADD_TASK, 5, t->name);
    return add_row(s, EXP_SQL_ADD_TASK, id);
}

struct adding {
    const struct exp_task *task;
    size_t n;
    int64_t *id;
};

static int add_tasks(struct exp_store *s, void *arg)
{
    const struct adding *a = arg;
    int code = SQLITE_ROW;

    for (size_t i = 0; i < a->n && code == SQLITE_ROW; i++)
        code = add_task(s, &a->task[i], &a->id[i]);
    return code == SQLITE_ROW ? SQLITE_DONE : code;
}

int exp_store_add(struct exp_store *s, const struct exp_task *task, size_t n, int64_t *id, struct exp_why *why)
{
    assert(s && id && (task || !n));
    return exp_store_transact(s, add_tasks, &(struct adding){ task, n, id }, why);
}

int exp_store_find(struct exp_store *s, const struct exp_task *task, int64_t *id, struct exp_why *why)
{
    int64_t text[3];
    int code, err = 0;

    pthread_mutex_lock(&s->lock);
    code = find_task(s, task, text, id, known_text);
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        err = exp_store_report(s, code, why);
    pthread_mutex_unlock(&s->lock);
    return err ? err : code == SQLITE_ROW ? 0 : -ENOENT;
}

/* ---- merging ---- */

static const char merging[] =
    "INSERT OR IGNORE INTO text (text) SELECT text FROM part.text;"
    "CREATE TEMP TABLE IF NOT EXISTS pair (theirs INTEGER PRIMARY KEY, ours INTEGER, is_new INTEGER);"
    "DELETE FROM pair;"
    "INSERT OR IGNORE INTO task (kind, name, what, setting, program, state)"
    "  SELECT t.kind, t.name, w.id, s.id, p.id, 'todo' FROM part.task t"
    "  JOIN part.text pw ON pw.id = t.what JOIN text w ON w.text = pw.text"
    "  JOIN part.text ps ON ps.id = t.setting JOIN text s ON s.text = ps.text"
    "  JOIN part.text pp ON pp.id = t.program JOIN text p ON p.text = pp.text;"
    "INSERT INTO pair SELECT t.id, o.id, o.state <> 'done' AND t.state = 'done' FROM part.task t"
    "  JOIN part.text pw ON pw.id = t.what JOIN text w ON w.text = pw.text"
    "  JOIN part.text ps ON ps.id = t.setting JOIN text s ON s.text = ps.text"
    "  JOIN part.text pp ON pp.id = t.program JOIN text p ON p.text = pp.text"
    "  JOIN task o ON o.kind = t.kind AND o.what = w.id AND o.setting = s.id AND o.program = p.id;"
    "DELETE FROM count WHERE task IN (SELECT ours FROM pair WHERE is_new);"
    "INSERT INTO count SELECT ours, place, name, value FROM pair JOIN part.count ON part.count.task = theirs WHERE "
    "is_new;"
    "UPDATE task SET (state, tries, host, why, seconds, cpu, finished, hash) ="
    "  (SELECT t.state, t.tries, t.host, t.why, t.seconds, t.cpu, t.finished, t.hash FROM part.task t JOIN pair ON "
    "theirs = "
    "t.id"
    "   WHERE ours = task.id)"
    "  WHERE id IN (SELECT ours FROM pair JOIN part.task t ON t.id = theirs"
    "               WHERE is_new OR (t.state = 'failed' AND task.state = 'todo'));";

static int merge(struct exp_store *s, void *arg)
{
    sqlite3_stmt *count = NULL;
    int code = sqlite3_exec(s->db, merging, NULL, NULL, NULL);

    if (code == SQLITE_OK)
        code = sqlite3_prepare_v2(s->db, "SELECT count(*) FROM pair WHERE is_new", -1, &count, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_step(count);
    if (code == SQLITE_ROW)
        *(size_t *)arg = (size_t)sqlite3_column_int64(count, 0);
    sqlite3_finalize(count);
    return code == SQLITE_ROW ? SQLITE_DONE : code;
}

/* Opens the other store alone first, to check the version and to repair what a killed process left. */
static int check_part(const char *path, struct exp_why *why)
{
    struct exp_store *part;
    int err;

    if (access(path, F_OK)) /* opening would make the file */
        return exp_fail(why, -errno, "%s: cannot open: %s", path, strerror(errno));
    err = exp_store_open(&part, path, why);
    exp_store_close(part);
    return err;
}

/* Tells whether a path leads to a store's own file. */
static bool is_own_file(const struct exp_store *s, const char *path)
{
    struct stat own, other;

    return !stat(s->path, &own) && !stat(path, &other) && own.st_dev == other.st_dev && own.st_ino == other.st_ino;
}

int exp_store_merge(struct exp_store *s, const char *path, size_t *n, struct exp_why *why)
{
    char *attach;
    int err, code;

    *n = 0;
    if (is_own_file(s, path))
        return 0;
    attach = sqlite3_mprintf("ATTACH %Q AS part", path);
    err = check_part(path, why);
    if (!err && !attach)
        err = exp_fail(why, -ENOMEM, "out of memory");
    if (!err) {
        pthread_mutex_lock(&s->lock);
        code = sqlite3_exec(s->db, attach, NULL, NULL, NULL);
        pthread_mutex_unlock(&s->lock);
        err = code == SQLITE_OK ? exp_store_transact(s, merge, n, why) : exp_store_report(s, code, why);
        pthread_mutex_lock(&s->lock);
        sqlite3_exec(s->db, "DETACH part", NULL, NULL, NULL);
        pthread_mutex_unlock(&s->lock);
    }
    sqlite3_free(attach);
    return err;
}

/* ---- as the options ask ---- */

int exp_store_asked(struct exp_store **s, const char *store, const char *results, const char *known,
                    struct exp_why *why)
{
    char *path;
    size_t n;
    int err;

    *s = NULL;
    if (!strcmp(store, EXP_NO_FILE))
        return 0;
    path = *store ? exp_copy_text(store) : exp_format("%s/store.sqlite", results);
    err = exp_store_open(s, path, why);
    free(path);
    if (!err && known && *known)
        err = exp_store_merge(*s, known, &n, why);
    return err;
}
