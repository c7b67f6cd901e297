/* Result directories: complete or not there, whatever happens on the way. */
#include <CUnit/CUnit.h>
#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "experiments/base/outdir.h"
#include "experiments/base/program.h"
#include "tests/failing_alloc.h"
#include "tests/suites.h"

/* Each test works in a folder of its own under /tmp. */
struct fixture {
    char top[64];
    char path[128]; /* top/results */
};

static void set_up(struct fixture *f)
{
    snprintf(f->top, sizeof f->top, "/tmp/suite_exp_outdir.XXXXXX");
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(f->top));
    snprintf(f->path, sizeof f->path, "%s/results", f->top);
}

static void shell(const char *format, const char *path)
{
    char command[512];

    snprintf(command, sizeof command, format, path);
    CU_ASSERT_EQUAL_FATAL(system(command), 0);
}

static void tear_down(struct fixture *f)
{
    shell("rm -rf '%1$s'", f->top);
}

/* Counts the entries of a directory, hidden entries included; -1 if the directory is missing. */
static int count_entries(const char *path)
{
    DIR *dir = opendir(path);
    struct dirent *entry;
    int n = 0;

    if (!dir)
        return -1;
    while ((entry = readdir(dir)))
        n += strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
    closedir(dir);
    return n;
}

static void put_file(const char *path, const char *text)
{
    FILE *out = fopen(path, "w");

    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    fputs(text, out);
    fclose(out);
}

static void put_result(const struct exp_outdir *d, const char *file, const char *text)
{
    char *path = exp_outdir_file(d, file);

    CU_ASSERT_PTR_NOT_NULL_FATAL(path);
    put_file(path, text);
    free(path);
}

static bool holds(const char *directory, const char *file, const char *text)
{
    char path[256], got[64] = "";
    FILE *in;

    snprintf(path, sizeof path, "%s/%s", directory, file);
    in = fopen(path, "r");
    if (!in)
        return false;
    got[fread(got, 1, sizeof got - 1, in)] = '\0';
    fclose(in);
    return !strcmp(got, text);
}

static void open_outdir(struct exp_outdir *d, const char *path)
{
    struct exp_why why = { "" };

    CU_ASSERT_FATAL(test_check(!exp_outdir_open(d, path, "layers.csv", &why), "%s", why.text));
}

static void commit_result(const char *path, const char *text)
{
    struct exp_outdir d;
    struct exp_why why = { "" };

    open_outdir(&d, path);
    put_result(&d, "layers.csv", text);
    test_check(!exp_outdir_commit(&d, &why), "%s", why.text);
}

static void test_commit(void)
{
    struct fixture f;
    struct exp_outdir d;
    struct exp_why why = { "" };

    set_up(&f);
    open_outdir(&d, f.path);
    put_result(&d, "layers.csv", "one");
    CU_ASSERT_EQUAL(count_entries(f.path), -1); /* not there before */
    CU_ASSERT_EQUAL(exp_outdir_commit(&d, &why), 0);
    CU_ASSERT(holds(f.path, "layers.csv", "one"));
    CU_ASSERT_EQUAL(count_entries(f.path), 1); /* no lock left */
    CU_ASSERT_EQUAL(count_entries(f.top), 1);
    exp_outdir_abort(&d); /* nothing left to do */
    CU_ASSERT(holds(f.path, "layers.csv", "one"));
    tear_down(&f);
}

static void test_replace(void)
{
    struct fixture f;
    struct exp_outdir d;
    struct exp_why why = { "" };

    set_up(&f);
    commit_result(f.path, "old");
    shell("mkdir -p '%1$s/sub/deep' && cd '%1$s' && echo x > sub/deep/file && ln -s /etc sub/link", f.path);
    open_outdir(&d, f.path);
    put_result(&d, "layers.csv", "new");
    CU_ASSERT(holds(f.path, "layers.csv", "old"));
    CU_ASSERT_EQUAL(exp_outdir_commit(&d, &why), 0);
    CU_ASSERT(holds(f.path, "layers.csv", "new"));
    CU_ASSERT_EQUAL(count_entries(f.path), 1);
    CU_ASSERT_EQUAL(count_entries(f.top), 1);
    CU_ASSERT_EQUAL(access("/etc/passwd", F_OK), 0); /* the link was removed, not followed */
    tear_down(&f);
}

