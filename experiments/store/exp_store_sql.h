/* Internal: the store's tables, and statements on them. */
#ifndef EXPERIMENTS_EXP_STORE_SQL_H
#define EXPERIMENTS_EXP_STORE_SQL_H

#include <pthread.h>
#include <sqlite3.h>

#include "experiments/store/exp_lease.h"
#include "experiments/store/exp_store.h"

/* One line each: name, SQL. They are prepared once for each store that is open. */
#define EXP_STORE_STATEMENTS(X)                                                                                        \
    X(FIND_TEXT, "SELECT id FROM text WHERE text = ?1")                                                                \
    X(ADD_TEXT, "INSERT INTO text (text) VALUES (?1)")                                                                 \
    X(FIND_TASK, "SELECT id FROM task WHERE kind = ?1 AND what = ?2 AND setting = ?3 AND program = ?4")                \
    X(ADD_TASK, "INSERT INTO task (kind, what, setting, program, name, state) VALUES (?1, ?2, ?3, ?4, ?5, 'todo')")    \
    X(STATE, "SELECT state, host, pid, started FROM task WHERE id = ?1")                                               \
    X(CLAIM, "UPDATE task SET state = 'running', tries = tries + 1, host = ?2, pid = ?3, started = ?4, why = NULL "    \
             "WHERE id = ?1")                                                                                          \
    X(GIVE_BACK, "UPDATE task SET state = 'todo' WHERE state = 'running' AND host = ?2 AND pid = ?3 AND started = ?4") \
    X(END, "UPDATE task SET state = ?2, why = ?3, seconds = ?4, cpu = ?5, host = ?6, "                                 \
           "finished = strftime('%Y-%m-%dT%H:%M:%SZ', 'now') WHERE id = ?1 AND state <> 'done'")                       \
    X(ADD_COUNT, "INSERT INTO count (task, place, name, value) VALUES (?1, ?2, ?3, ?4)")                               \
    X(READ, "SELECT name, value FROM count WHERE task = ?1 ORDER BY place")                                            \
    X(USED, "SELECT id FROM task WHERE state <> 'todo' LIMIT 1")                                                       \
    X(FAILURES, "SELECT name, why FROM task WHERE state = 'failed' ORDER BY id")

#define EXP_STORE_ENUM(name, sql) EXP_SQL_##name,
enum exp_sql { EXP_STORE_STATEMENTS(EXP_STORE_ENUM) EXP_N_SQL };

struct exp_store {
    sqlite3 *db;
    sqlite3_stmt *statement[EXP_N_SQL];
    pthread_mutex_t lock; /* of all that follows, and of the database */
    char *path;
    bool is_new; /* there was no file */
    struct exp_lease own;
};

/* Writes the line for a result code of SQLite's, and returns its -errno. */
int exp_store_report(const struct exp_store *s, int code, char *why, size_t why_bytes);

/* Runs one of the statements to its end; its values were bound. Returns SQLite's code: SQLITE_DONE, SQLITE_ROW. */
int exp_store_step(struct exp_store *s, enum exp_sql sql);

/* Ends reading it and forgets its values. */
void exp_store_reset(struct exp_store *s, enum exp_sql sql);

/* Binds a text, or NULL. The text must live until the statement is reset. */
void exp_store_bind_text(struct exp_store *s, enum exp_sql sql, int place, const char *text);

/* Runs a transaction: all of what `within` does, which returns SQLite's code, SQLITE_DONE if it went well; or nothing. */
int exp_store_transact(struct exp_store *s, int (*within)(struct exp_store *s, void *arg), void *arg, char *why,
                       size_t why_bytes);

/* Makes the tables if the file has none, and checks their version. Returns 0 or -errno with one line in why. */
int exp_store_settle_schema(struct exp_store *s, char *why, size_t why_bytes);

#endif
