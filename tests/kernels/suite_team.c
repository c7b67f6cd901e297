/* Teams: every share is done once, by any thread, and whatever becomes of the threads. */
#define _GNU_SOURCE /* pthread_setattr_default_np */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kernels/lib/sconv_shape.h"
#include "kernels/lib/team.h"
#include "tests/failing_alloc.h"
#include "tests/kernels/kcheck.h"
#include "tests/rng.h"
#include "tests/suites.h"

enum { MS = 1000000, MAX_TEAM = 6 };

static void rest(long ns)
{
    nanosleep(&(struct timespec){ 0, ns }, NULL);
}

/* Counts how often each share was done, and says how long each takes. */
struct shares {
    unsigned n;
    long ns;
    atomic_uint done[SCONV_MAX_THREADS];
};

static void count(void *ctx, unsigned share)
{
    struct shares *s = ctx;

    if (s->ns)
        rest(s->ns);
    atomic_fetch_add_explicit(&s->done[share], 1, memory_order_relaxed);
}

/* Returns whether a call did each share once. */
static bool does_each_once(struct sconv_team *team, unsigned n, long ns)
{
    struct shares s = { .n = n, .ns = ns };
    bool is_right = true;

    conv_team_run(team, n, &(struct conv_team_job){ count, &s });
    for (unsigned i = 0; i < SCONV_MAX_THREADS; i++)
        is_right = is_right && atomic_load(&s.done[i]) == (i < n);
    return is_right;
}

static struct sconv_team *team_of(unsigned threads)
{
    struct sconv_team *team = NULL;

    CU_ASSERT_FATAL(sconv_team_create(&team, threads) == 0);
    return team;
}

/* Some calls find the threads awake, some asleep, some shares outlast the caller's patience. */
static void every_share_is_done_once(void)
{
    for (unsigned round = 0; round < test_rounds(12); round++) {
        struct sconv_team *team = round % 4 ? team_of((unsigned)rng_below(MAX_TEAM + 1)) : NULL;

        for (unsigned i = 0; i < 40; i++) {
            const unsigned n = (unsigned)rng_below(rng_below(2) ? SCONV_MAX_THREADS + 1 : MAX_TEAM);

            CU_ASSERT(does_each_once(team, n, i % 8 == 7 ? MS / 3 : 0));
            if (!rng_below(6))
                rest(MS / 3);
        }
        sconv_team_free(team);
    }
}

/* ---- several callers ---- */

struct caller {
    struct sconv_team *team;
    bool is_right;
    pthread_t thread;
};

static void *call(void *ctx)
{
    struct caller *c = ctx;

    c->is_right = true;
    for (unsigned i = 0; i < 200; i++)
        c->is_right = does_each_once(c->team, 1 + i % 5, i % 50 ? 0 : MS / 10) && c->is_right;
    return NULL;
}

static void callers_share_a_team(void)
{
    enum { N_CALLERS = 4 };

    for (unsigned round = 0; round < test_rounds(4); round++) {
        struct sconv_team *team[2] = { team_of(3), team_of(2) };
        struct caller c[N_CALLERS];

        for (int i = 0; i < N_CALLERS; i++) {
            c[i].team = team[i % 2];
            CU_ASSERT_FATAL(!pthread_create(&c[i].thread, NULL, call, &c[i]));
        }
        for (int i = 0; i < N_CALLERS; i++) {
            pthread_join(c[i].thread, NULL);
            CU_ASSERT(c[i].is_right);
        }
        sconv_team_free(team[0]);
        sconv_team_free(team[1]);
    }
}

/* Work that runs further work on its own team. */
static void call_again(void *ctx, unsigned share)
{
    struct caller *c = ctx;

    if (!share)
        c->is_right = does_each_once(c->team, 4, 0);
}

