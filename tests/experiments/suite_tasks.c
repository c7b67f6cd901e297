/* The task runner: each task is done once, whoever is killed, fails, waits or damages the store meanwhile. */
#include "experiments/base/tasks.h"

#include <CUnit/CUnit.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "counters/host/ctr_timer.h"
#include "tests/rng.h"
#include "tests/scratch.h"
#include "tests/suites.h"

enum { N_TASKS = 120, TASKS_PER_JOB = 2, N_JOBS = N_TASKS / TASKS_PER_JOB };

static const char file[] = "s.sqlite", n_done[] = "SELECT count(*) FROM task WHERE state = 'done'";

/* Tasks, and a run of the tasks on the store in the file. */
struct work {
    char text[N_TASKS][32];
    struct exp_task task[N_TASKS];
    size_t first[N_JOBS + 1];
    struct exp_store *store;
    struct exp_tasks_counts counts;
    struct exp_why why;
    uint64_t taken[N_TASKS]; /* results, + 1 */
    int log;                 /* gets a byte for every run job; -1: none */
    long pause_ns;
    size_t failing; /* a job that fails; N_JOBS: none */
    struct exp_progress *progress;
    double silence_s;
    const char *at_first_take; /* SQL on the file */
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
        scratch_sql(file, w->at_first_take);
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

static void open_store(struct work *w)
{
    CU_ASSERT_EQUAL_FATAL(exp_store_open(&w->store, scratch_path(file), &w->why), 0);
}

static int run(struct work *w)
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
        .store = w->store, .n_threads = 2, .rules = { true, w->silence_s }, .progress = w->progress
    };

    return exp_tasks_run(&tasks, &o, &w->counts, &w->why);
}

/* Runs the tasks with messages. The messages are in text[bytes]. */
static int run_and_hear(struct work *w, char *text, size_t bytes)
{
    FILE *out = fmemopen(text, bytes, "w");
    struct exp_progress *p;
    int err;

    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    w->progress = p = exp_progress_new(out, false, NULL, ctr_now_ns);
    err = run(w);
    w->progress = NULL;
    exp_progress_free(p);
    fclose(out);
    return err;
}

/* Starts without results, on the present store. */
static void begin_again(struct work *w)
{
    prepare(w);
    open_store(w);
}

/* Starts with nothing done. */
static void begin(struct work *w)
{
    begin_again(w);
}

/* Starts with a store that has all results. */
static void begin_done(struct work *w)
{
    begin(w);
    CU_ASSERT_EQUAL(run(w), 0);
}

static void end(struct work *w)
{
    exp_store_close(w->store);
    scratch_clear();
}

static void check_taken(const struct work *w)
{
    for (size_t i = 0; i < N_TASKS; i++)
        CU_ASSERT_EQUAL(w->taken[i], right_result(i) + 1);
}

/* Runs the tasks in a separate process. */
static pid_t start_process(struct work *w)
{
    const char *path = scratch_path(file);
    pid_t pid = fork();

    if (!pid) {
        int err = exp_store_open(&w->store, path, &w->why);

        if (!err)
            err = run(w);
        if (!err)
            exp_store_close(w->store);
        _exit(err ? 1 : 0);
    }
    CU_ASSERT_TRUE_FATAL(pid > 0);
    return pid;
}

static void work_is_done_once(void)
{
    struct work w;

    prepare(&w);
    CU_ASSERT_EQUAL(run(&w), 0);
    CU_ASSERT_EQUAL(w.counts.n_run, N_TASKS);
    check_taken(&w);
    for (int i = 0; i < 2; i++) {
        begin_again(&w);
        CU_ASSERT_EQUAL(run(&w), 0);
        CU_ASSERT_EQUAL(w.counts.n_stored, i ? N_TASKS : 0);
        CU_ASSERT_EQUAL(w.counts.n_run, i ? 0 : N_TASKS);
        CU_ASSERT_EQUAL(w.counts.n_failed, 0);
        check_taken(&w);
        exp_store_close(w.store);
    }
}

static void failures_are_named_and_tried_again(void)
{
    struct work w;

    begin(&w);
    w.failing = 3;
    CU_ASSERT_EQUAL(run(&w), 0);
    CU_ASSERT_EQUAL(w.counts.n_failed, TASKS_PER_JOB);
    CU_ASSERT_EQUAL(w.counts.n_run, N_TASKS - TASKS_PER_JOB);
    CU_ASSERT_STRING_EQUAL(w.counts.failure, "task 6: it was to fail");
    CU_ASSERT_EQUAL(scratch_sql(file, "SELECT count(*) FROM task WHERE state = 'failed' AND why = 'it was to fail'"),
                    2);
    w.failing = N_JOBS;
    CU_ASSERT_EQUAL(run(&w), 0);
    CU_ASSERT_EQUAL(w.counts.n_run, TASKS_PER_JOB);
    CU_ASSERT_EQUAL(w.counts.n_failed, 0);
    check_taken(&w);
    end(&w);
}

/* ---- results already in a store ---- */

