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

#include "experiments/observe/exp_observed_result.h"
#include "experiments/store/exp_tasks.h"
#include "kernels/ukr/ukr.h"
#include "tests/rng.h"
#include "tests/scratch.h"
#include "tests/suites.h"

enum { N_TASKS = 120, TASKS_PER_JOB = 2, N_JOBS = N_TASKS / TASKS_PER_JOB };

static char why[512];

static struct exp_store *open_store(const char *name)
{
    struct exp_store *s;

    why[0] = '\0';
    CU_ASSERT_EQUAL_FATAL(exp_store_open(&s, scratch_path(name), why, sizeof why), 0);
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

/* ---- tasks to run ---- */

struct work {
    char text[N_TASKS][32];
    struct exp_task task[N_TASKS];
    size_t first[N_JOBS + 1];
    uint64_t taken[N_TASKS]; /* results, + 1 */
    int log;                 /* a byte is written for every job that is run; -1: none */
    long pause_ns;
    size_t failing; /* a job that fails; N_JOBS: none */
};

static uint64_t right_result(size_t task)
{
    return task * task + 7;
}

static int run_one(void *ctx, size_t job, const struct exp_pool *pool, struct exp_result *result, char *reason,
                   size_t reason_bytes)
{
    const struct work *w = ctx;
    const struct timespec pause = { .tv_nsec = w->pause_ns };

    (void)pool;
    if (w->pause_ns)
        nanosleep(&pause, NULL);
    if (w->log >= 0 && write(w->log, "x", 1) != 1)
        return -ENOMEM;
    if (job == w->failing) {
        snprintf(reason, reason_bytes, "it was to fail");
        return -EIO;
    }
    for (size_t i = 0; i < TASKS_PER_JOB; i++) {
        exp_result_put(&result[i], "square", right_result(w->first[job] + i));
        exp_result_put(&result[i], "other", 1);
    }
    return 0;
}

static int take_one(void *ctx, size_t task, const struct exp_result *r)
{
    struct work *w = ctx;
    uint64_t value;

    CU_ASSERT_EQUAL(exp_result_get(r, "square", &value), 0);
    w->taken[task] = value + 1;
    return 0;
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
    const struct exp_tasks_options o = { .store = store, .n_threads = 2, .rules.retries_failed = true };

    return exp_tasks_run(&tasks, &o, counts, why, sizeof why);
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
        int err = exp_store_open(&s, scratch_path(name), why, sizeof why);

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
    CU_ASSERT_EQUAL(exp_store_add(s, three, 3, id, why, sizeof why), 0);
    CU_ASSERT_NOT_EQUAL(id[0], id[1]);
    CU_ASSERT_EQUAL(id[0], id[2]);
    exp_store_close(s);
    CU_ASSERT_EQUAL(ask("s.sqlite", "SELECT count(*) FROM task"), 2);
    CU_ASSERT_EQUAL(ask("s.sqlite", "SELECT count(*) FROM task WHERE instr(name, char(10) || '<b>') > 0"), 2);
    scratch_close();
}

static void results_come_back(void)
{
    struct exp_outcome o = { .failure = NULL, .cpu = -1 };
    const struct exp_claim_rules rules = { 0 };
    struct exp_result back;
    enum exp_claim claim;
    struct exp_store *s;
    uint64_t value;

    scratch_open();
    s = open_store("s.sqlite");
    CU_ASSERT_EQUAL(exp_store_add(s, &hostile, 1, &o.id, why, sizeof why), 0);
    CU_ASSERT_EQUAL(exp_store_read(s, o.id, &back, why, sizeof why), -ENOENT);
    CU_ASSERT_EQUAL(exp_store_claim(s, &o.id, 1, &rules, &claim, why, sizeof why), 0);
    CU_ASSERT_EQUAL(claim, EXP_CLAIM_TAKEN);
    exp_result_put(&o.result, "L1.read_misses", 42);
    exp_result_put(&o.result, "o'clock", INT64_MAX);
    CU_ASSERT_EQUAL(exp_store_finish(s, &o, 1, why, sizeof why), 0);
    o.result.value[0] = 43; /* a second result of the same task changes nothing */
    CU_ASSERT_EQUAL(exp_store_finish(s, &o, 1, why, sizeof why), 0);
    exp_result_release(&o.result);
    exp_store_close(s);
    s = open_store("s.sqlite");
    CU_ASSERT_EQUAL(exp_store_claim(s, &o.id, 1, &rules, &claim, why, sizeof why), 0);
    CU_ASSERT_EQUAL(claim, EXP_CLAIM_DONE);
    CU_ASSERT_EQUAL(exp_store_read(s, o.id, &back, why, sizeof why), 0);
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
    CU_ASSERT_EQUAL(exp_store_add(s, &hostile, 1, &id, why, sizeof why), 0);
    CU_ASSERT_EQUAL_FATAL(pipe(ready), 0);
    pid = fork();
    if (!pid) {
        struct exp_store *own;

        if (exp_store_open(&own, scratch_path("s.sqlite"), why, sizeof why) ||
            exp_store_claim(own, &id, 1, &rules, &claim, why, sizeof why) || write(ready[1], "x", 1) != 1)
            _exit(1);
        pause();
        _exit(1);
    }
    CU_ASSERT_EQUAL_FATAL(read(ready[0], &byte, 1), 1);
    CU_ASSERT_EQUAL(exp_store_claim(s, &id, 1, &rules, &claim, why, sizeof why), 0);
    CU_ASSERT_EQUAL(claim, EXP_CLAIM_ELSEWHERE);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    CU_ASSERT_EQUAL(exp_store_claim(s, &id, 1, &rules, &claim, why, sizeof why), 0);
    CU_ASSERT_EQUAL(claim, EXP_CLAIM_TAKEN);
    exp_store_close(s);
    CU_ASSERT_EQUAL(ask("s.sqlite", "SELECT count(*) FROM task WHERE state = 'todo'"), 1); /* given back */
    /* A later process of the same number is another one; one of another host may live. */
    CU_ASSERT_EQUAL(ask("s.sqlite", "UPDATE task SET state = 'running', started = started + 1"), -1);
    s = open_store("s.sqlite");
    CU_ASSERT_EQUAL(exp_store_claim(s, &id, 1, &rules, &claim, why, sizeof why), 0);
    CU_ASSERT_EQUAL(claim, EXP_CLAIM_TAKEN);
    exp_store_close(s);
    CU_ASSERT_EQUAL(ask("s.sqlite", "UPDATE task SET state = 'running', host = 'far.away'"), -1);
    s = open_store("s.sqlite");
    CU_ASSERT_EQUAL(exp_store_claim(s, &id, 1, &rules, &claim, why, sizeof why), 0);
    CU_ASSERT_EQUAL(claim, EXP_CLAIM_ELSEWHERE);
    CU_ASSERT_EQUAL(exp_store_claim(s, &id, 1, &(struct exp_claim_rules){ .takes_from_other_hosts = true }, &claim, why,
                                    sizeof why),
                    0);
    CU_ASSERT_EQUAL(claim, EXP_CLAIM_TAKEN);
    exp_store_close(s);
    close(ready[0]);
    close(ready[1]);
    scratch_close();
}

static void refuses(const char *name, const char *words)
{
    struct exp_store *s;

    why[0] = '\0';
    test_check(exp_store_open(&s, scratch_path(name), why, sizeof why) == -EINVAL && !s, "%s: was opened", words);
    test_check(strstr(why, words) && strstr(why, name) && !strchr(why, '\n'), "'%s' is not in '%s'", words, why);
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
    ask("future.sqlite", "PRAGMA user_version = 2");
    refuses("future.sqlite", "version 2, and this program knows version 1");
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
    CU_ASSERT_EQUAL(exp_store_merge(a, scratch_path("none.sqlite"), &n, why, sizeof why), -ENOENT);
    CU_ASSERT_NOT_EQUAL(access(scratch_path("none.sqlite"), F_OK), 0);
    CU_ASSERT_EQUAL(exp_store_merge(a, scratch_path("b.sqlite"), &n, why, sizeof why), 0);
    CU_ASSERT_EQUAL(n, N_TASKS);
    CU_ASSERT_EQUAL(exp_store_merge(a, scratch_path("b.sqlite"), &n, why, sizeof why), 0);
    CU_ASSERT_EQUAL(n, 0);
    prepare(&w);
    CU_ASSERT_EQUAL(run_tasks(&w, a, &counts), 0);
    CU_ASSERT_EQUAL(counts.n_stored, N_TASKS);
    CU_ASSERT_EQUAL(counts.n_run, 0);
    check_taken(&w);
    exp_store_close(a);
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
        /* On a busy computer everything takes longer. */
        most_ns += ask("s.sqlite", n_done) == done && done < N_TASKS && most_ns < 500000000 ? 1000000 : 0;
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
        err = exp_store_open(&s, scratch_path("s.sqlite"), why, sizeof why);
        if (!err && !setrlimit(RLIMIT_FSIZE, &limit))
            err = run_tasks(&w, s, &counts);
        _exit((err == -EIO || err == -ENOSPC) && strstr(why, "results store") ? 0 : 1);
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
    CU_ASSERT_FATAL(seen && !sim_machine_read(&toy, "sim/machines/toy.cfg", why, sizeof why));
    CU_ASSERT_EQUAL(exp_tasks_find(s, &task, &r, why, sizeof why), -ENOENT);
    CU_ASSERT_EQUAL(ask("s.sqlite", "SELECT count(*) FROM task"), 0);
    fill_observation(seen);
    exp_observed_result_put(&r, &toy, seen);
    CU_ASSERT_EQUAL(exp_tasks_keep(s, &task, &r, 0.5, why, sizeof why), 0);
    exp_result_release(&r);
    CU_ASSERT_EQUAL(exp_tasks_find(s, &task, &r, why, sizeof why), 0);
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
    { "other files are refused", other_files_are_refused },
    { "stores are merged", stores_are_merged },
    { "work is done once", work_is_done_once },
    { "failures are named and tried again", failures_are_named_and_tried_again },
    { "kills lose and double nothing", kills_lose_and_double_nothing },
    { "two processes share the work", two_processes_share_the_work },
    { "a full disk costs nothing that was kept", a_full_disk_costs_nothing_that_was_kept },
    { NULL, NULL },
};

const struct test_suite suite_store = { "store", cases };