static void work_may_call_its_team(void)
{
    struct caller c = { .team = team_of(2) };

    conv_team_run(c.team, 2, &(struct conv_team_job){ call_again, &c });
    CU_ASSERT(c.is_right);
    sconv_team_free(c.team);
}

/* ---- lives of teams ---- */

static void teams_come_and_go(void)
{
    for (unsigned i = 0; i < test_rounds(100); i++) {
        struct sconv_team *team = team_of((unsigned)rng_below(MAX_TEAM));

        if (rng_below(2))
            CU_ASSERT(does_each_once(team, 3, 0));
        if (!rng_below(20))
            rest(MS / 3);
        sconv_team_free(team);
    }
}

static void bad_teams_are_refused(void)
{
    struct sconv_team *team = (struct sconv_team *)(void *)&team;

    CU_ASSERT_EQUAL(sconv_team_create(&team, SCONV_MAX_THREADS + 1), -EINVAL);
    CU_ASSERT_PTR_NULL(team);
    CU_ASSERT_EQUAL(sconv_team_create(NULL, 2), -EINVAL);
    failing_alloc_after(0);
    CU_ASSERT_EQUAL(sconv_team_create(&team, 2), -ENOMEM);
    CU_ASSERT_EQUAL(failing_alloc_stop(), 1);
    CU_ASSERT_PTR_NULL(team);
    CU_ASSERT_EQUAL(sconv_team_threads(NULL), 0);
    sconv_team_free(NULL);
    for (unsigned n = 0; n < 4; n++) {
        team = team_of(n);
        CU_ASSERT_EQUAL(sconv_team_threads(team), n ? n : 1);
        sconv_team_free(team);
    }
}

/* No address space has room for the stacks of the threads. */
static void missing_threads_cost_time_alone(void)
{
    pthread_attr_t usual, huge;
    struct sconv_team *team;

    CU_ASSERT_FATAL(!pthread_getattr_default_np(&usual));
    CU_ASSERT_FATAL(!pthread_attr_init(&huge) && !pthread_attr_setstacksize(&huge, (size_t)1 << 60));
    CU_ASSERT_FATAL(!pthread_setattr_default_np(&huge));
    team = team_of(4);
    CU_ASSERT_EQUAL(sconv_team_threads(team), 1);
    CU_ASSERT(does_each_once(team, 5, 0) && does_each_once(NULL, 5, 0));
    sconv_team_free(team);
    CU_ASSERT_FATAL(!pthread_setattr_default_np(&usual));
    pthread_attr_destroy(&huge);
    pthread_attr_destroy(&usual);
}

/* The child has the team's memory, and none of the team's threads. */
static void a_child_runs_alone(void)
{
    struct sconv_team *team = team_of(3);
    int status = -1;
    pid_t child;

    CU_ASSERT(does_each_once(team, 3, 0));
    child = fork();
    if (!child) {
        bool is_right;

        alarm(20); /* a child that waits for threads would wait for ever */
        is_right = does_each_once(team, 5, 0);
        sconv_team_free(team);
        _exit(is_right ? 7 : 1);
    }
    CU_ASSERT(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7);
    CU_ASSERT(does_each_once(team, 5, 0));
    sconv_team_free(team);
}

/* Runs while its own cancellation is due. */
static void *run_cancelled(void *ctx)
{
    struct caller *c = ctx;

    pthread_cancel(pthread_self());
    c->is_right = does_each_once(c->team, 4, MS);
    pthread_testcancel();
    return NULL;
}

/* The shares sleep: a cancellation would end a share, and would end waiting for shares. */
static void cancellation_waits_for_the_run(void)
{
    struct sconv_team *const teams[] = { NULL, team_of(3) };

    for (size_t i = 0; i < 2; i++) {
        struct caller c = { .team = teams[i] };
        void *result = NULL;

        CU_ASSERT_FATAL(!pthread_create(&c.thread, NULL, run_cancelled, &c));
        pthread_join(c.thread, &result);
        CU_ASSERT(c.is_right && result == PTHREAD_CANCELED);
        CU_ASSERT(does_each_once(teams[i], 4, 0));
        sconv_team_free(teams[i]);
    }
}

