/*
 * The results store: one SQLite file of tasks that were done, are being done or have failed.
 *
 * A task is what its texts say: what is done (kind), to what (what), under which conditions (setting), by which
 * program. Together they decide the result, and two tasks with equal texts are one. A store is shared by any number of
 * processes at once. What is committed survives the end of all of them, and of the computer: the file has a rollback
 * journal and is brought to the disk with each commit. README.md of this folder says how `sqlite3` and notebooks read
 * it.
 *
 * A task that a process has claimed belongs to it until it is finished, fails, is given back, or the process has died:
 * whoever comes next takes it then. Of processes of the same host it is known which live. Others renew their lease
 * every few seconds, on a thread that the store starts with the first claim: a process whose lease was not renewed
 * while this one looked on for some time is taken to be dead. No two hosts' clocks are compared.
 *
 * A result is kept with a hash of its task's texts, its names and its values. What does not fit its hash when it is
 * read was damaged on the disk, and is no result.
 *
 * Functions return 0 or -errno with one line in why that names the file: -EINVAL for what is no store, is damaged, or
 * is of a version that this program does not know; -ENOSPC; -EIO; -EBUSY if other processes hold the file for a minute.
 * Thread-safe.
 */
#ifndef EXPERIMENTS_BASE_STORE_H
#define EXPERIMENTS_BASE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "experiments/base/error.h"

/* The result of a task: named counts, in the order in which they were put. */
struct exp_result {
    char **name;
    uint64_t *value; /* below 2^63, as the database's whole numbers are */
    size_t n;
    int err; /* -ERANGE: a value was too large to be put. It sticks */
};

/* Adds a count. The name is copied. Starts from { 0 }. */
void exp_result_put(struct exp_result *r, const char *name, uint64_t value);

/* Finds a count by its name. Returns 0, or -ENOENT with *value 0. */
int exp_result_get(const struct exp_result *r, const char *name, uint64_t *value);

void exp_result_release(struct exp_result *r); /* leaves { 0 } */

/* A result on its way, in one of two directions: the same calls in the same order put its counts and read them back. */
struct exp_result_moving {
    struct exp_result *to;         /* NULL: it is read */
    const struct exp_result *from; /* NULL: it is put */
    size_t at;                     /* of the count that is read next */
};

/* Moves a count that is there unless it is 0. */
void exp_result_move(struct exp_result_moving *x, const char *name, uint64_t *value);

/* Tells whether the count that is read next has a name that begins so. */
bool exp_result_comes(const struct exp_result_moving *x, const char *prefix);

/* A lease names who works on something: a process, told from a later one of the same number by when it started. */
struct exp_lease {
    char host[64];
    int64_t pid;
    int64_t started; /* clock ticks since the computer's start; 0: not known */
};

/* Returns that of this process. */
struct exp_lease exp_lease_own(void);
enum {
    EXP_STORE_VERSION = 2,
    EXP_STORE_SILENCE_S = 20, /* how long a lease of another host holds without being renewed */
};

struct exp_store;

struct exp_task {
    const char *kind;    /* a word: "replay" */
    const char *name;    /* for people; decides nothing */
    const char *what;    /* the rest decide */
    const char *setting; /* what many tasks share, such as a machine's text */
    const char *program; /* what computes it: exp_store_program() */
};

/* Says which state of the sources computes results: a hash of those that replays and plans are made of. */
const char *exp_store_program(void);

/* Opens a store, or makes an empty one. One of version 1 gets what is new. On failure *s is NULL. */
int exp_store_open(struct exp_store **s, const char *path, struct exp_why *why);
void exp_store_close(struct exp_store *s); /* NULL is fine. What this process has claimed is given back */
/*
 * Opens the results store that STORE names, by default in the folder of results, which must be there, and takes over
 * what the store KNOWN has; NULL and "": no other store. *s stays NULL if STORE=no. Returns 0, or as exp_store_open.
 */
