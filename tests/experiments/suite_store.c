/* The results store: results read back, owners of tasks, and files that are no store. */
#include "experiments/base/store.h"

#include <CUnit/CUnit.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "experiments/base/tasks.h"
#include "experiments/observe/observe.h"
#include "tests/rng.h"
#include "tests/scratch.h"
#include "tests/suites.h"

static const char file[] = "s.sqlite";

static const struct exp_task hostile = { .kind = "replay",
                                         .name = "conv'; DROP TABLE task; --\n<b>\"1\"</b>",
                                         .what = "what '\"%s\n",
                                         .setting = "a machine",
                                         .program = "v1" };
static const struct exp_task observed = { "observe", "a layer", "this", "toy", "guest 1" };

static struct exp_why why;

static struct exp_store *open_store(const char *name)
{
    struct exp_store *s;

    why.text[0] = '\0';
    CU_ASSERT_EQUAL_FATAL(exp_store_open(&s, scratch_path(name), &why), 0);
    return s;
}

/* Starts with an empty store. */
static struct exp_store *begin(void)
{
    return open_store(file);
}

/* Starts with a store that has a task. */
static struct exp_store *begin_with_task(int64_t *id)
{
    struct exp_store *s = begin();

    CU_ASSERT_EQUAL(exp_store_add(s, &hostile, 1, id, &why), 0);
    return s;
}

static void end(struct exp_store *s)
{
    exp_store_close(s);
    scratch_clear();
}

static enum exp_claim claim_of(struct exp_store *s, int64_t id, double silence_s)
{
    const struct exp_claim_rules rules = { .silence_s = silence_s };
    enum exp_claim claim = EXP_CLAIM_FAILED;

    CU_ASSERT_EQUAL(exp_store_claim(s, &id, 1, &rules, &claim, &why), 0);
    return claim;
}

/* ---- tasks and results ---- */

static void tasks_are_what_their_texts_say(void)
{
    struct exp_task other = hostile, same = hostile;
    struct exp_task three[3];
    int64_t id[3];
    struct exp_store *s = begin();

    other.setting = "another machine";
    same.name = "called otherwise";
    three[0] = hostile;
    three[1] = other;
    three[2] = same;
    CU_ASSERT_EQUAL(exp_store_add(s, three, 3, id, &why), 0);
    CU_ASSERT_NOT_EQUAL(id[0], id[1]);
    CU_ASSERT_EQUAL(id[0], id[2]);
    exp_store_close(s);
    CU_ASSERT_EQUAL(scratch_sql(file, "SELECT count(*) FROM task"), 2);
    CU_ASSERT_EQUAL(scratch_sql(file, "SELECT count(*) FROM task WHERE instr(name, char(10) || '<b>') > 0"), 2);
}

static void results_come_back(void)
{
    struct exp_outcome o = { .task = &hostile, .cpu = -1 };
    struct exp_store *s = begin_with_task(&o.id);
    struct exp_result back;
    uint64_t value;

    CU_ASSERT_EQUAL(exp_store_read(s, o.id, &hostile, &back, &why), -ENOENT);
    CU_ASSERT_EQUAL(claim_of(s, o.id, 0), EXP_CLAIM_TAKEN);
    exp_result_put(&o.result, "L1.read_misses", 42);
    exp_result_put(&o.result, "o'clock", INT64_MAX);
    CU_ASSERT_EQUAL(exp_store_finish(s, &o, 1, &why), 0);
    o.result.value[0] = 43; /* a second result of a task changes nothing */
    CU_ASSERT_EQUAL(exp_store_finish(s, &o, 1, &why), 0);
    exp_result_release(&o.result);
    exp_store_close(s);
    s = open_store(file);
    CU_ASSERT_EQUAL(claim_of(s, o.id, 0), EXP_CLAIM_DONE);
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
    end(s);
}

static void one_damaged_result_is_no_result(void)
{
    struct exp_result r = { 0 };
    struct exp_store *s = begin();

    exp_result_put(&r, "a", 1);
    CU_ASSERT_EQUAL(exp_tasks_keep(s, &observed, &r, 0.5, &why), 0);
    scratch_sql(file, "UPDATE count SET value = 2");
    exp_result_release(&r);
    CU_ASSERT_EQUAL(exp_tasks_find(s, &observed, &r, &why), -ENOENT);
    exp_result_put(&r, "a", 1);
    CU_ASSERT_EQUAL(exp_tasks_keep(s, &observed, &r, 0.5, &why), 0);
    exp_result_release(&r);
    CU_ASSERT_EQUAL(exp_tasks_find(s, &observed, &r, &why), 0);
    exp_result_release(&r);
    end(s);
}