static void idle_teams_sleep(void)
{
    enum { IDLE_MS = 60 };
    struct sconv_team *team = team_of(2); /* every computer of two cores has cores for the team */
    clock_t before;

    CU_ASSERT(does_each_once(team, 4, 0));
    before = clock();
    rest((long)IDLE_MS * MS);
    CU_ASSERT((double)(clock() - before) / CLOCKS_PER_SEC < IDLE_MS / 6e3);
    sconv_team_free(team);
}

/* ---- convolutions ---- */

static void run_plan(struct sconv_team *team, const struct sconv_plan *plan, const struct kcheck *k, float *out)
{
    const size_t bytes = sconv_workspace_bytes(plan);
    void *workspace = calloc(1, bytes);

    CU_ASSERT_FATAL(workspace != NULL);
    CU_ASSERT_EQUAL(sconv_team_run(team, plan, k->in, out, NULL, workspace, bytes), 0);
    CU_ASSERT_EQUAL(sconv_team_run(team, plan, k->in, out, NULL, workspace, bytes - 1), -ENOBUFS);
    free(workspace);
}

/* One team, plans of all shapes and numbers of threads, one after another. */
static void teams_compute_as_one_thread_does(void)
{
    struct sconv_team *team = team_of(3);
    struct sconv_machine *m;

    CU_ASSERT_FATAL(sconv_machine_create(&m, "sim/machines/toy.cfg", NULL, 0) == 0);
    for (unsigned round = 0; round < test_rounds(100); round++) {
        struct conv_problem p = kcheck_random_problem();
        const struct sconv_shape shape = sconv_shape_of(&p);
        const struct sconv_options o = { .threads = 2 + (unsigned)rng_below(5), .activation = SCONV_RELU };
        const struct sconv_options one = { .activation = SCONV_RELU };
        const size_t n_out = p.n * p.k * conv_windows(&p);
        float *alone = calloc(n_out, sizeof *alone), *together = calloc(n_out, sizeof *together);
        struct sconv_plan *plan[2];
        struct kcheck k;

        CU_ASSERT_FATAL(alone && together && kcheck_init(&k, &p, false) == 0);
        CU_ASSERT_FATAL(sconv_plan_create(&plan[0], &shape, m, k.filter, &one) == 0);
        CU_ASSERT_FATAL(sconv_plan_create(&plan[1], &shape, m, k.filter, &o) == 0);
        memset(together, 0xff, n_out * sizeof *together);
        run_plan(team, plan[0], &k, alone);
        run_plan(team, plan[1], &k, together);
        test_check(memcmp(alone, together, n_out * sizeof *alone) == 0, "%s: %u threads compute something else",
                   kcheck_describe(&p), o.threads);
        sconv_plan_free(plan[0]);
        sconv_plan_free(plan[1]);
        kcheck_release(&k);
        free(alone);
        free(together);
    }
    sconv_machine_free(m);
    sconv_team_free(team);
}

static const struct test_case cases[] = {
    { "every share is done once, by threads that are awake or asleep", every_share_is_done_once },
    { "several callers share teams", callers_share_a_team },
    { "work may call its own team", work_may_call_its_team },
    { "teams come and go", teams_come_and_go },
    { "bad teams are refused", bad_teams_are_refused },
    { "threads that cannot be started cost time alone", missing_threads_cost_time_alone },
    { "a child process runs alone", a_child_runs_alone },
    { "a cancellation waits for the run", cancellation_waits_for_the_run },
    { "idle teams sleep", idle_teams_sleep },
    { "teams compute what one thread does, bit for bit", teams_compute_as_one_thread_does },
    { NULL, NULL },
};

const struct test_suite suite_team = { "team", cases };
