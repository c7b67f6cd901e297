/* The results store and the task runner: nothing lost, nothing doubled, whatever happens. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "counters/host/ctr_timer.h"
#include "experiments/observe/observe.h"
#include "experiments/base/tasks.h"
#include "kernels/ukr/ukr.h"
#include "tests/rng.h"
#include "tests/scratch.h"
#include "tests/suites.h"

enum { N_TASKS = 120, TASKS_PER_JOB = 2, N_JOBS = N_TASKS / TASKS_PER_JOB };

static struct exp_why why;

static struct exp_store *open_store(const char *name)
{
    struct exp_store *s;

    why.text[0] = '\0';
    CU_ASSERT_EQUAL_FATAL(exp_store_open(&s, scratch_path(name), &why), 0);
    return s;
}

static const struct exp_task hostile = { .kind = "replay",
                                         .name = "conv'; DROP TABLE task; --\n<b>\"1\"</b>",
                                         .what = "what '\"%s\n",
                                         .setting = "a machine",
                                         .program = "v1" };

/* Does SQL on a store's file behind its back. Returns the first value as a number. */
static long long ask(const char *name, const char *sql)
{
    sqlite3 *db;
    sqlite3_stmt *row = NULL;
    long long value = -1;

    CU_ASSERT_EQUAL_FATAL(sqlite3_open(scratch_path(name), &db), SQLITE_OK);
    sqlite3_busy_timeout(db, 5000);
    CU_ASSERT_EQUAL(sqlite3_prepare_v2(db, sql, -1, &row, NULL), SQLITE_OK);
    if (sqlite3_step(row) == SQLITE_ROW)
        value = sqlite3_column_int64(row, 0);
    sqlite3_finalize(row);
    sqlite3_close(db);
    return value;
}

/* Does several statements of SQL in the same way. */
static void change(const char *name, const char *sql)
{
    sqlite3 *db;

    CU_ASSERT_EQUAL_FATAL(sqlite3_open(scratch_path(name), &db), SQLITE_OK);
    sqlite3_busy_timeout(db, 5000);
    test_check(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK, "%s: %s", sql, sqlite3_errmsg(db));
    sqlite3_close(db);
}

/* ---- tasks to run ---- */

struct work {
    char text[N_TASKS][32];
    struct exp_task task[N_TASKS];
    size_t first[N_JOBS + 1];
    uint64_t taken[N_TASKS]; /* results, + 1 */
    int log;                 /* a byte is written for every job that is run; -1: none */
    long pause_ns;
    size_t failing; /* a job that fails; N_JOBS: none */
    struct exp_progress *progress;
    double silence_s;
    const char *at_first_take; /* SQL on s.sqlite */
};

static uint64_t right_result(size_t task)
{
    return task * task + 7;
}

static int run_one(void *ctx, size_t job, const struct exp_pool *pool, struct exp_result *result,
                   struct exp_why *reason)
{
    const struct work *w = ctx;
    const struct timespec pause = { .tv_nsec = w->pause_ns };

    (void)pool;
    if (w->pause_ns)
        nanosleep(&pause, NULL);
    if (w->log >= 0 && write(w->log, "x", 1) != 1)
        return -ENOMEM;
    if (job == w->failing)
        return exp_fail(reason, -EIO, "it was to fail");
    for (size_t i = 0; i < TASKS_PER_JOB; i++) {
        exp_result_put(&result[i], "square", right_result(w->first[job] + i));
        exp_result_put(&result[i], "other", 1);
    }
    return 0;
}

static void take_one(void *ctx, size_t task, const struct exp_result *r)
{
    struct work *w = ctx;
    uint64_t value;

    CU_ASSERT_EQUAL(exp_result_get(r, "square", &value), 0);
    w->taken[task] = value + 1;
    if (!task && w->at_first_take)
        ask("s.sqlite", w->at_first_take);
}

static double no_seconds(void *ctx, size_t job)
{
    (void)ctx;
    (void)job;
    return 0;
}

static void prepare(struct work *w)
{
    *w = (struct work){ .log = -1, .failing = N_JOBS };
    for (size_t i = 0; i < N_TASKS; i++) {
        snprintf(w->text[i], sizeof w->text[i], "task %zu", i);
        w->task[i] = (struct exp_task){ "test", w->text[i], w->text[i], "all", "v1" };
        w->first[i / TASKS_PER_JOB + 1] = i + 1;
    }
}