int exp_store_asked(struct exp_store **s, const char *store, const char *results, const char *known,
                   struct exp_why *why);
const char *exp_store_path(const struct exp_store *s);

/*
 * Takes back a store that is of no use: removes the file if opening it made it and no task in it was ever claimed. The
 * store is still to be closed, and nothing else. Another process that has opened it meanwhile fails when it writes.
 */
void exp_store_withdraw(struct exp_store *s);

/* Finds or adds n tasks in one transaction. id[i] becomes the number of task[i] in this store. */
int exp_store_add(struct exp_store *s, const struct exp_task *task, size_t n, int64_t *id, struct exp_why *why);

/* Finds a task by its texts, and adds nothing. Returns -ENOENT, without a line, if it is not there. */
int exp_store_find(struct exp_store *s, const struct exp_task *task, int64_t *id, struct exp_why *why);

/* Says what became of an attempt to claim. */
enum exp_claim {
    EXP_CLAIM_TAKEN,     /* it is this process's now */
    EXP_CLAIM_DONE,      /* it has a result */
    EXP_CLAIM_FAILED,    /* it failed before, and is not to be tried again */
    EXP_CLAIM_ELSEWHERE, /* a living process has it */
};

struct exp_claim_rules {
    bool retries_failed;
    double silence_s; /* after which a process of another host is taken to be dead; 0: EXP_STORE_SILENCE_S */
};

/* Claims tasks by their numbers, each on its own, in one transaction. */
int exp_store_claim(struct exp_store *s, const int64_t *id, size_t n, const struct exp_claim_rules *rules,
                    enum exp_claim *claim, struct exp_why *why);

/* Whom some tasks are waited for. */
struct exp_waiting {
    size_t n_tasks;    /* that living processes have; 0: none, and nothing below is known */
    size_t n_of_whose; /* of these, how many the process below has: the one that has the first of them */
    struct exp_lease whose;
    bool is_here;  /* it is of this host */
    char seen[32]; /* when it last renewed its lease, UTC, by its clock; "" if not known */
    double left_s; /* until it is taken to be dead if it goes on being silent; of this host: not known, 0 */
};

/* Says who has tasks that were not claimed because they are elsewhere. */
int exp_store_waiting(struct exp_store *s, const int64_t *id, size_t n, const struct exp_claim_rules *rules,
                      struct exp_waiting *w, struct exp_why *why);

/* Holds what is known of a task that ended. */
struct exp_outcome {
    int64_t id;
    const struct exp_task *task; /* with this number */
    struct exp_result result;    /* unless it failed */
    const char *failure;         /* one line, or NULL */
    double seconds;
    int cpu; /* that it ended on; -1: not known */
};

/* Records outcomes, all or none, in one transaction. Of a task that has a result already, that one stays. */
int exp_store_finish(struct exp_store *s, const struct exp_outcome *outcome, size_t n, struct exp_why *why);

/*
 * Reads the result of a task that is done. Returns -ENOENT if it is not; -EBADMSG if what is there does not fit its
 * hash.
 */
int exp_store_read(struct exp_store *s, int64_t id, const struct exp_task *task, struct exp_result *r,
                   struct exp_why *why);

/* Throws a damaged result away: the task is to be done again. */
int exp_store_discard(struct exp_store *s, int64_t id, struct exp_why *why);

/* Counts how many of some tasks are in which state. */
struct exp_store_states {
    size_t n_done, n_failed;
    size_t first_not_done; /* index; of failed ones if there are any */
};

int exp_store_count(struct exp_store *s, const int64_t *id, size_t n, struct exp_store_states *states,
                    struct exp_why *why);

/*
 * Takes over what another store has and this one has not, in one transaction. *n: results that came; none if both are
 * one file. -ENOENT if it is not there.
 */
int exp_store_merge(struct exp_store *s, const char *path, size_t *n, struct exp_why *why);

#endif
