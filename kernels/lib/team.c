#define _GNU_SOURCE /* sched_getaffinity */
#include "kernels/lib/team.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

/*
 * Spinning for this time costs about as much as falling asleep and being woken: it at most doubles the cost of waiting.
 */
enum { SPIN_NS = 100000, LOOKS = 32 };

enum { TEAM_LINE = 64 }; /* bytes: data that different threads write lie on lines of their own */

/* Tells whether a share of the current round is taken: twice the round's number; one more once a thread has it. */
struct ticket {
    _Alignas(TEAM_LINE) atomic_uint_least64_t taken;
};

struct member {
    struct sconv_team *team;
    unsigned number; /* the caller of a round is number 0 */
    pthread_t thread;
};

struct sconv_team {
    _Alignas(TEAM_LINE) atomic_uint_least64_t round; /* of the last job */
    struct conv_team_job job;
    atomic_uint n_shares;
    atomic_bool ends, is_busy;
    bool has_cores; /* for each thread a core */
    cpu_set_t allowed;
    int avoided;   /* the core that the members leave to the caller; -1: none yet */
    pid_t process; /* a child's copy has no threads */
    unsigned n_started;
    pthread_mutex_t lock; /* held to fall asleep and to wake threads */
    pthread_cond_t has_work, is_done;
    atomic_uint n_asleep; /* of the members */
    atomic_bool caller_sleeps;
    _Alignas(TEAM_LINE) atomic_uint n_left; /* shares that are not done */
    struct ticket ticket[SCONV_MAX_THREADS];
    struct member member[SCONV_MAX_THREADS];
};

/* ---- waiting ---- */

static void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory");
#elif defined(__powerpc64__)
    __asm__ volatile("or 27,27,27" ::: "memory");
#endif
}

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

typedef bool (*is_over_fn)(struct sconv_team *t, uint64_t what);

/* Spins for a bounded time. Returns whether the event has come. */
static bool spin(struct sconv_team *t, is_over_fn is_over, uint64_t what)
{
    const uint64_t end = t->has_cores ? now_ns() + SPIN_NS : 0;

    do {
        for (int i = 0; i < LOOKS; i++) {
            if (is_over(t, what))
                return true;
            relax();
        }
    } while (t->has_cores && now_ns() < end);
    return false;
}

static bool has_begun(struct sconv_team *t, uint64_t after)
{
    return atomic_load(&t->round) != after;
}

static bool is_done(struct sconv_team *t, uint64_t unused)
{
    (void)unused;
    return !atomic_load(&t->n_left);
}

/*
 * A thread that falls asleep says so, then looks again; a thread that changes the state does so, then looks for
 * sleepers. All four accesses are sequentially consistent, so either the sleeper sees the change or the changer sees
 * the sleeper.
 */
static void wait_for_work(struct sconv_team *t, uint64_t after)
{
    if (spin(t, has_begun, after))
        return;
    pthread_mutex_lock(&t->lock);
    atomic_fetch_add(&t->n_asleep, 1);
    while (!has_begun(t, after))
        pthread_cond_wait(&t->has_work, &t->lock);
    atomic_fetch_sub(&t->n_asleep, 1);
    pthread_mutex_unlock(&t->lock);
}

static void wait_for_threads(struct sconv_team *t)
{
    if (spin(t, is_done, 0))
        return;
    pthread_mutex_lock(&t->lock);
    atomic_store(&t->caller_sleeps, true);
    while (!is_done(t, 0))
        pthread_cond_wait(&t->is_done, &t->lock);
    atomic_store(&t->caller_sleeps, false);
    pthread_mutex_unlock(&t->lock);
}

static void wake(struct sconv_team *t, pthread_cond_t *who)
{
    pthread_mutex_lock(&t->lock);
    pthread_cond_broadcast(who);
    pthread_mutex_unlock(&t->lock);
}

/* ---- rounds ---- */

/*
 * Takes shares of a round that no thread has, `first` before the rest. A late thread, whose round is over, finds no
 * ticket of its round; a thread with a ticket keeps the round from ending, so the job is the round's.
 */
static void take_shares(struct sconv_team *t, uint64_t round, unsigned first)
{
    const unsigned n = atomic_load_explicit(&t->n_shares, memory_order_relaxed);

    for (unsigned k = 0; k < n; k++) {
        const unsigned share = (first + k) % n;
        uint_least64_t is_free = 2 * round;

        if (!atomic_compare_exchange_strong(&t->ticket[share].taken, &is_free, is_free + 1))
            continue;
        t->job.work(t->job.ctx, share);
        if (atomic_fetch_sub(&t->n_left, 1) == 1 && atomic_load(&t->caller_sleeps))
            wake(t, &t->is_done);
    }
}