static void test_abort(void)
{
    struct fixture f;
    struct exp_outdir d;

    set_up(&f);
    commit_result(f.path, "old");
    open_outdir(&d, f.path);
    put_result(&d, "layers.csv", "new");
    exp_outdir_abort(&d);
    CU_ASSERT(holds(f.path, "layers.csv", "old"));
    CU_ASSERT_EQUAL(count_entries(f.top), 1);
    exp_outdir_abort(&d);
    tear_down(&f);
}

static void test_parents(void)
{
    struct fixture f;
    struct exp_outdir d;
    char path[256];

    set_up(&f);
    snprintf(path, sizeof path, "%s/a//b//c/", f.top);
    open_outdir(&d, path);
    exp_outdir_abort(&d);
    CU_ASSERT_EQUAL(count_entries(f.top), 0);
    commit_result(path, "x");
    CU_ASSERT(holds(path, "layers.csv", "x"));
    open_outdir(&d, path);
    exp_outdir_abort(&d);
    CU_ASSERT(holds(path, "layers.csv", "x"));
    tear_down(&f);
}

static void test_relative(void)
{
    struct fixture f;
    char here[512];

    set_up(&f);
    CU_ASSERT_PTR_NOT_NULL_FATAL(getcwd(here, sizeof here));
    CU_ASSERT_EQUAL_FATAL(chdir(f.top), 0);
    commit_result("results", "x");
    CU_ASSERT_EQUAL_FATAL(chdir(here), 0);
    CU_ASSERT(holds(f.path, "layers.csv", "x"));
    tear_down(&f);
}

static void test_foreign_directory(void)
{
    struct fixture f;
    struct exp_outdir d;
    char file[256];
    struct exp_why why = { "" };

    set_up(&f);
    shell("mkdir '%1$s'", f.path);
    commit_result(f.path, "into an empty one");
    shell("rm '%1$s/layers.csv'", f.path);
    snprintf(file, sizeof file, "%s/thesis.tex", f.path);
    put_file(file, "precious");
    CU_ASSERT_EQUAL(exp_outdir_open(&d, f.path, "layers.csv", &why), -EEXIST);
    CU_ASSERT_PTR_NOT_NULL(strstr(why.text, "is no earlier result (it has no layers.csv): not replaced"));
    CU_ASSERT(holds(f.path, "thesis.tex", "precious"));
    CU_ASSERT_EQUAL(count_entries(f.top), 1);
    CU_ASSERT_EQUAL(exp_outdir_open(&d, file, "layers.csv", &why), -EEXIST); /* a file */
    tear_down(&f);
}

static void test_foreign_directory_appears(void)
{
    struct fixture f;
    struct exp_outdir d;
    struct exp_why why = { "" };

    set_up(&f);
    open_outdir(&d, f.path);
    put_result(&d, "layers.csv", "new");
    shell("mkdir '%1$s' && echo precious > '%1$s/thesis.tex'", f.path);
    CU_ASSERT_EQUAL(exp_outdir_commit(&d, &why), -EEXIST);
    exp_outdir_abort(&d);
    CU_ASSERT(holds(f.path, "thesis.tex", "precious\n"));
    tear_down(&f);
}

static void test_incomplete(void)
{
    struct fixture f;
    struct exp_outdir d;
    struct exp_why why = { "" };

    set_up(&f);
    commit_result(f.path, "old");
    open_outdir(&d, f.path);
    put_result(&d, "other.csv", "new");
    CU_ASSERT_EQUAL(exp_outdir_commit(&d, &why), -EINVAL);
    CU_ASSERT_PTR_NOT_NULL(strstr(why.text, "are incomplete: no layers.csv"));
    exp_outdir_abort(&d);
    CU_ASSERT(holds(f.path, "layers.csv", "old"));
    tear_down(&f);
}

struct bad_path {
    const char *path;
    int err;
};

static void test_bad_paths(void)
{
    static const struct bad_path bad[] = {
        { "", -EINVAL },          { "/", -EINVAL }, { "..", -EINVAL },
        { "x/..", -EINVAL },      { ".", -EINVAL }, { "/dev/null/x/results", -ENOTDIR },
        { "/proc/x/y", -ENOENT },
    };

    for (size_t i = 0; i < COUNT(bad); i++) {
        struct exp_outdir d;
        struct exp_why why = { "" };
        int err = exp_outdir_open(&d, bad[i].path, "layers.csv", &why);

        test_check(err == bad[i].err && strstr(why.text, bad[i].path), "'%s': %d, %s", bad[i].path, err, why.text);
    }
}