/* An observation with something of everything. */
static void fill_observation(struct watch_result *seen)
{
    *seen = (struct watch_result){ .n_buffers = 2, .n_outside = 2, .stats.n_levels = 3 };
    for (unsigned tag = 0; tag < SIM_USUAL_TAGS; tag++) {
        struct sim_cell *c = &seen->stats.cell[tag][rng_below(CONV_N_PHASES)];

        c->loads = 1 + rng_below(1000);
        c->level[rng_below(3)].load_misses = rng_below(100);
        c->memory_read_lines = rng_below(3);
    }
    seen->instructions[rng_below(CONV_N_PHASES)][WATCH_MMA] = 1 + rng_below(99);
    seen->buffer[0] = (struct watch_buffer){ .address = UINT64_C(1) << 47, .bytes = 77, .tag = 1 };
    seen->buffer[1] = (struct watch_buffer){ .address = 4096, .bytes = 1, .tag = 3, .is_learned = true };
    seen->outside[0] = (struct watch_outside){ "memcpy", 3, true, 3, 0 };
    seen->outside[1] = (struct watch_outside){ "?", 0, false, 0, 4 };
    seen->outside_lines[rng_below(CONV_N_PHASES)] = 7;
    seen->masked_loads = 9;
}

static void observations_come_back(void)
{
    struct watch_result *seen = calloc(2, sizeof *seen), *back = seen + 1;
    struct exp_result r = { 0 };
    struct sim_machine toy;
    struct exp_store *s = begin();

    CU_ASSERT_FATAL(seen && !sim_machine_read(&toy, "sim/machines/toy.cfg", why.text, sizeof why.text));
    CU_ASSERT_EQUAL(exp_tasks_find(s, &observed, &r, &why), -ENOENT);
    CU_ASSERT_EQUAL(scratch_sql(file, "SELECT count(*) FROM task"), 0);
    fill_observation(seen);
    exp_observed_result_put(&r, &toy, seen);
    CU_ASSERT_EQUAL(exp_tasks_keep(s, &observed, &r, 0.5, &why), 0);
    exp_result_release(&r);
    CU_ASSERT_EQUAL(exp_tasks_find(s, &observed, &r, &why), 0);
    CU_ASSERT_EQUAL(exp_observed_result_get(&r, &toy, back), 0);
    CU_ASSERT(!memcmp(seen, back, sizeof *seen));
    exp_result_put(&r, "nothing of ours", 1);
    CU_ASSERT_EQUAL(exp_observed_result_get(&r, &toy, back), -EINVAL);
    exp_result_release(&r);
    end(s);
    free(seen);
}

/* ---- whose a task is ---- */

static void claims_of_the_dead_are_taken_again(void)
{
    const struct exp_claim_rules rules = { 0 };
    enum exp_claim claim;
    int64_t id;
    struct exp_store *s = begin_with_task(&id);
    int ready[2];
    pid_t pid;
    char byte;

    CU_ASSERT_EQUAL_FATAL(pipe(ready), 0);
    pid = fork();
    if (!pid) {
        struct exp_store *own;

        if (exp_store_open(&own, scratch_path(file), &why) || exp_store_claim(own, &id, 1, &rules, &claim, &why) ||
            write(ready[1], "x", 1) != 1)
            _exit(1);
        pause();
        _exit(1);
    }
    CU_ASSERT_EQUAL_FATAL(read(ready[0], &byte, 1), 1);
    CU_ASSERT_EQUAL(claim_of(s, id, 0), EXP_CLAIM_ELSEWHERE);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    CU_ASSERT_EQUAL(claim_of(s, id, 0), EXP_CLAIM_TAKEN);
    exp_store_close(s);
    CU_ASSERT_EQUAL(scratch_sql(file, "SELECT count(*) FROM task WHERE state = 'todo'"), 1); /* given back */
    /* A later process with an equal number is a different process; a process of a different host may live. */
    CU_ASSERT_EQUAL(scratch_sql(file, "UPDATE task SET state = 'running', started = started + 1"), -1);
    s = open_store(file);
    CU_ASSERT_EQUAL(claim_of(s, id, 0), EXP_CLAIM_TAKEN);
    exp_store_close(s);
    CU_ASSERT_EQUAL(scratch_sql(file, "UPDATE task SET state = 'running', host = 'far.away'"), -1);
    s = open_store(file);
    CU_ASSERT_EQUAL(claim_of(s, id, 0), EXP_CLAIM_ELSEWHERE);
    exp_store_close(s);
    close(ready[0]);
    close(ready[1]);
}