static void *serve(void *ctx)
{
    const struct member *m = ctx;
    struct sconv_team *t = m->team;

    for (uint64_t round = 0;;) {
        wait_for_work(t, round);
        round = atomic_load(&t->round);
        if (atomic_load(&t->ends))
            return NULL;
        take_shares(t, round, m->number);
    }
}

/* Keeps members off the caller's core: a scheduler may leave a thread there, behind the caller, for milliseconds. */
static void leave_core(struct sconv_team *t)
{
    const int core = sched_getcpu();
    cpu_set_t others = t->allowed;

    if (!t->has_cores || core < 0 || core == t->avoided)
        return;
    CPU_CLR((size_t)core, &others);
    for (unsigned i = 1; i <= t->n_started; i++)
        pthread_setaffinity_np(t->member[i].thread, sizeof others, &others);
    t->avoided = core;
}

static void begin_round(struct sconv_team *t)
{
    leave_core(t);
    atomic_fetch_add(&t->round, 1);
    if (atomic_load(&t->n_asleep))
        wake(t, &t->has_work);
}

static void run_round(struct sconv_team *t, unsigned n_shares, const struct conv_team_job *job)
{
    const uint64_t round = atomic_load(&t->round) + 1;

    t->job = *job;
    atomic_store_explicit(&t->n_shares, n_shares, memory_order_relaxed);
    atomic_store_explicit(&t->n_left, n_shares, memory_order_relaxed);
    for (unsigned i = 0; i < n_shares; i++)
        atomic_store_explicit(&t->ticket[i].taken, 2 * round, memory_order_relaxed);
    begin_round(t);
    take_shares(t, round, 0);
    wait_for_threads(t);
}

/* ---- a team's life ---- */

/* Finds whether each thread can have a core: if not, a waiting thread takes a core from a working thread. */
static void find_cores(struct sconv_team *t, unsigned threads)
{
    t->avoided = -1;
    t->has_cores = !sched_getaffinity(0, sizeof t->allowed, &t->allowed) && (unsigned)CPU_COUNT(&t->allowed) >= threads;
}

/* Signals are for the threads of the program. */
static void start_members(struct sconv_team *t, unsigned threads)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (unsigned i = 1; i < threads; i++) {
        t->member[i] = (struct member){ .team = t, .number = i };
        if (pthread_create(&t->member[i].thread, NULL, serve, &t->member[i]))
            break;
        t->n_started++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    leave_core(t);
}

static void start(struct sconv_team *t, unsigned threads)
{
    memset(t, 0, sizeof *t);
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->has_work, NULL);
    pthread_cond_init(&t->is_done, NULL);
    find_cores(t, threads);
    t->process = getpid();
    start_members(t, threads);
}

/* Ends the threads; in a child process there are none. */
static void stop(struct sconv_team *t)
{
    int state;

    if (t->process != getpid())
        return;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    atomic_store(&t->ends, true);
    begin_round(t);
    for (unsigned i = 1; i <= t->n_started; i++)
        pthread_join(t->member[i].thread, NULL);
    pthread_cond_destroy(&t->is_done);
    pthread_cond_destroy(&t->has_work);
    pthread_mutex_destroy(&t->lock);
    pthread_setcancelstate(state, NULL);
}

static void run_alone(unsigned n_shares, const struct conv_team_job *job)
{
    for (unsigned i = 0; i < n_shares; i++)
        job->work(job->ctx, i);
}

static void run_together(struct sconv_team *t, unsigned n_shares, const struct conv_team_job *job)
{
    if (!t->n_started || t->process != getpid() || atomic_exchange(&t->is_busy, true)) {
        run_alone(n_shares, job);
        return;
    }
    run_round(t, n_shares, job);
    atomic_store(&t->is_busy, false);
}

void conv_team_run(struct sconv_team *team, unsigned n_shares, const struct conv_team_job *job)
{
    struct sconv_team own;
    int state;

    assert(n_shares <= SCONV_MAX_THREADS && job->work);
    if (n_shares < 2) {
        run_alone(n_shares, job);
        return;
    }
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    if (!team)
        start(&own, n_shares);
    run_together(team ? team : &own, n_shares, job);
    if (!team)
        stop(&own);
    pthread_setcancelstate(state, NULL);
}

int sconv_team_create(struct sconv_team **team, unsigned threads)
{
    void *memory;
    int err;

    if (!team)
        return -EINVAL;
    *team = NULL;
    if (threads > SCONV_MAX_THREADS)
        return -EINVAL;
    err = posix_memalign(&memory, TEAM_LINE, sizeof(struct sconv_team));
    if (err)
        return -err;
    *team = memory;
    start(*team, threads);
    return 0;
}

unsigned sconv_team_threads(const struct sconv_team *team)
{
    return team ? team->n_started + 1 : 0;
}

void sconv_team_free(struct sconv_team *team)
{
    if (!team)
        return;
    stop(team);
    free(team);
}