static int run_tasks(struct work *w, struct exp_store *store, struct exp_tasks_counts *counts)
{
    const struct exp_tasks tasks = { .task = w->task,
                                     .first = w->first,
                                     .n_jobs = N_JOBS,
                                     .doing = "testing",
                                     .run = run_one,
                                     .take = take_one,
                                     .seconds = no_seconds,
                                     .ctx = w };
    const struct exp_tasks_options o = {
        .store = store, .n_threads = 2, .rules = { true, w->silence_s }, .progress = w->progress
    };

    return exp_tasks_run(&tasks, &o, counts, &why);
}

static void check_taken(const struct work *w)
{
    for (size_t i = 0; i < N_TASKS; i++)
        CU_ASSERT_EQUAL(w->taken[i], right_result(i) + 1);
}

/* Runs the tasks in a process of its own, on the store of that name. */
static pid_t start_process(struct work *w, const char *name)
{
    pid_t pid = fork();

    if (!pid) {
        struct exp_tasks_counts counts;
        struct exp_store *s;
        int err = exp_store_open(&s, scratch_path(name), &why);

        if (!err)
            err = run_tasks(w, s, &counts);
        if (!err)
            exp_store_close(s);
        _exit(err ? 1 : 0);
    }
    CU_ASSERT_TRUE_FATAL(pid > 0);
    return pid;
}

/* ---- the store ---- */

static void tasks_are_what_their_texts_say(void)
{
    struct exp_task other = hostile, same = hostile;
    struct exp_task three[3];
    int64_t id[3];
    struct exp_store *s;

    scratch_open();
    s = open_store("s.sqlite");
    other.setting = "another machine";
    same.name = "called otherwise";
    three[0] = hostile;
    three[1] = other;
    three[2] = same;
    CU_ASSERT_EQUAL(exp_store_add(s, three, 3, id, &why), 0);
    CU_ASSERT_NOT_EQUAL(id[0], id[1]);
    CU_ASSERT_EQUAL(id[0], id[2]);
    exp_store_close(s);
    CU_ASSERT_EQUAL(ask("s.sqlite", "SELECT count(*) FROM task"), 2);
    CU_ASSERT_EQUAL(ask("s.sqlite", "SELECT count(*) FROM task WHERE instr(name, char(10) || '<b>') > 0"), 2);
    scratch_close();
}

static void results_come_back(void)
{
    struct exp_outcome o = { .task = &hostile, .cpu = -1 };
    const struct exp_claim_rules rules = { 0 };
    struct exp_result back;
    enum exp_claim claim;
    struct exp_store *s;
    uint64_t value;

    scratch_open();
    s = open_store("s.sqlite");
    CU_ASSERT_EQUAL(exp_store_add(s, &hostile, 1, &o.id, &why), 0);
    CU_ASSERT_EQUAL(exp_store_read(s, o.id, &hostile, &back, &why), -ENOENT);
    CU_ASSERT_EQUAL(exp_store_claim(s, &o.id, 1, &rules, &claim, &why), 0);
    CU_ASSERT_EQUAL(claim, EXP_CLAIM_TAKEN);
    exp_result_put(&o.result, "L1.read_misses", 42);
    exp_result_put(&o.result, "o'clock", INT64_MAX);
    CU_ASSERT_EQUAL(exp_store_finish(s, &o, 1, &why), 0);
    o.result.value[0] = 43; /* a second result of the same task changes nothing */
    CU_ASSERT_EQUAL(exp_store_finish(s, &o, 1, &why), 0);
    exp_result_release(&o.result);
    exp_store_close(s);
    s = open_store("s.sqlite");
    CU_ASSERT_EQUAL(exp_store_claim(s, &o.id, 1, &rules, &claim, &why), 0);
    CU_ASSERT_EQUAL(claim, EXP_CLAIM_DONE);
    CU_ASSERT_EQUAL(exp_store_read(s, o.id, &hostile, &back, &why), 0);
    CU_ASSERT_EQUAL(back.n, 2);
    CU_ASSERT_EQUAL(exp_result_get(&back, "L1.read_misses", &value), 0);
    CU_ASSERT_EQUAL(value, 42);
    CU_ASSERT_EQUAL(exp_result_get(&back, "o'clock", &value), 0);
    CU_ASSERT_EQUAL(value, INT64_MAX);
    CU_ASSERT_EQUAL(exp_result_get(&back, "nothing", &value), -ENOENT);
    exp_result_release(&back);
    exp_result_put(&back, "too large", (uint64_t)1 << 63);
    CU_ASSERT_EQUAL(back.err, -ERANGE);
    exp_store_close(s);
    scratch_close();
}

