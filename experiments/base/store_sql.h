/* Internal: the store's tables, and statements on them. */
#ifndef EXPERIMENTS_BASE_STORE_SQL_H
#define EXPERIMENTS_BASE_STORE_SQL_H

#include <pthread.h>
#include <sqlite3.h>

#include "experiments/base/error.h"
#include "experiments/base/store.h"

/* The processes whose leases are renewed; since version 2. */
#define EXP_STORE_PROCESS_TABLE                                                                                        \
    "CREATE TABLE process ("                                                                                           \
    "  host TEXT NOT NULL, pid INTEGER NOT NULL, started INTEGER NOT NULL, beat INTEGER NOT NULL, seen TEXT NOT NULL," \
    "  PRIMARY KEY (host, pid, started)) WITHOUT ROWID;"

/* One line each: name, SQL. Each open store prepares the statements once. */
#define EXP_STORE_STATEMENTS(X)                                                                                        \
    X(FIND_TEXT, "SELECT id FROM text WHERE text = ?1")                                                                \
    X(ADD_TEXT, "INSERT INTO text (text) VALUES (?1)")                                                                 \
    X(FIND_TASK, "SELECT id FROM task WHERE kind = ?1 AND what = ?2 AND setting = ?3 AND program = ?4")                \
    X(ADD_TASK, "INSERT INTO task (kind, what, setting, program, name, state) VALUES (?1, ?2, ?3, ?4, ?5, 'todo')")    \
    X(STATE, "SELECT state, t.host, t.pid, t.started, beat, seen FROM task t LEFT JOIN process p ON "                  \
             "t.state = 'running' AND p.host = t.host AND p.pid = t.pid AND p.started = t.started WHERE id = ?1")      \
    X(CLAIM, "UPDATE task SET state = 'running', tries = tries + 1, host = ?2, pid = ?3, started = ?4, why = NULL "    \
             "WHERE id = ?1")                                                                                          \
    X(GIVE_BACK, "UPDATE task SET state = 'todo' WHERE state = 'running' AND host = ?2 AND pid = ?3 AND started = ?4") \
    X(RENEW, "INSERT INTO process (beat, host, pid, started, seen) VALUES "                                            \
             "(?1, ?2, ?3, ?4, strftime('%Y-%m-%dT%H:%M:%SZ', 'now')) ON CONFLICT (host, pid, started) "               \
             "DO UPDATE SET beat = excluded.beat, seen = excluded.seen")                                               \
    X(LEAVE, "DELETE FROM process WHERE NOT EXISTS (SELECT 1 FROM task t WHERE t.state = 'running' AND "               \
             "t.host = process.host AND t.pid = process.pid AND t.started = process.started)")                         \
    X(END, "UPDATE task SET state = ?2, why = ?3, seconds = ?4, cpu = ?5, host = ?6, hash = ?7, "                      \
           "finished = strftime('%Y-%m-%dT%H:%M:%SZ', 'now') WHERE id = ?1 AND state <> 'done'")                       \
    X(ADD_COUNT, "INSERT INTO count (task, place, name, value) VALUES (?1, ?2, ?3, ?4)")                               \
    X(CLEAR, "DELETE FROM count WHERE task = ?1")                                                                      \
    X(DISCARD, "UPDATE task SET state = 'todo', hash = NULL WHERE id = ?1 AND state = 'done'")                         \
    X(HASH, "SELECT state, hash FROM task WHERE id = ?1")                                                              \
    X(READ, "SELECT name, value FROM count WHERE task = ?1 ORDER BY place")                                            \
    X(USED, "SELECT id FROM task WHERE state <> 'todo' LIMIT 1")

#define EXP_STORE_ENUM(name, sql) EXP_SQL_##name,
enum exp_sql { EXP_STORE_STATEMENTS(EXP_STORE_ENUM) EXP_N_SQL };

/* A process of another host, and the beginning of its silence. */
struct exp_watched {
    struct exp_lease lease;
    int64_t beat;      /* the last beat that was seen; 0: none */
    uint64_t since_ns; /* when this beat was first seen */
};

/* A thread that renews this process's lease. */
struct exp_store_heart {
    bool beats, ends;
    pthread_t thread;
    pthread_mutex_t lock; /* of ends */
    pthread_cond_t end;
};

struct exp_store {
    sqlite3 *db;
    sqlite3_stmt *statement[EXP_N_SQL];
    pthread_mutex_t lock; /* of all members below, and of the database */
    char *path;
    bool is_new; /* there was no file before */
    struct exp_lease own;
    struct exp_watched *watched; /* [n_watched] */
    size_t n_watched;
    struct exp_store_heart heart;
};

/* Writes the line for a result code of SQLite, and returns the -errno of the code. */
int exp_store_report(const struct exp_store *s, int code, struct exp_why *why);

/* Runs a statement with bound values to the end. Returns SQLite's code: SQLITE_DONE, SQLITE_ROW. */
int exp_store_step(struct exp_store *s, enum exp_sql sql);

/* Runs a statement that changes the database, and resets the statement. */
int exp_store_run(struct exp_store *s, enum exp_sql sql);

/* Binds this process's lease to the values 2 to 4. */
void exp_store_bind_own(struct exp_store *s, enum exp_sql sql);

/* Ends the reading of a statement and forgets the values. */
void exp_store_reset(struct exp_store *s, enum exp_sql sql);

/* Binds a text, or NULL. The text must live until the statement is reset. */
void exp_store_bind_text(struct exp_store *s, enum exp_sql sql, int place, const char *text);

/* Runs a transaction: all work of `within`, which returns SQLite's code, SQLITE_DONE on success; or nothing. */
int exp_store_transact(struct exp_store *s, int (*within)(struct exp_store *s, void *arg), void *arg,
                       struct exp_why *why);

/* Stops renewing this process's lease. */
void exp_store_heart_end(struct exp_store *s);

/* Returns the hash of a result. */
int64_t exp_store_hash(const struct exp_task *task, const struct exp_result *r);

/*
 * Reads counts (name and value) with a statement whose values are bound. Returns SQLite's code; r->err reports a row
 * that is no count.
 */
int exp_store_read_counts(sqlite3_stmt *row, struct exp_result *r);

#endif
