/*
 * The results store: one SQLite file of tasks: finished, in progress and failed tasks.
 *
 * Four texts make a task: the work (kind), the object of the work (what), the conditions (setting) and the program. The
 * four texts decide the result, and tasks with equal texts are one task. Any number of processes share a store at once.
 * A committed result survives the end of all processes and of the computer: the file has a rollback journal, and each
 * commit is synchronised to the disk. README.md of this folder says how `sqlite3` and notebooks read the file.
 *
 * A claimed task belongs to its process until the task is finished, fails or is given back, or until the process dies;
 * the next process then takes the task. The kernel tells which processes of this host live. A process of another host
 * renews its lease every few seconds, on a thread that the store starts with the first claim. This process takes a
 * remote process for dead if no renewal of the lease was seen for some time. Clocks of two hosts are never compared.
 *
 * A result is kept with a hash of the task's texts, of the names and of the values. A result that does not fit its hash
 * was damaged on the disk, and is no result.
 *
 * Functions return 0 or -errno with one line in why that names the file: -EINVAL for a file that is no store, is
 * damaged, or is of a version unknown to this program; -ENOSPC; -EIO; -EBUSY if another process holds the file for a
 * minute. Thread-safe.
 */
#ifndef EXPERIMENTS_BASE_STORE_H
#define EXPERIMENTS_BASE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "experiments/base/error.h"

/* The result of a task: named counts, in the order of the calls of exp_result_put. */
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

/* A result on its way, in one of two directions: one sequence of calls puts the counts or reads the counts back. */
struct exp_result_moving {
    struct exp_result *to;         /* NULL: the result is read */
    const struct exp_result *from; /* NULL: the result is put */
    size_t at;                     /* index of the next count to read */
};

/* Moves a count. A count of 0 is left out. */
void exp_result_move(struct exp_result_moving *x, const char *name, uint64_t *value);

/* Tells whether the name of the next count begins with the prefix. */
bool exp_result_comes(const struct exp_result_moving *x, const char *prefix);

/* A lease names the process that works on something. The start time separates processes with equal numbers. */
struct exp_lease {
    char host[64];
    int64_t pid;
    int64_t started; /* clock ticks since the computer's start; 0: not known */
};

/* Returns the lease of this process. */
struct exp_lease exp_lease_own(void);
enum {
    EXP_STORE_VERSION = 2,
    EXP_STORE_SILENCE_S = 20, /* how long a lease of another host holds without a renewal */
};

struct exp_store;

struct exp_task {
    const char *kind;    /* a word: "replay" */
    const char *name;    /* for people; decides nothing */
    const char *what;    /* this text and the two below decide the result, with kind */
    const char *setting; /* conditions that many tasks share, such as a machine's text */
    const char *program; /* the program that computes the result: exp_store_program() */
};

/* Returns a hash of the sources that replays and plans are made of. */
const char *exp_store_program(void);

/* Opens a store, or makes an empty store. A store of version 1 is upgraded. On failure *s is NULL. */
int exp_store_open(struct exp_store **s, const char *path, struct exp_why *why);
void exp_store_close(struct exp_store *s); /* NULL is fine. Gives back all tasks that this process has claimed */
/*
 * Opens the results store that STORE names, by default in the folder of results; the folder must exist. Copies the
 * results of the store KNOWN; NULL and "": no KNOWN. *s stays NULL if STORE=no. Returns 0, or as exp_store_open.
 */
int exp_store_asked(struct exp_store **s, const char *store, const char *results, const char *known,
                    struct exp_why *why);
const char *exp_store_path(const struct exp_store *s);

/*
 * Takes back an unused store: removes the file if opening made the file and no task was ever claimed. Only
 * exp_store_close may follow. A process that has opened the file meanwhile fails when it writes.
 */
void exp_store_withdraw(struct exp_store *s);

/* Finds or adds n tasks in one transaction. id[i] becomes the number of task[i] in this store. */
int exp_store_add(struct exp_store *s, const struct exp_task *task, size_t n, int64_t *id, struct exp_why *why);

/* Finds a task by the task's texts, and adds nothing. Returns -ENOENT, without a line, for an unknown task. */
int exp_store_find(struct exp_store *s, const struct exp_task *task, int64_t *id, struct exp_why *why);

/* The outcome of an attempt to claim. */
enum exp_claim {
    EXP_CLAIM_TAKEN,     /* the task is this process's now */
    EXP_CLAIM_DONE,      /* the task has a result */
    EXP_CLAIM_FAILED,    /* the task failed before, and is not tried again */
    EXP_CLAIM_ELSEWHERE, /* a living process has the task */
};

struct exp_claim_rules {
    bool retries_failed;
    double silence_s; /* a process of another host is dead after this silence; 0: EXP_STORE_SILENCE_S */
};

/* Claims tasks by their numbers, each on its own, in one transaction. */
int exp_store_claim(struct exp_store *s, const int64_t *id, size_t n, const struct exp_claim_rules *rules,
                    enum exp_claim *claim, struct exp_why *why);

/* The process that this program waits for. */
struct exp_waiting {
    size_t n_tasks;    /* tasks that living processes have; 0: none, and no other member is set */
    size_t n_of_whose; /* tasks that the process `whose` has: the owner of the first task */
    struct exp_lease whose;
    bool is_here;  /* the process is of this host */
    char seen[32]; /* time of the last renewal of the lease, UTC, by the owner's clock; "": not known */
    double left_s; /* until a silent process is taken for dead; 0 for a process of this host */
};

/* Says who has the tasks that could not be claimed. */
int exp_store_waiting(struct exp_store *s, const int64_t *id, size_t n, const struct exp_claim_rules *rules,
                      struct exp_waiting *w, struct exp_why *why);

/* The outcome of a task that ended. */
struct exp_outcome {
    int64_t id;
    const struct exp_task *task; /* the task of this number */
    struct exp_result result;    /* empty if the task failed */
    const char *failure;         /* one line, or NULL */
    double seconds;
    int cpu; /* the CPU on which the task ended; -1: not known */
};

/* Records all outcomes or none, in one transaction. A task that has a result keeps the older result. */
int exp_store_finish(struct exp_store *s, const struct exp_outcome *outcome, size_t n, struct exp_why *why);

/*
 * Reads the result of a finished task. Returns -ENOENT if the task is not finished; -EBADMSG if the result does not fit
 * its hash.
 */
int exp_store_read(struct exp_store *s, int64_t id, const struct exp_task *task, struct exp_result *r,
                   struct exp_why *why);

/* Removes a damaged result: the task is to be done again. */
int exp_store_discard(struct exp_store *s, int64_t id, struct exp_why *why);

/* How many of some tasks are in each state. */
struct exp_store_states {
    size_t n_done, n_failed;
    size_t first_not_done; /* index of the first failed task; without a failed task, of the first unfinished task */
};

int exp_store_count(struct exp_store *s, const int64_t *id, size_t n, struct exp_store_states *states,
                    struct exp_why *why);

/*
 * Copies the results that another store has and this store lacks, in one transaction. *n: number of new results; 0 if
 * both paths are one file. -ENOENT if there is no file.
 */
int exp_store_merge(struct exp_store *s, const char *path, size_t *n, struct exp_why *why);

#endif
