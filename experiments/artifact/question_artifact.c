/*
 * Which claims of the papers and of this project hold here? Every command of the file of claims runs as a user would type
 * the command, and every claim is judged by a number in the tables that the command leaves.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "counters/host/ctr_timer.h"
#include "experiments/artifact/artifact.h"
#include "experiments/base/program.h"
#include "experiments/base/text.h"
#include "experiments/bench/course/course.h"
#include "experiments/bench/course/options_shared.h"
#include "experiments/bench/course/output.h"

enum { MOST_WORDS = 32, LIMIT_S = 3600, EXIT_NOT_REPRODUCED = 1, ROWS = 9 };

struct options {
    const char *claims, *results, *commit;
    unsigned is_smoke, more;
};

struct session {
    struct options options;
    struct artifact claims;
    size_t n_reproduced, n_commands;
    double seconds;
    struct exp_results results;
    char what[256];
    struct exp_why why;
};

static int prepare(void *session)
{
    struct session *s = session;

    exp_say(s->what, sizeof s->what, "Claims, each tried by its command; commit %s",
            *s->options.commit ? s->options.commit : "unknown");
    return artifact_read(&s->claims, s->options.claims, s->options.is_smoke, &s->why);
}

/* ---- the commands ---- */

/* Runs a command. Leaves "" in why, or the reason why the command failed. Returns 0, or -EINTR. */
static int run(const char *command, const char *results, char *why, size_t bytes)
{
    static const char *const clean[] = { "env", "-u", "MAKEFLAGS", "-u", "MFLAGS", "-u", "MAKELEVEL" };
    char *words = exp_copy_text(command), *place = exp_format("RESULTS=%s", results), *next = words, last[256];
    const char *argv[MOST_WORDS + sizeof clean / sizeof clean[0] + 2] = { NULL };
    size_t n = sizeof clean / sizeof clean[0];
    int status = 0, err;

    memcpy(argv, clean, sizeof clean);
    for (char *word; n < sizeof argv / sizeof argv[0] - 2 && (word = strtok_r(next, " ", &next));)
        argv[n++] = word;
    if (!strncmp(command, "make ", 5))
        argv[n++] = place;
    err = exp_process_run(argv, LIMIT_S, exp_interrupted, &status, last, sizeof last);
    *why = '\0';
    if (err)
        exp_say(why, bytes, "%s: %s", argv[sizeof clean / sizeof clean[0]], exp_error_text(err));
    else if (!WIFEXITED(status) || WEXITSTATUS(status))
        exp_say(why, bytes, "%s %d%s%s", WIFEXITED(status) ? "exit status" : "ended by signal",
                WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status), *last ? ": " : "", last);
    free(place);
    free(words);
    return err == -EINTR ? err : 0;
}

static bool is_first_of_command(const struct artifact *c, size_t i)
{
    for (size_t k = 0; k < i; k++) {
        if (!strcmp(c->claim[k].command, c->claim[i].command))
            return false;
    }
    return true;
}

/* Runs the command of claim `first`, and judges all claims with this command. */
static int try_command(struct session *s, size_t first)
{
    const char *const command = s->claims.claim[first].command;
    char why[ARTIFACT_WHY_BYTES];
    const uint64_t began = ctr_now_ns();
    int err = run(command, s->options.results, why, sizeof why);

    if (err)
        return exp_fail(&s->why, err, "interrupted");
    s->claims.claim[first].seconds = 1e-9 * (double)(ctr_now_ns() - began);
    s->seconds += s->claims.claim[first].seconds;
    for (size_t i = first; i < s->claims.n; i++) {
        if (!strcmp(s->claims.claim[i].command, command)) {
            artifact_judge(&s->claims.claim[i], s->options.results, *why ? why : NULL);
            s->n_reproduced += s->claims.claim[i].is_reproduced;
        }
    }
    return 0;
}

static int work(void *session)
{
    struct session *s = session;
    double seconds[EXP_N_WORKS] = { 0 };
    struct exp_progress *progress;
    int err = 0;

    for (size_t i = 0; i < s->claims.n; i++)
        s->n_commands += is_first_of_command(&s->claims, i);
    seconds[EXP_WORK_REPLAY] = (double)s->n_commands;
    progress = exp_progress_new(stderr, exp_progress_is_terminal(stderr), seconds, ctr_now_ns);
    exp_progress_live(progress);
    for (size_t i = 0; i < s->claims.n && !err; i++) {
        if (!is_first_of_command(&s->claims, i))
            continue;
        exp_progress_begin(progress, EXP_WORK_REPLAY, s->claims.claim[i].command, "running");
        err = try_command(s, i);
        exp_progress_step(progress, EXP_WORK_REPLAY, 1);
    }
    exp_progress_free(progress);
    return err;
}