static void sleep_for(double seconds)
{
    const struct timespec t = { .tv_sec = (time_t)seconds, .tv_nsec = (long)(1e9 * fmod(seconds, 1)) };

    nanosleep(&t, NULL);
}

static void leases_run_out(void)
{
    static const char far[] = "UPDATE task SET state = 'running', host = 'far.away', pid = 7, started = 9";
    static const double silence = 0.05;
    int64_t id;
    struct exp_store *s = begin_with_task(&id);

    scratch_sql(file, far);
    scratch_sql(file, "INSERT INTO process VALUES ('far.away', 7, 9, 1, '2026-01-01T00:00:00Z')");
    CU_ASSERT_EQUAL(claim_of(s, id, silence), EXP_CLAIM_ELSEWHERE);
    sleep_for(2 * silence);
    scratch_sql(file, "UPDATE process SET beat = 2"); /* the process lives */
    CU_ASSERT_EQUAL(claim_of(s, id, silence), EXP_CLAIM_ELSEWHERE);
    sleep_for(2 * silence);
    CU_ASSERT_EQUAL(claim_of(s, id, 0), EXP_CLAIM_ELSEWHERE); /* usually, more is waited for */
    CU_ASSERT_EQUAL(claim_of(s, id, silence), EXP_CLAIM_TAKEN);
    exp_store_close(s);
    CU_ASSERT_EQUAL(scratch_sql(file, "SELECT count(*) FROM process"), 0);
}

static void leases_that_nobody_can_have_are_none(void)
{
    static const char *const nobody[] = { "host = 'far.away', pid = 0", "host = 'far.away', pid = -1",
                                          "host = 'far.away', pid = 1 << 40", "host = '', pid = 5",
                                          "host = NULL, pid = NULL" };
    int64_t id;
    struct exp_store *s = begin_with_task(&id);
    char sql[160];

    for (size_t i = 0; i < COUNT(nobody); i++) {
        snprintf(sql, sizeof sql, "UPDATE task SET state = 'running', started = 9, %s", nobody[i]);
        scratch_sql(file, sql);
        test_check(claim_of(s, id, 0) == EXP_CLAIM_TAKEN, "a task of %s was left alone", nobody[i]);
    }
    end(s);
}

static void leases_are_renewed(void)
{
    static const char beat[] = "SELECT beat FROM process";
    int64_t id;
    struct exp_store *s = begin_with_task(&id);
    long long first;

    CU_ASSERT_EQUAL(claim_of(s, id, 0), EXP_CLAIM_TAKEN);
    first = scratch_sql(file, beat);
    CU_ASSERT_TRUE(first > 0);
    for (int i = 0; i < 6000 && scratch_sql(file, beat) == first; i++)
        sleep_for(0.01);
    CU_ASSERT_TRUE(scratch_sql(file, beat) > first);
    end(s);
}

/* ---- files that are no store ---- */

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

    scratch_text("text.sqlite", "This is no database at all, but a text that is long enough to be looked at.\n");
    refuses("text.sqlite", "not a results store, or damaged");
    memset(block + 16, 0xa5, sizeof block - 16);
    scratch_write("torn.sqlite", block, sizeof block);
    refuses("torn.sqlite", "damaged");
    exp_store_close(open_store("future.sqlite"));
    scratch_sql("future.sqlite", "PRAGMA user_version = 3");
    refuses("future.sqlite", "version 3, and this program knows version 2");
    scratch_sql("other.sqlite", "CREATE TABLE task (id)");
    refuses("other.sqlite", "another program");
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
    { "one damaged result is no result", one_damaged_result_is_no_result },
    { NULL, NULL },
};

const struct test_suite suite_store = { "store", cases };