static void test_bad_path_leaves_parents(void)
{
    struct fixture f;
    struct exp_outdir d;
    char path[256];
    struct exp_why why;

    set_up(&f);
    snprintf(path, sizeof path, "%s/..", f.top);
    CU_ASSERT_EQUAL(exp_outdir_open(&d, path, "layers.csv", &why), -EINVAL);
    CU_ASSERT_EQUAL(count_entries(f.top), 0); /* -1 if the folder had been taken for a folder made by us */
    tear_down(&f);
}

/* Opens in a child that is not root, whoever runs the tests. */
static int open_unprivileged(const char *path)
{
    int status = 0;
    pid_t pid = fork();

    if (!pid) {
        struct exp_outdir d;
        struct exp_why why = { "" };

        if (!geteuid() && (setegid(65534) || seteuid(65534)))
            _exit(1);
        if (exp_outdir_open(&d, path, "layers.csv", &why) != -EACCES)
            _exit(2);
        _exit(strstr(why.text, "cannot write results to '") && strstr(why.text, ": Permission denied") ? 0 : 3);
    }
    CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_unwritable_parent(void)
{
    struct fixture f;
    char deeper[256];

    set_up(&f);
    snprintf(deeper, sizeof deeper, "%s/a/b", f.path);
    chmod(f.top, 0555);
    CU_ASSERT_EQUAL(open_unprivileged(f.path), 0);
    CU_ASSERT_EQUAL(open_unprivileged(deeper), 0);
    chmod(f.top, 0755);
    CU_ASSERT_EQUAL(count_entries(f.top), 0);
    tear_down(&f);
}

/* Starts a child that opens a directory, writes, tells us and waits to be killed, or exits at once. */
static pid_t start_writer(const char *path, bool stays)
{
    int pipe_fd[2];
    pid_t pid;
    char byte;

    CU_ASSERT_EQUAL_FATAL(pipe(pipe_fd), 0);
    pid = fork();
    if (!pid) {
        struct exp_outdir d;
        struct exp_why why;
        bool is_open = !exp_outdir_open(&d, path, "layers.csv", &why);

        if (!is_open || write(pipe_fd[1], "x", 1) != 1)
            _exit(1);
        while (stays)
            pause();
        _exit(0);
    }
    close(pipe_fd[1]);
    CU_ASSERT_EQUAL(read(pipe_fd[0], &byte, 1), 1);
    close(pipe_fd[0]);
    return pid;
}

static void test_dead_leftovers(void)
{
    struct fixture f;
    struct exp_outdir d;

    set_up(&f);
    CU_ASSERT(waitpid(start_writer(f.path, false), NULL, 0) > 0);
    CU_ASSERT_EQUAL(count_entries(f.top), 1); /* left by the dead child */
    open_outdir(&d, f.path);
    CU_ASSERT_EQUAL(count_entries(f.top), 1); /* ours instead */
    exp_outdir_abort(&d);
    CU_ASSERT_EQUAL(count_entries(f.top), 0);
    tear_down(&f);
}

static void test_live_neighbour(void)
{
    struct fixture f;
    struct exp_outdir d;
    pid_t pid;

    set_up(&f);
    pid = start_writer(f.path, true);
    open_outdir(&d, f.path);
    CU_ASSERT_EQUAL(count_entries(f.top), 2);
    exp_outdir_abort(&d);
    CU_ASSERT_EQUAL(count_entries(f.top), 1);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    open_outdir(&d, f.path);
    exp_outdir_abort(&d);
    CU_ASSERT_EQUAL(count_entries(f.top), 0);
    tear_down(&f);
}

/* Returns the number of an ended process. */
static pid_t dead_pid(void)
{
    pid_t pid = fork();

    if (!pid)
        _exit(0);
    waitpid(pid, NULL, 0);
    return pid;
}

static void test_interrupted_swap(void)
{
    struct fixture f;
    struct exp_outdir d;
    char old[256];

    set_up(&f);
    snprintf(old, sizeof old, "%s/.results.old.%ld", f.top, (long)dead_pid());
    commit_result(f.path, "old");
    CU_ASSERT_EQUAL_FATAL(rename(f.path, old), 0); /* killed between the two renames */
    open_outdir(&d, f.path);
    CU_ASSERT(holds(f.path, "layers.csv", "old"));
    exp_outdir_abort(&d);
    CU_ASSERT_EQUAL(count_entries(f.top), 1);
    shell("cp -r '%1$s' \"$(dirname '%1$s')/.results.old.999999999\"",
          f.path); /* killed before the old folder was removed */
    CU_ASSERT_EQUAL(count_entries(f.top), 2);
    open_outdir(&d, f.path);
    exp_outdir_abort(&d);
    CU_ASSERT(holds(f.path, "layers.csv", "old"));
    CU_ASSERT_EQUAL(count_entries(f.top), 1);
    tear_down(&f);
}

static void test_similar_names(void)
{
    struct fixture f;
    struct exp_outdir d;

    set_up(&f);
    shell("cd '%1$s' && mkdir .results.partial.1x .results2.partial.999999999 .results.partial. "
          "results.partial.999999999 && touch .results2.partial.999999999/own",
          f.top);
    open_outdir(&d, f.path);
    exp_outdir_abort(&d);
    CU_ASSERT_EQUAL(count_entries(f.top), 4);
    tear_down(&f);
}

/* Leftovers of a killed run of another question: a living process may have the run's number by now. */
static void test_others_leftovers(void)
{
    struct fixture f;
    struct exp_outdir d, other;
    char path[300];

    set_up(&f);
    snprintf(path, sizeof path, "%s/other,conv1", f.top);
    open_outdir(&other, path); /* this process writes the folder: the folder stays */
    snprintf(path, sizeof path, "%s/.third.partial.%ld", f.top, (long)getppid());
    CU_ASSERT_EQUAL_FATAL(mkdir(path, 0777), 0);
    shell("cd '%1$s' && mkdir .fifth.old.999999999 && cd .third.* && touch .lock layers.csv", f.top);
    open_outdir(&d, f.path);
    CU_ASSERT_EQUAL(count_entries(f.top), 3); /* the two open folders, and the unknown folder */
    CU_ASSERT(access(path, F_OK) != 0);
    exp_outdir_abort(&d);
    exp_outdir_abort(&other);
    CU_ASSERT_EQUAL(count_entries(f.top), 1);
    tear_down(&f);
}

static int print_nothing(void *ctx, FILE *out)
{
    (void)ctx;
    (void)out;
    return 0;
}

static void test_leftover_files(void)
{
    struct fixture f;
    struct exp_why why;
    char path[300];

    set_up(&f);
    snprintf(path, sizeof path, "%s/own.cfg", f.top);
    shell("cd '%1$s' && touch own.cfg.partial.999999999 own.cfg.partial.1x other.cfg.partial.999999999 && "
          "mkdir own.cfg.partial.999999998",
          f.top);
    test_check(!exp_file_write(path, print_nothing, NULL, &why), "%s", why.text);
    CU_ASSERT_EQUAL(count_entries(f.top), 4); /* the file, another's, no number, a folder */
    tear_down(&f);
}

/* ---- interruption: children that send signals to themselves ---- */

static const struct timespec tick = { .tv_nsec = 1000000 };

static const int signals[] = { SIGINT, SIGTERM, SIGHUP };

enum { N_SIGNALS = COUNT(signals) };

static double seconds_between(const struct timespec *start, const struct timespec *end)
{
    return (double)(end->tv_sec - start->tv_sec) + (double)(end->tv_nsec - start->tv_nsec) * 1e-9;
}

/* Opens a directory with a file, sends itself the signal several times, and waits until the flag is set. */
static void be_interrupted(struct exp_outdir *d, const char *path, int number, int times)
{
    struct exp_why why;

    signal(number, SIG_DFL); /* a shell's background job is started with SIGINT ignored, and would wait for ever */
    if (exp_signal_install("suite") || exp_interrupted() || exp_outdir_open(d, path, "layers.csv", &why))
        _exit(1);
    put_result(d, "layers.csv", "half");
    for (int i = 0; i < times; i++) {
        kill(getpid(), number);
        while (!exp_interrupted()) /* two signals that come together are one */
            nanosleep(&tick, NULL);
    }
}

static void clean_up(struct exp_outdir *d)
{
    exp_outdir_abort(d);
    exp_signal_end();
    _exit(3);
}

/* Hangs as a program does that never polls, or polls once in hours. */
static void hang(struct exp_outdir *d)
{
    (void)d;
    for (;;)
        pause();
}

/* Checks that a child, whatever `then` does after the signals, ends in time by the first signal, and leaves nothing. */
static void check_interruption(void (*then)(struct exp_outdir *), int times, double at_most_s)
{
    for (size_t i = 0; i < N_SIGNALS; i++) {
        struct fixture f;
        struct timespec start, end;
        int status = 0;
        pid_t pid;

        set_up(&f);
        clock_gettime(CLOCK_MONOTONIC, &start);
        pid = fork();
        if (!pid) {
            struct exp_outdir d;

            CU_ASSERT_PTR_NOT_NULL(freopen("/dev/null", "w", stderr));
            be_interrupted(&d, f.path, signals[i], times);
            then(&d);
        }
        CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
        clock_gettime(CLOCK_MONOTONIC, &end);
        test_check(WIFSIGNALED(status) && WTERMSIG(status) == signals[i], "signal %d: status %x", signals[i],
                   (unsigned)status);
        test_check(seconds_between(&start, &end) < at_most_s, "signal %d: %g s", signals[i],
                   seconds_between(&start, &end));
        CU_ASSERT_EQUAL(count_entries(f.top), 0);
        tear_down(&f);
    }
}

static void test_polled_signal(void)
{
    check_interruption(clean_up, 1, 1);
}

static void test_unheeded_signal(void)
{
    check_interruption(hang, 1, 1);
}

static void test_second_signal(void)
{
    check_interruption(hang, 2, 0.4);
}

/* A started program does not keep signals for a watcher that it does not have, nor ignores a closed pipe. */
static void test_signals_of_others(void)
{
    static const char *const kills[][4] = { { "sh", "-c", "kill -TERM $$" }, { "sh", "-c", "kill -PIPE $$" } };
    static const int number[] = { SIGTERM, SIGPIPE };

    for (size_t i = 0; i < 2; i++) {
        int status = 0;
        pid_t pid = fork();

        if (!pid) {
            char last[64];

            if (exp_signal_install("suite") || exp_process_run(kills[i], 60, NULL, &status, last, sizeof last))
                _exit(1);
            _exit(WIFSIGNALED(status) && WTERMSIG(status) == number[i] ? 0 : 2);
        }
        CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
        test_check(WIFEXITED(status) && !WEXITSTATUS(status), "signal %d: status %x", number[i], (unsigned)status);
    }
}

static void test_ignored_signal(void)
{
    int status = 0;
    pid_t pid = fork();

    if (!pid) {
        signal(SIGHUP, SIG_IGN);
        if (exp_signal_install("suite"))
            _exit(1);
        kill(getpid(), SIGHUP);
        nanosleep(&tick, NULL);
        exp_signal_end();
        _exit(exp_interrupted() ? 2 : 0);
    }
    CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
    CU_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

struct committing {
    struct exp_outdir d;
    char *path;
};

static void open_and_commit(void *ctx)
{
    struct committing *c = ctx;
    struct exp_why why;

    failing_alloc_stop();
    if (!exp_outdir_open(&c->d, c->path, "a.csv", &why))
        put_result(&c->d, "a.csv", "1");
    failing_alloc_after(0);
    exp_outdir_commit(&c->d, &why);
}

/* If memory ends before results are in place, no results and no parts of results are left. */
static void test_no_memory(void)
{
    struct committing c;
    struct fixture f;

    set_up(&f);
    c.path = f.path;
    CU_ASSERT(failing_alloc_ends(0, open_and_commit, &c));
    CU_ASSERT_EQUAL(count_entries(f.top), 0);
    tear_down(&f);
}

static const struct test_case cases[] = {
    { "want of memory leaves nothing behind", test_no_memory },
    { "a directory appears at commit, without anything else", test_commit },
    { "an earlier result is replaced as a whole", test_replace },
    { "abort leaves the earlier result and nothing else", test_abort },
    { "missing parents are made, and removed by abort", test_parents },
    { "a relative path works", test_relative },
    { "a directory that is no result is not replaced", test_foreign_directory },
    { "nor is one that appears meanwhile", test_foreign_directory_appears },
    { "a directory without its marker is not committed", test_incomplete },
    { "paths that name no directory are refused", test_bad_paths },
    { "a refused path costs nobody a directory", test_bad_path_leaves_parents },
    { "an unwritable parent is reported at once", test_unwritable_parent },
    { "what a dead process left is removed", test_dead_leftovers },
    { "what a living process writes is left alone", test_live_neighbour },
    { "an interrupted swap is put right", test_interrupted_swap },
    { "names that only look alike are left alone", test_similar_names },
    { "what a killed run of another name left is removed", test_others_leftovers },
    { "what a killed process left of a file is removed", test_leftover_files },
    { "a signal ends a program that polls cleanly", test_polled_signal },
    { "a signal ends a program that does not, as cleanly", test_unheeded_signal },
    { "a second signal ends it at once, as cleanly", test_second_signal },
    { "programs that are started get their signals", test_signals_of_others },
    { "a signal that was ignored stays so", test_ignored_signal },
    { NULL, NULL },
};

const struct test_suite suite_exp_outdir = { "exp_outdir", cases };