/* ---- the answer ---- */

static int write_table(void *session)
{
    struct session *s = session;

    return rec_write(&artifact_table, s->claims.claim, s->claims.n, &s->results.dir, s->what, &s->why);
}

static int print_verdict(const void *session, FILE *out)
{
    const struct session *s = session;

    fprintf(out, "%zu of %zu claims are reproduced, by %zu commands in %.0f s.\n", s->n_reproduced, s->claims.n,
            s->n_commands, s->seconds);
    for (size_t i = 0; i < s->claims.n; i++) {
        const struct artifact_claim *c = &s->claims.claim[i];

        fprintf(out, "%-4s %-14s %s (%s)\n     %s: ", c->id, c->is_reproduced ? "reproduced" : "NOT REPRODUCED",
                c->says, c->source, c->rule);
        if (value_is_known(c->found))
            fprintf(out, "found %.6g", c->found.number);
        else
            fprintf(out, "%s", c->found.why);
        fprintf(out, "%s%s\n     %s\n", *c->why ? "; " : "", c->why, c->command);
    }
    return 0;
}

static void fill_screen(const void *session, struct exp_screen *screen)
{
    const struct session *s = session;
    size_t n = 0;

    exp_screen_title(screen, "%zu claims of %s", s->claims.n, s->options.claims);
    exp_screen_say(screen, s->n_reproduced == s->claims.n ? EXP_GOOD : EXP_BAD,
                   "%zu of %zu claims are reproduced, by %zu commands in %.0f s.", s->n_reproduced, s->claims.n,
                   s->n_commands, s->seconds);
    exp_screen_row(screen, "%s", s->n_reproduced == s->claims.n ? "claim" : "not reproduced");
    exp_screen_cell(screen, EXP_PLAIN, "expected");
    exp_screen_cell(screen, EXP_PLAIN, "found");
    for (size_t i = 0; i < s->claims.n && n < ROWS; i++) {
        const struct artifact_claim *c = &s->claims.claim[i];

        if (c->is_reproduced != (s->n_reproduced == s->claims.n))
            continue;
        exp_screen_row(screen, "%s %.55s", c->id, c->says);
        exp_screen_cell(screen, EXP_PLAIN, "%s", c->rule);
        exp_screen_number(screen, c->is_reproduced ? EXP_GOOD : EXP_BAD, c->found.number);
        n++;
    }
    exp_screen_open(screen, "%s/artifact.csv", s->results.path);
    exp_screen_next(screen, "MORE=1 behind this command", "every claim with its command: " EXP_OUTPUT_FILE);
}

static void release(void *session)
{
    artifact_release(&((struct session *)session)->claims);
}

static int status(const void *session)
{
    const struct session *s = session;

    return s->n_reproduced == s->claims.n ? 0 : EXIT_NOT_REPRODUCED;
}

#define OPTIONS struct options

static const struct exp_option options[] = {
    EXP_PATH("CLAIMS", "file of claims (default experiments/artifact/claims.csv; experiments/artifact/README.md)",
             claims, "experiments/artifact/claims.csv"),
    EXP_WORD("SMOKE", "1: the quick claims alone, two minutes; 0 (default): all claims", is_smoke, 0, "0", "1"),
    EXP_MORE_OPTION,
    EXP_FOLDER("RESULTS",
               "folder for results (default results): the commands leave their results there, and the table of claims "
               "goes to RESULTS/host/artifact/",
               results, "results"),
    EXP_COMMIT_OPTION,
    EXP_OPTIONS_END,
};

const struct exp_question question_artifact = {
    .name = "artifact",
    .asks = "Which claims of the papers and of this project hold here?",
    .wants = { "results: see every claim tried|make artifact" },
    .takes = "Some 20 minutes; two with SMOKE=1. The exit status is 1 unless every claim is reproduced.",
    .examples = { "make artifact", "make artifact SMOKE=1" },
    .options = options,
    .place = &(const struct exp_results_layout){ "/artifact", false, "artifact.csv", NULL },
    .chapter = { "artifact.csv", "claims tried", NULL },
    EXP_SESSION(struct session),
    EXP_RESULTS(struct session),
    .tables = { &artifact_table },
    .prepare = prepare,
    .prepares_from_files = true,
    .work = work,
    .write = write_table,
    .verdict = print_verdict,
    .screen = fill_screen,
    .release = release,
    .status = status,
};