static void claims_of_the_dead_are_taken_again(void)
{
    const struct exp_claim_rules rules = { 0 };
    enum exp_claim claim;
    struct exp_store *s;
    int ready[2];
    int64_t id;
    pid_t pid;
    char byte;

    scratch_open();
    s = open_store("s.sqlite");
    CU_ASSERT_EQUAL(exp_store_add(s, &hostile, 1, &id, &why), 0);
    CU_ASSERT_EQUAL_FATAL(pipe(ready), 0);
    pid = fork();
    if (!pid) {
        struct exp_store *own;

        if (exp_store_open(&own, scratch_path("s.sqlite"), &why) ||
            exp_store_claim(own, &id, 1, &rules, &claim, &why) || write(ready[1], "x", 1) != 1)
            _exit(1);
        pause();
        _exit(1);
    }
    CU_ASSERT_EQUAL_FATAL(read(ready[0], &byte, 1), 1);
    CU_ASSERT_EQUAL(exp_store_claim(s, &id, 1, &rules, &claim, &why), 0);
    CU_ASSERT_EQUAL(claim, EXP_CLAIM_ELSEWHERE);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    CU_ASSERT_EQUAL(exp_store_claim(s, &id, 1, &rules, &claim, &why), 0);
    CU_ASSERT_EQUAL(claim, EXP_CLAIM_TAKEN);
    exp_store_close(s);
    CU_ASSERT_EQUAL(ask("s.sqlite", "SELECT count(*) FROM task WHERE state = 'todo'"), 1); /* given back */
    /* A later process of the same number is another one; one of another host may live. */
    CU_ASSERT_EQUAL(ask("s.sqlite", "UPDATE task SET state = 'running', started = started + 1"), -1);
    s = open_store("s.sqlite");
    CU_ASSERT_EQUAL(exp_store_claim(s, &id, 1, &rules, &claim, &why), 0);
    CU_ASSERT_EQUAL(claim, EXP_CLAIM_TAKEN);
    exp_store_close(s);
    CU_ASSERT_EQUAL(ask("s.sqlite", "UPDATE task SET state = 'running', host = 'far.away'"), -1);
    s = open_store("s.sqlite");
    CU_ASSERT_EQUAL(exp_store_claim(s, &id, 1, &rules, &claim, &why), 0);
    CU_ASSERT_EQUAL(claim, EXP_CLAIM_ELSEWHERE);
    exp_store_close(s);
    close(ready[0]);
    close(ready[1]);
    scratch_close();
}

/* ---- processes of other hosts ---- */

static enum exp_claim claim_of(struct exp_store *s, int64_t id, double silence_s)
{
    const struct exp_claim_rules rules = { .silence_s = silence_s };
    enum exp_claim claim = EXP_CLAIM_FAILED;

    CU_ASSERT_EQUAL(exp_store_claim(s, &id, 1, &rules, &claim, &why), 0);
    return claim;
}

static void sleep_for(double seconds)
{
    const struct timespec t = { .tv_sec = (time_t)seconds, .tv_nsec = (long)(1e9 * (seconds - (time_t)seconds)) };

    nanosleep(&t, NULL);
}

static void leases_run_out(void)
{
    static const char far[] = "UPDATE task SET state = 'running', host = 'far.away', pid = 7, started = 9";
    static const double silence = 0.05;
    struct exp_store *s;
    int64_t id;

    scratch_open();
    s = open_store("s.sqlite");
    CU_ASSERT_EQUAL(exp_store_add(s, &hostile, 1, &id, &why), 0);
    ask("s.sqlite", far);
    ask("s.sqlite", "INSERT INTO process VALUES ('far.away', 7, 9, 1, '2026-01-01T00:00:00Z')");
    CU_ASSERT_EQUAL(claim_of(s, id, silence), EXP_CLAIM_ELSEWHERE);
    sleep_for(2 * silence);
    ask("s.sqlite", "UPDATE process SET beat = 2"); /* it lives */
    CU_ASSERT_EQUAL(claim_of(s, id, silence), EXP_CLAIM_ELSEWHERE);
    sleep_for(2 * silence);
    CU_ASSERT_EQUAL(claim_of(s, id, 0), EXP_CLAIM_ELSEWHERE); /* usually, more is waited for */
    CU_ASSERT_EQUAL(claim_of(s, id, silence), EXP_CLAIM_TAKEN);
    exp_store_close(s);
    CU_ASSERT_EQUAL(ask("s.sqlite", "SELECT count(*) FROM process"), 0);
    scratch_close();
}

static void leases_that_nobody_can_have_are_none(void)
{
    static const char *const nobody[] = { "host = 'far.away', pid = 0", "host = 'far.away', pid = -1",
                                          "host = 'far.away', pid = 1 << 40", "host = '', pid = 5",
                                          "host = NULL, pid = NULL" };
    struct exp_store *s;
    char sql[160];
    int64_t id;

    scratch_open();
    s = open_store("s.sqlite");
    CU_ASSERT_EQUAL(exp_store_add(s, &hostile, 1, &id, &why), 0);
    for (size_t i = 0; i < sizeof nobody / sizeof nobody[0]; i++) {
        snprintf(sql, sizeof sql, "UPDATE task SET state = 'running', started = 9, %s", nobody[i]);
        ask("s.sqlite", sql);
        test_check(claim_of(s, id, 0) == EXP_CLAIM_TAKEN, "a task of %s was left alone", nobody[i]);
    }
    exp_store_close(s);
    scratch_close();
}