static void stores_are_merged(void)
{
    struct work w;
    size_t n;

    begin_done(&w);
    exp_store_close(w.store);
    prepare(&w);
    CU_ASSERT_EQUAL_FATAL(exp_store_open(&w.store, scratch_path("a'; DROP.sqlite"), &w.why), 0);
    CU_ASSERT_EQUAL(exp_store_merge(w.store, scratch_path("none.sqlite"), &n, &w.why), -ENOENT);
    CU_ASSERT_NOT_EQUAL(access(scratch_path("none.sqlite"), F_OK), 0);
    CU_ASSERT_EQUAL(exp_store_merge(w.store, scratch_path(file), &n, &w.why), 0);
    CU_ASSERT_EQUAL(n, N_TASKS);
    CU_ASSERT_EQUAL(exp_store_merge(w.store, scratch_path(file), &n, &w.why), 0);
    CU_ASSERT_EQUAL(n, 0);
    CU_ASSERT_EQUAL(run(&w), 0);
    CU_ASSERT_EQUAL(w.counts.n_stored, N_TASKS);
    CU_ASSERT_EQUAL(w.counts.n_run, 0);
    check_taken(&w);
    end(&w);
}

static void a_store_is_not_merged_with_itself(void)
{
    struct work w;
    size_t n = 1;

    begin_done(&w);
    CU_ASSERT_EQUAL_FATAL(symlink(file, scratch_path("other.sqlite")), 0);
    CU_ASSERT_EQUAL(exp_store_merge(w.store, scratch_path("other.sqlite"), &n, &w.why), 0);
    CU_ASSERT_EQUAL(n, 0);
    end(&w);
}

static void stores_of_version_1_are_brought_up_to_date(void)
{
    struct work w;

    begin_done(&w);
    exp_store_close(w.store);
    scratch_sql(file, "ALTER TABLE task DROP COLUMN hash");
    scratch_sql(file, "DROP TABLE process");
    scratch_sql(file, "PRAGMA user_version = 1");
    scratch_sql(file, "DELETE FROM count WHERE task = 1");
    scratch_sql(file, "UPDATE count SET value = -5 WHERE task = 3 AND place = 0");
    begin_again(&w);
    CU_ASSERT_EQUAL(scratch_sql(file, "PRAGMA user_version"), EXP_STORE_VERSION);
    CU_ASSERT_EQUAL(run(&w), 0);
    CU_ASSERT_EQUAL(w.counts.n_run, 2 * TASKS_PER_JOB);
    CU_ASSERT_EQUAL(w.counts.n_stored, N_TASKS - 2 * TASKS_PER_JOB);
    CU_ASSERT_EQUAL(w.counts.n_damaged, 0);
    check_taken(&w);
    end(&w);
}

/* ---- damaged stores ---- */

/* Task 5 is in the third job. */
static const struct {
    const char *sql;
    size_t n_jobs;
} damages[] = {
    { "UPDATE task SET state = 'todo' WHERE id = 5", 1 }, /* the counts of task 5 are already there */
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
    char text[4096];
    struct work w;

    for (size_t i = 0; i < COUNT(damages); i++) {
        const bool is_seen = i > 0;

        begin_done(&w);
        exp_store_close(w.store);
        scratch_sql(file, damages[i].sql);
        begin_again(&w);
        CU_ASSERT_EQUAL(run_and_hear(&w, text, sizeof text), 0);
        test_check(w.counts.n_run == TASKS_PER_JOB * damages[i].n_jobs, "%s: %zu tasks were done", damages[i].sql,
                   w.counts.n_run);
        test_check(!is_seen || strstr(text, "' was damaged; it is made again"), "%s: said '%s'", damages[i].sql, text);
        CU_ASSERT_EQUAL(w.counts.n_run + w.counts.n_stored, N_TASKS);
        check_taken(&w);
        exp_store_close(w.store);
        begin_again(&w);
        CU_ASSERT_EQUAL(run(&w), 0);
        test_check(w.counts.n_stored == N_TASKS, "%s: damaged for ever", damages[i].sql);
        end(&w);
    }
}

/* Waits for many looks: a number that doubles with each look would overflow. */
static void whom_it_waits_for_is_said(void)
{
    char text[4096];
    struct work w;

    begin_done(&w);
    exp_store_close(w.store);
    scratch_sql(file, "DELETE FROM count WHERE task <= 6");
    scratch_sql(file, "UPDATE task SET state = 'running', hash = NULL, host = 'deadbox', pid = 77, started = 5 "
                      "WHERE id <= 6");
    begin_again(&w);
    w.silence_s = 7;
    CU_ASSERT_EQUAL(run_and_hear(&w, text, sizeof text), 0);
    CU_ASSERT_EQUAL(w.counts.n_run, 6);
    test_check(strstr(text, "waiting for 6 tasks of process 77 on deadbox, never heard of: if it is silent for ") &&
                   strstr(text, "STORE=no waits for nobody"),
               "it says '%s'", text);
    check_taken(&w);
    end(&w);
}

