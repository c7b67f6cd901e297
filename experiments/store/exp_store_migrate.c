/*
 * From version 1 of the tables to version 2: tasks get a hash, processes a table.
 *
 * What is there is taken for right, as version 1 took it. A task whose counts are missing or impossible is to be done again.
 */
#include "experiments/store/exp_store_sql.h"

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