static void leases_are_renewed(void)
{
    static const char beat[] = "SELECT beat FROM process";
    struct exp_store *s;
    long long first;
    int64_t id;

    scratch_open();
    s = open_store("s.sqlite");
    CU_ASSERT_EQUAL(exp_store_add(s, &hostile, 1, &id, &why), 0);
    CU_ASSERT_EQUAL(claim_of(s, id, 0), EXP_CLAIM_TAKEN);
    first = ask("s.sqlite", beat);
    CU_ASSERT_TRUE(first > 0);
    for (int i = 0; i < 6000 && ask("s.sqlite", beat) == first; i++)
        sleep_for(0.01);
    CU_ASSERT_TRUE(ask("s.sqlite", beat) > first);
    exp_store_close(s);
    scratch_close();
}

static void refuses(const char *name, const char *words)
{
    struct exp_store *s;

    why.text[0] = '\0';
    test_check(exp_store_open(&s, scratch_path(name), &why) == -EINVAL && !s, "%s: was opened", words);
    test_check(strstr(why.text, words) && strstr(why.text, name) && !strchr(why.text, '\n'), "'%s' is not in '%s'",
               words, why.text);
}

static void other_files_are_refused(void)
{
    char block[8192] = "SQLite format 3";

    scratch_open();
    scratch_text("text.sqlite", "This is no database at all, but a text that is long enough to be looked at.\n");
    refuses("text.sqlite", "not a results store, or damaged");
    memset(block + 16, 0xa5, sizeof block - 16);
    scratch_write("torn.sqlite", block, sizeof block);
    refuses("torn.sqlite", "damaged");
    exp_store_close(open_store("future.sqlite"));
    ask("future.sqlite", "PRAGMA user_version = 3");
    refuses("future.sqlite", "version 3, and this program knows version 2");
    ask("other.sqlite", "CREATE TABLE task (id)");
    refuses("other.sqlite", "another program");
    scratch_close();
}

static void stores_are_merged(void)
{
    struct exp_tasks_counts counts;
    struct exp_store *a, *b;
    struct work w;
    size_t n;

    scratch_open();
    prepare(&w);
    a = open_store("a'; DROP.sqlite");
    b = open_store("b.sqlite");
    CU_ASSERT_EQUAL(run_tasks(&w, b, &counts), 0);
    exp_store_close(b);
    CU_ASSERT_EQUAL(exp_store_merge(a, scratch_path("none.sqlite"), &n, &why), -ENOENT);
    CU_ASSERT_NOT_EQUAL(access(scratch_path("none.sqlite"), F_OK), 0);
    CU_ASSERT_EQUAL(exp_store_merge(a, scratch_path("b.sqlite"), &n, &why), 0);
    CU_ASSERT_EQUAL(n, N_TASKS);
    CU_ASSERT_EQUAL(exp_store_merge(a, scratch_path("b.sqlite"), &n, &why), 0);
    CU_ASSERT_EQUAL(n, 0);
    prepare(&w);
    CU_ASSERT_EQUAL(run_tasks(&w, a, &counts), 0);
    CU_ASSERT_EQUAL(counts.n_stored, N_TASKS);
    CU_ASSERT_EQUAL(counts.n_run, 0);
    check_taken(&w);
    exp_store_close(a);
    scratch_close();
}

static void a_store_is_not_merged_with_itself(void)
{
    struct exp_tasks_counts counts;
    struct exp_store *s;
    struct work w;
    size_t n = 1;

    scratch_open();
    prepare(&w);
    s = open_store("s.sqlite");
    CU_ASSERT_EQUAL(run_tasks(&w, s, &counts), 0);
    CU_ASSERT_EQUAL_FATAL(symlink("s.sqlite", scratch_path("other.sqlite")), 0);
    CU_ASSERT_EQUAL(exp_store_merge(s, scratch_path("other.sqlite"), &n, &why), 0);
    CU_ASSERT_EQUAL(n, 0);
    exp_store_close(s);
    scratch_close();
}

/* Makes of a store what version 1 would have left. */
static void make_version_1(const char *name)
{
    ask(name, "ALTER TABLE task DROP COLUMN hash");
    ask(name, "DROP TABLE process");
    ask(name, "PRAGMA user_version = 1");
}