static void results_that_another_process_throws_away_are_made_again(void)
{
    struct work w;

    begin_done(&w);
    memset(w.taken, 0, sizeof w.taken);
    w.at_first_take = "UPDATE task SET state = 'todo', hash = NULL WHERE id IN (3, 4)"; /* the second job's */
    CU_ASSERT_EQUAL(run(&w), 0);
    CU_ASSERT_EQUAL(w.counts.n_run, TASKS_PER_JOB);
    CU_ASSERT_EQUAL(w.counts.n_stored, N_TASKS - TASKS_PER_JOB);
    check_taken(&w);
    end(&w);
}

static void a_store_that_loses_tasks_ends_the_run(void)
{
    struct work w;

    begin(&w);
    scratch_sql(file, "CREATE TRIGGER t AFTER INSERT ON task BEGIN DELETE FROM task WHERE id = new.id; END");
    CU_ASSERT_EQUAL(run(&w), -EINVAL);
    CU_ASSERT_TRUE(strstr(w.why.text, "is damaged") != NULL);
    end(&w);
}

/* ---- processes that end too early, and several ---- */

static void a_full_disk_costs_nothing_that_was_kept(void)
{
    struct work w;
    pid_t pid;
    int status;

    begin(&w);
    w.failing = 0; /* leaves something to do */
    CU_ASSERT_EQUAL(run(&w), 0);
    exp_store_close(w.store);
    pid = fork();
    if (!pid) {
        const struct rlimit limit = { 4096, 4096 };
        int err;

        signal(SIGXFSZ, SIG_IGN);
        w.failing = N_JOBS;
        err = exp_store_open(&w.store, scratch_path(file), &w.why);
        if (!err && !setrlimit(RLIMIT_FSIZE, &limit))
            err = run(&w);
        _exit((err == -EIO || err == -ENOSPC) && strstr(w.why.text, "results store") ? 0 : 1);
    }
    waitpid(pid, &status, 0);
    CU_ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    open_store(&w);
    w.failing = N_JOBS;
    CU_ASSERT_EQUAL(run(&w), 0);
    CU_ASSERT_EQUAL(w.counts.n_stored, N_TASKS - TASKS_PER_JOB);
    check_taken(&w);
    end(&w);
}

static void kills_lose_and_double_nothing(void)
{
    struct work w;
    unsigned n_killed = 0;
    int64_t most_ns = 20000000;

    begin(&w);
    exp_store_close(w.store);
    w.pause_ns = 10000000;
    for (unsigned i = 0; i < 100; i++) {
        pid_t pid = start_process(&w);
        const struct timespec life = { .tv_nsec = (long)rng_range(0, most_ns) };
        long long done = scratch_sql(file, n_done);
        int status;

        nanosleep(&life, NULL);
        kill(pid, SIGKILL);
        waitpid(pid, &status, 0);
        n_killed += WIFSIGNALED(status);
        /* About every fourth process leaves results, and few end by themselves, however busy the computer is. */
        most_ns = !WIFSIGNALED(status) || scratch_sql(file, n_done) != done ? most_ns / 2
                  : most_ns < 500000000                                     ? most_ns * 5 / 4
                                                                            : most_ns;
    }
    test_check(n_killed > 50, "only %u of 100 processes were killed", n_killed);
    CU_ASSERT_EQUAL(scratch_sql(file, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'"), 1);
    open_store(&w);
    w.pause_ns = 0;
    CU_ASSERT_EQUAL(run(&w), 0);
    CU_ASSERT_EQUAL(w.counts.n_stored + w.counts.n_run, N_TASKS);
    test_check(w.counts.n_stored > N_TASKS / 10, "only %zu results survived 100 kills", w.counts.n_stored);
    check_taken(&w);
    exp_store_close(w.store);
    CU_ASSERT_EQUAL(scratch_sql(file, n_done), N_TASKS);
    CU_ASSERT_EQUAL(scratch_sql(file, "SELECT count(*) FROM count"), 2 * N_TASKS);
}

static void two_processes_share_the_work(void)
{
    struct work w;
    char bytes[2 * N_JOBS];
    int log[2], status;
    pid_t pid[2];

    prepare(&w);
    CU_ASSERT_EQUAL_FATAL(pipe(log), 0);
    w.log = log[1];
    w.pause_ns = 2000000;
    for (int i = 0; i < 2; i++)
        pid[i] = start_process(&w);
    for (int i = 0; i < 2; i++) {
        waitpid(pid[i], &status, 0);
        CU_ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    close(log[1]);
    CU_ASSERT_EQUAL(read(log[0], bytes, sizeof bytes), N_JOBS); /* each job once */
    close(log[0]);
    CU_ASSERT_EQUAL(scratch_sql(file, n_done), N_TASKS);
}

static const struct test_case cases[] = {
    { "stores are merged", stores_are_merged },
    { "a store is not merged with itself", a_store_is_not_merged_with_itself },
    { "stores of version 1 are brought up to date", stores_of_version_1_are_brought_up_to_date },
    { "damaged results are made again", damaged_results_are_made_again },
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

const struct test_suite suite_tasks = { "tasks", cases };
