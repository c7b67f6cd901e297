/* Keeps and finds what tasks came to. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_file.h"
#include "experiments/store/exp_store_sql.h"

/* ---- named counts ---- */

static int make_room(struct exp_result *r)
{
    size_t room = r->room ? 2 * r->room : 16;
    char **name = realloc(r->name, room * sizeof *name);
    uint64_t *value;

    if (!name)
        return -ENOMEM;
    r->name = name;
    value = realloc(r->value, room * sizeof *value);
    if (!value)
        return -ENOMEM;
    r->value = value;
    r->room = room;
    return 0;
}

void exp_result_put(struct exp_result *r, const char *name, uint64_t value)
{
    char *copy;

    if (!r->err && value > INT64_MAX)
        r->err = -ERANGE;
    if (!r->err && r->n == r->room)
        r->err = make_room(r);
    if (r->err)
        return;
    copy = strdup(name);
    if (!copy) {
        r->err = -ENOMEM;
        return;
    }
    r->name[r->n] = copy;
    r->value[r->n++] = value;
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
    int code = clear_counts(s, id); /* there are none but where the file was damaged */

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
    return r->err == -ENOMEM ? SQLITE_NOMEM : code;
}

/* Holds what was kept of a task. */
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

/* Says whether a result that was read is what was kept of the task. */
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

/* Opens the other store by itself first: its version is checked, and what a killed process left is put right. */
static int check_part(const char *path, struct exp_why *why)
{
    struct exp_store *part;
    int err;

    if (access(path, F_OK)) /* opening it would make one */
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