static void stores_of_version_1_are_brought_up_to_date(void)
{
    struct exp_tasks_counts counts;
    struct exp_store *s;
    struct work w;

    scratch_open();
    prepare(&w);
    s = open_store("s.sqlite");
    CU_ASSERT_EQUAL(run_tasks(&w, s, &counts), 0);
    exp_store_close(s);
    make_version_1("s.sqlite");
    ask("s.sqlite", "DELETE FROM count WHERE task = 1");
    ask("s.sqlite", "UPDATE count SET value = -5 WHERE task = 3 AND place = 0");
    prepare(&w);
    s = open_store("s.sqlite");
    CU_ASSERT_EQUAL(ask("s.sqlite", "PRAGMA user_version"), EXP_STORE_VERSION);
    CU_ASSERT_EQUAL(run_tasks(&w, s, &counts), 0);
    CU_ASSERT_EQUAL(counts.n_run, 2 * TASKS_PER_JOB);
    CU_ASSERT_EQUAL(counts.n_stored, N_TASKS - 2 * TASKS_PER_JOB);
    CU_ASSERT_EQUAL(counts.n_damaged, 0);
    check_taken(&w);
    exp_store_close(s);
    scratch_close();
}

/* ---- the runner ---- */

static void work_is_done_once(void)
{
    struct exp_tasks_counts counts;
    struct exp_store *s;
    struct work w;

    scratch_open();
    prepare(&w);
    CU_ASSERT_EQUAL(run_tasks(&w, NULL, &counts), 0);
    CU_ASSERT_EQUAL(counts.n_run, N_TASKS);
    check_taken(&w);
    for (int i = 0; i < 2; i++) {
        prepare(&w);
        s = open_store("s.sqlite");
        CU_ASSERT_EQUAL(run_tasks(&w, s, &counts), 0);
        CU_ASSERT_EQUAL(counts.n_stored, i ? N_TASKS : 0);
        CU_ASSERT_EQUAL(counts.n_run, i ? 0 : N_TASKS);
        CU_ASSERT_EQUAL(counts.n_failed, 0);
        check_taken(&w);
        exp_store_close(s);
    }
    scratch_close();
}

static void failures_are_named_and_tried_again(void)
{
    struct exp_tasks_counts counts;
    struct exp_store *s;
    struct work w;

    scratch_open();
    prepare(&w);
    s = open_store("s.sqlite");
    w.failing = 3;
    CU_ASSERT_EQUAL(run_tasks(&w, s, &counts), 0);
    CU_ASSERT_EQUAL(counts.n_failed, TASKS_PER_JOB);
    CU_ASSERT_EQUAL(counts.n_run, N_TASKS - TASKS_PER_JOB);
    CU_ASSERT_STRING_EQUAL(counts.failure, "task 6: it was to fail");
    CU_ASSERT_EQUAL(ask("s.sqlite", "SELECT count(*) FROM task WHERE state = 'failed' AND why = 'it was to fail'"), 2);
    w.failing = N_JOBS;
    CU_ASSERT_EQUAL(run_tasks(&w, s, &counts), 0);
    CU_ASSERT_EQUAL(counts.n_run, TASKS_PER_JOB);
    CU_ASSERT_EQUAL(counts.n_failed, 0);
    check_taken(&w);
    exp_store_close(s);
    scratch_close();
}

/* Runs the tasks with something to say. What is said is in text[bytes]. */
static int run_and_hear(struct work *w, struct exp_store *s, struct exp_tasks_counts *counts, double silence_s,
                        char *text, size_t bytes)
{
    FILE *out = fmemopen(text, bytes, "w");
    struct exp_progress *p;
    int err;

    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    w->progress = p = exp_progress_new(out, false, NULL, ctr_now_ns);
    w->silence_s = silence_s;
    err = run_tasks(w, s, counts);
    w->progress = NULL;
    exp_progress_free(p);
    fclose(out);
    return err;
}

/* Task 5 is in the third job. */
static const struct {
    const char *sql;
    size_t n_jobs;
} damages[] = {
    { "UPDATE task SET state = 'todo' WHERE id = 5", 1 }, /* its counts are there already */
    { "UPDATE count SET value = value + 1 WHERE task = 5 AND place = 0", 1 },
    { "UPDATE count SET value = -7 WHERE task = 5 AND place = 1", 1 },
    { "UPDATE count SET name = 'squarf' WHERE task = 5 AND place = 0", 1 },
    { "UPDATE count SET name = x'00' WHERE task = 5 AND place = 0", 1 },
    { "DELETE FROM count WHERE task = 5 AND place = 1", 1 },
    { "DELETE FROM count WHERE task % 2 = 0", N_JOBS },
    { "INSERT INTO count VALUES (5, 2, 'square', 1)", 1 },
    { "UPDATE count SET task = -task WHERE task IN (5, 6)", 1 },
    { "UPDATE task SET hash = hash + 1 WHERE id = 5", 1 },
    { "UPDATE task SET hash = NULL WHERE id = 5", 1 },
    { "UPDATE text SET text = 'x' WHERE text = 'task 4'; UPDATE text SET text = 'task 4' WHERE text = 'task 5';"
      "UPDATE text SET text = 'task 5' WHERE text = 'x'",
      1 },
};

static void damaged_results_are_made_again(void)
{
    struct exp_tasks_counts counts;
    struct exp_store *s;
    char text[4096];
    struct work w;

    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        const bool is_seen = i > 0;

        scratch_open();
        prepare(&w);
        s = open_store("s.sqlite");
        CU_ASSERT_EQUAL(run_tasks(&w, s, &counts), 0);
        exp_store_close(s);
        change("s.sqlite", damages[i].sql);
        prepare(&w);
        s = open_store("s.sqlite");
        CU_ASSERT_EQUAL(run_and_hear(&w, s, &counts, 0, text, sizeof text), 0);
        test_check(counts.n_run == TASKS_PER_JOB * damages[i].n_jobs, "%s: %zu tasks were done", damages[i].sql,
                   counts.n_run);
        test_check(!is_seen || strstr(text, "' was damaged; it is made again"), "%s: said '%s'", damages[i].sql, text);
        CU_ASSERT_EQUAL(counts.n_run + counts.n_stored, N_TASKS);
        check_taken(&w);
        exp_store_close(s);
        prepare(&w);
        s = open_store("s.sqlite");
        CU_ASSERT_EQUAL(run_tasks(&w, s, &counts), 0);
        test_check(counts.n_stored == N_TASKS, "%s: damaged for ever", damages[i].sql);
        exp_store_close(s);
        scratch_close();
    }
}

static void one_damaged_result_is_no_result(void)
{
    const struct exp_task task = { "observe", "a layer", "this", "toy", "guest 1" };
    struct exp_result r = { 0 };
    struct exp_store *s;

    scratch_open();
    s = open_store("s.sqlite");
    exp_result_put(&r, "a", 1);
    CU_ASSERT_EQUAL(exp_tasks_keep(s, &task, &r, 0.5, &why), 0);
    ask("s.sqlite", "UPDATE count SET value = 2");
    exp_result_release(&r);
    CU_ASSERT_EQUAL(exp_tasks_find(s, &task, &r, &why), -ENOENT);
    exp_result_put(&r, "a", 1);
    CU_ASSERT_EQUAL(exp_tasks_keep(s, &task, &r, 0.5, &why), 0);
    exp_result_release(&r);
    CU_ASSERT_EQUAL(exp_tasks_find(s, &task, &r, &why), 0);
    exp_result_release(&r);
    exp_store_close(s);
    scratch_close();
}

/* Waits for so many looks that a number which doubles with each of them would overflow. */
static void whom_it_waits_for_is_said(void)
{
    static const double silence_s = 7;
    struct exp_tasks_counts counts;
    struct exp_store *s;
    char text[4096];
    struct work w;

    scratch_open();
    prepare(&w);
    s = open_store("s.sqlite");
    CU_ASSERT_EQUAL(run_tasks(&w, s, &counts), 0);
    exp_store_close(s);
    ask("s.sqlite", "DELETE FROM count WHERE task <= 6");
    ask("s.sqlite", "UPDATE task SET state = 'running', hash = NULL, host = 'deadbox', pid = 77, started = 5 "
                    "WHERE id <= 6");
    prepare(&w);
    s = open_store("s.sqlite");
    CU_ASSERT_EQUAL(run_and_hear(&w, s, &counts, silence_s, text, sizeof text), 0);
    CU_ASSERT_EQUAL(counts.n_run, 6);
    test_check(strstr(text, "waiting for 6 tasks of process 77 on deadbox, never heard of: if it is silent for ") &&
                   strstr(text, "STORE=no waits for nobody"),
               "it says '%s'", text);
    check_taken(&w);
    exp_store_close(s);
    scratch_close();
}

static void results_that_another_process_throws_away_are_made_again(void)
{
    struct exp_tasks_counts counts;
    struct exp_store *s;
    struct work w;

    scratch_open();
    prepare(&w);
    s = open_store("s.sqlite");
    CU_ASSERT_EQUAL(run_tasks(&w, s, &counts), 0);
    prepare(&w);
    w.at_first_take = "UPDATE task SET state = 'todo', hash = NULL WHERE id IN (3, 4)"; /* the second job's */
    CU_ASSERT_EQUAL(run_tasks(&w, s, &counts), 0);
    CU_ASSERT_EQUAL(counts.n_run, TASKS_PER_JOB);
    CU_ASSERT_EQUAL(counts.n_stored, N_TASKS - TASKS_PER_JOB);
    check_taken(&w);
    exp_store_close(s);
    scratch_close();
}

static void a_store_that_loses_tasks_ends_the_run(void)
{
    struct exp_tasks_counts counts;
    struct exp_store *s;
    struct work w;

    scratch_open();
    prepare(&w);
    s = open_store("s.sqlite");
    ask("s.sqlite", "CREATE TRIGGER t AFTER INSERT ON task BEGIN DELETE FROM task WHERE id = new.id; END");
    CU_ASSERT_EQUAL(run_tasks(&w, s, &counts), -EINVAL);
    CU_ASSERT_TRUE(strstr(why.text, "is damaged") != NULL);
    exp_store_close(s);
    scratch_close();
}

static void kills_lose_and_double_nothing(void)
{
    static const char n_done[] = "SELECT count(*) FROM task WHERE state = 'done'";
    struct exp_tasks_counts counts;
    struct exp_store *s;
    struct work w;
    unsigned n_killed = 0;
    int64_t most_ns = 20000000;

    scratch_open();
    prepare(&w);
    w.pause_ns = 10000000;
    exp_store_close(open_store("s.sqlite"));
    for (unsigned i = 0; i < 100; i++) {
        pid_t pid = start_process(&w, "s.sqlite");
        const struct timespec life = { .tv_nsec = (long)rng_range(0, most_ns) };
        long long done = ask("s.sqlite", n_done);
        int status;

        nanosleep(&life, NULL);
        kill(pid, SIGKILL);
        waitpid(pid, &status, 0);
        n_killed += WIFSIGNALED(status);
        /* About every fourth one leaves results, however busy the computer is. */
        most_ns = ask("s.sqlite", n_done) != done ? most_ns / 2 : most_ns < 500000000 ? most_ns * 5 / 4 : most_ns;
    }
    test_check(n_killed > 50, "only %u of 100 processes were killed", n_killed);
    CU_ASSERT_EQUAL(ask("s.sqlite", "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'"), 1);
    s = open_store("s.sqlite");
    w.pause_ns = 0;
    CU_ASSERT_EQUAL(run_tasks(&w, s, &counts), 0);
    CU_ASSERT_EQUAL(counts.n_stored + counts.n_run, N_TASKS);
    test_check(counts.n_stored > N_TASKS / 10, "only %zu results survived 100 kills", counts.n_stored);
    check_taken(&w);
    exp_store_close(s);
    CU_ASSERT_EQUAL(ask("s.sqlite", n_done), N_TASKS);
    CU_ASSERT_EQUAL(ask("s.sqlite", "SELECT count(*) FROM count"), 2 * N_TASKS);
    scratch_close();
}

static void two_processes_share_the_work(void)
{
    struct work w;
    char bytes[2 * N_JOBS];
    int log[2], status;
    pid_t pid[2];

    scratch_open();
    prepare(&w);
    CU_ASSERT_EQUAL_FATAL(pipe(log), 0);
    w.log = log[1];
    w.pause_ns = 2000000;
    for (int i = 0; i < 2; i++)
        pid[i] = start_process(&w, "s.sqlite");
    for (int i = 0; i < 2; i++) {
        waitpid(pid[i], &status, 0);
        CU_ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    close(log[1]);
    CU_ASSERT_EQUAL(read(log[0], bytes, sizeof bytes), N_JOBS); /* each job once */
    close(log[0]);
    CU_ASSERT_EQUAL(ask("s.sqlite", "SELECT count(*) FROM task WHERE state = 'done'"), N_TASKS);
    scratch_close();
}

static void a_full_disk_costs_nothing_that_was_kept(void)
{
    struct exp_tasks_counts counts;
    struct exp_store *s;
    struct work w;
    pid_t pid;
    int status;

    scratch_open();
    prepare(&w);
    w.failing = 0; /* leaves something to do */
    s = open_store("s.sqlite");
    CU_ASSERT_EQUAL(run_tasks(&w, s, &counts), 0);
    exp_store_close(s);
    pid = fork();
    if (!pid) {
        const struct rlimit limit = { 4096, 4096 };
        int err;

        signal(SIGXFSZ, SIG_IGN);
        w.failing = N_JOBS;
        err = exp_store_open(&s, scratch_path("s.sqlite"), &why);
        if (!err && !setrlimit(RLIMIT_FSIZE, &limit))
            err = run_tasks(&w, s, &counts);
        _exit((err == -EIO || err == -ENOSPC) && strstr(why.text, "results store") ? 0 : 1);
    }
    waitpid(pid, &status, 0);
    CU_ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    s = open_store("s.sqlite");
    w.failing = N_JOBS;
    CU_ASSERT_EQUAL(run_tasks(&w, s, &counts), 0);
    CU_ASSERT_EQUAL(counts.n_stored, N_TASKS - TASKS_PER_JOB);
    check_taken(&w);
    exp_store_close(s);
    scratch_close();
}

/* An observation with something of everything. */
static void fill_observation(struct obs_result *seen)
{
    *seen = (struct obs_result){ .n_buffers = 2, .n_outside = 2, .stats.n_levels = 3 };
    for (unsigned tag = 0; tag < SIM_USUAL_TAGS; tag++) {
        struct sim_cell *c = &seen->stats.cell[tag][rng_below(CONV_N_PHASES)];

        c->loads = 1 + rng_below(1000);
        c->level[rng_below(3)].load_misses = rng_below(100);
        c->memory_read_lines = rng_below(3);
    }
    seen->instructions[rng_below(CONV_N_PHASES)][OBS_MMA] = 1 + rng_below(99);
    seen->buffer[0] = (struct obs_buffer){ .address = UINT64_C(1) << 47, .bytes = 77, .tag = 1 };
    seen->buffer[1] = (struct obs_buffer){ .address = 4096, .bytes = 1, .tag = 3, .is_learned = true };
    seen->outside[0] = (struct obs_outside){ "memcpy", 3, true, 3, 0 };
    seen->outside[1] = (struct obs_outside){ "?", 0, false, 0, 4 };
    seen->outside_lines[rng_below(CONV_N_PHASES)] = 7;
}

static void observations_come_back(void)
{
    const struct exp_task task = { "observe", "a layer", "this", "toy", "guest 1" };
    struct obs_result *seen = calloc(2, sizeof *seen), *back = seen + 1;
    struct exp_result r = { 0 };
    struct sim_machine toy;
    struct exp_store *s;

    scratch_open();
    s = open_store("s.sqlite");
    CU_ASSERT_FATAL(seen && !sim_machine_read(&toy, "sim/machines/toy.cfg", why.text, sizeof why.text));
    CU_ASSERT_EQUAL(exp_tasks_find(s, &task, &r, &why), -ENOENT);
    CU_ASSERT_EQUAL(ask("s.sqlite", "SELECT count(*) FROM task"), 0);
    fill_observation(seen);
    exp_observed_result_put(&r, &toy, seen);
    CU_ASSERT_EQUAL(exp_tasks_keep(s, &task, &r, 0.5, &why), 0);
    exp_result_release(&r);
    CU_ASSERT_EQUAL(exp_tasks_find(s, &task, &r, &why), 0);
    CU_ASSERT_EQUAL(exp_observed_result_get(&r, &toy, back), 0);
    CU_ASSERT(!memcmp(seen, back, sizeof *seen));
    exp_result_put(&r, "nothing of ours", 1);
    CU_ASSERT_EQUAL(exp_observed_result_get(&r, &toy, back), -EINVAL);
    exp_result_release(&r);
    exp_store_close(s);
    scratch_close();
    free(seen);
}

static const struct test_case cases[] = {
    { "observations come back", observations_come_back },
    { "tasks are what their texts say", tasks_are_what_their_texts_say },
    { "results come back", results_come_back },
    { "claims of the dead are taken again", claims_of_the_dead_are_taken_again },
    { "leases run out", leases_run_out },
    { "leases that nobody can have are none", leases_that_nobody_can_have_are_none },
    { "leases are renewed", leases_are_renewed },
    { "other files are refused", other_files_are_refused },
    { "stores are merged", stores_are_merged },
    { "a store is not merged with itself", a_store_is_not_merged_with_itself },
    { "stores of version 1 are brought up to date", stores_of_version_1_are_brought_up_to_date },
    { "damaged results are made again", damaged_results_are_made_again },
    { "one damaged result is no result", one_damaged_result_is_no_result },
    { "whom it waits for is said", whom_it_waits_for_is_said },
    { "results that another process throws away are made again",
      results_that_another_process_throws_away_are_made_again },
    { "a store that loses tasks ends the run", a_store_that_loses_tasks_ends_the_run },
    { "work is done once", work_is_done_once },
    { "failures are named and tried again", failures_are_named_and_tried_again },
    { "kills lose and double nothing", kills_lose_and_double_nothing },
    { "two processes share the work", two_processes_share_the_work },
    { "a full disk costs nothing that was kept", a_full_disk_costs_nothing_that_was_kept },
    { NULL, NULL },
};

const struct test_suite suite_store = { "store", cases };
