/*
 * Simulated prefetchers beside what real ones did: recorded patterns replayed on a machine, its parameters fitted to
 * them. `calibrate --help` lists the options; the Makefile passes them on.
 */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_program.h"
#include "experiments/calibrate/exp_comparison.h"
#include "experiments/calibrate/exp_fit.h"
#include "experiments/calibrate/exp_recorded.h"
#include "experiments/calibrate/exp_timed.h"
#include "experiments/setup/exp_machine.h"

enum { MAX_ACCESSES = 16384, FIT_ACCESSES = 600, MAX_SWEEPS = 9 };

struct options {
    const char *patterns, *machine, *out, *fit, *rows;
};

struct session {
    struct options o;
    struct sim_machine machine;
    char why[1024];
};

static const struct {
    const char *name;
    size_t offset;
    const char *usual, *text;
} known[] = {
    { "PATTERNS", offsetof(struct options, patterns), "results/reference/zen3/patterns/patterns.csv",
      "recorded counts or times (what they may be: results/reference/*/*/README.md)" },
    { "MACHINE", offsetof(struct options, machine), "zen3", "the simulated machine, with its prefetchers" },
    { "FIT", offsetof(struct options, fit), "0", "sweeps of the fit over all parameters at most, 0 to 9; 0: none" },
    { "ROWS", offsetof(struct options, rows), "yes", "a line for every pattern: yes or no" },
    { "OUT", offsetof(struct options, out), "", "where the fitted machine is written to; not at all if empty" },
};

enum { N_KNOWN = sizeof known / sizeof known[0] };

static const char **option(struct options *o, size_t i)
{
    return (const char **)(void *)((char *)o + known[i].offset);
}

static void print_help(void)
{
    puts("calibrate [NAME=VALUE...]: simulated prefetchers beside recorded ones");
    for (size_t i = 0; i < N_KNOWN; i++)
        printf("  %-9s %s (%s)\n", known[i].name, known[i].text, known[i].usual);
}

static int read_option(struct session *s, const char *word)
{
    size_t length = strcspn(word, "=");

    for (size_t i = 0; i < N_KNOWN; i++) {
        if (word[length] && strlen(known[i].name) == length && !strncmp(known[i].name, word, length)) {
            if (word[length + 1])
                *option(&s->o, i) = word + length + 1;
            return 0;
        }
    }
    snprintf(s->why, sizeof s->why, "'%s' is no option; --help lists them", word);
    return -EINVAL;
}

static int check_options(struct session *s)
{
    if (strlen(s->o.fit) != 1 || *s->o.fit < '0' || *s->o.fit > '0' + MAX_SWEEPS)
        snprintf(s->why, sizeof s->why, "FIT: expected 0 to %d, '%s'", MAX_SWEEPS, s->o.fit);
    else if (strcmp(s->o.rows, "yes") && strcmp(s->o.rows, "no"))
        snprintf(s->why, sizeof s->why, "ROWS: expected yes or no, '%s'", s->o.rows);
    else
        return 0;
    return -EINVAL;
}

/* ---- by counters ---- */

static void print_row(const struct exp_recorded_row *row, const struct exp_comparison *c)
{
    printf("%-18s %5ld %5ld  %-5s %-5s", row->name, row->p1, row->p2, exp_recorded_places[row->place], row->pages);
    for (size_t q = 0; q < EXP_N_RECORDED; q++) {
        printf("  %8.3f %8.3f", row->counted[q], c->simulated[q]);
        if (isnan(c->error[q]))
            printf("      -");
        else
            printf(" %5.0f%%", 100 * c->error[q]);
    }
    putchar('\n');
}

static void print_rows(const struct exp_recorded *r, const struct exp_comparison *c)
{
    printf("%-18s %5s %5s  %-5s %-5s", "pattern", "p1", "p2", "where", "pages");
    for (size_t q = 0; q < EXP_N_RECORDED; q++)
        printf("  %-24s", exp_recorded_names[q]);
    printf("\n%-41s", "lines per access");
    for (size_t q = 0; q < EXP_N_RECORDED; q++)
        printf("  %8s %8s %6s", "counted", "sim", "error");
    putchar('\n');
    for (size_t i = 0; i < r->n; i++)
        print_row(&r->row[i], &c[i]);
    putchar('\n');
}

static void print_summary(const struct exp_recorded *r, const struct exp_comparison *c)
{
    for (unsigned q = 0; q < EXP_N_RECORDED; q++) {
        size_t n;
        double median = exp_comparison_quantile(c, r->n, (enum exp_recorded_quantity)q, 0.5, &n);
        double p90 = exp_comparison_quantile(c, r->n, (enum exp_recorded_quantity)q, 0.9, &n);

        printf("%-24s error: median %.1f %%, 9 of 10 below %.0f %%, %zu of %zu patterns compared\n",
               exp_recorded_names[q], 100 * median, 100 * p90, n, r->n);
    }
}

static int compare_counts(struct session *s, const struct exp_recorded *r)
{
    struct exp_comparison *c = calloc(r->n + 1, sizeof *c);
    int err = c ? exp_compare(c, r, &s->machine, MAX_ACCESSES) : -ENOMEM;

    if (!err && !strcmp(s->o.rows, "yes"))
        print_rows(r, c);
    if (!err)
        print_summary(r, c);
    free(c);
    return err;
}

struct counts {
    const struct exp_recorded *r;
    struct exp_comparison *c; /* [r->n] */
};

static int score_counts(void *counts, const struct sim_machine *m, double *score)
{
    const struct counts *k = counts;
    int err = exp_compare(k->c, k->r, m, FIT_ACCESSES);

    if (!err)
        *score = exp_comparison_score(k->c, k->r->n);
    return err;
}

/* Fits the machine, if asked to. */
static int fit(struct session *s, int (*score)(void *, const struct sim_machine *, double *), void *recorded)
{
    const struct exp_fit f = { score, recorded, (unsigned)(*s->o.fit - '0'), stdout };
    double reached;

    return f.max_sweeps ? exp_fit_run(&f, &s->machine, &reached) : 0;
}

static int fit_counts(struct session *s, const struct exp_recorded *r)
{
    struct counts k = { r, calloc(r->n + 1, sizeof *k.c) };
    int err = k.c ? fit(s, score_counts, &k) : -ENOMEM;

    free(k.c);
    return err;
}

static int calibrate_by_counts(struct session *s)
{
    struct exp_recorded r;
    int err = exp_recorded_read(&r, s->o.patterns, s->why, sizeof s->why);

    if (err)
        return err;
    err = fit_counts(s, &r);
    if (!err)
        err = compare_counts(s, &r);
    exp_recorded_release(&r);
    return err;
}

/* ---- by time ---- */

static bool is_same_walk(const struct exp_timed_row *a, const struct exp_timed_row *b)
{
    return !strcmp(a->name, b->name) && a->start_line == b->start_line && a->accesses == b->accesses &&
           a->gap_cycles == b->gap_cycles;
}

static void print_timed(const struct exp_timed *t)
{
    printf("%-16s %5s %8s %4s  %6s %6s\n", "pattern", "start", "accesses", "gap", "probed", "right");
    for (size_t i = 0, end; i < t->n; i = end) {
        size_t n, right;

        for (end = i; end < t->n && is_same_walk(&t->row[end], &t->row[i]);)
            end++;
        exp_timed_count(&t->row[i], end - i, &n, &right);
        printf("%-16s %5ld %8ld %4ld  %6zu %6zu\n", t->row[i].name, t->row[i].start_line, t->row[i].accesses,
               t->row[i].gap_cycles, n, right);
    }
    putchar('\n');
}

static int score_times(void *times, const struct sim_machine *m, double *score)
{
    return exp_timed_score(times, m, score);
}

static int calibrate_by_time(struct session *s)
{
    struct exp_timed t;
    size_t n, right;
    int err = exp_timed_read(&t, s->o.patterns, s->why, sizeof s->why);

    if (err)
        return err;
    err = fit(s, score_times, &t);
    if (!err)
        err = exp_timed_simulate(&t, &s->machine);
    if (!err && !strcmp(s->o.rows, "yes"))
        print_timed(&t);
    exp_timed_count(t.row, t.n, &n, &right);
    if (!err)
        printf("lines that were probed and not loaded, near or not as simulated: %.1f %% of %zu\n",
               n ? 100.0 * (double)right / (double)n : 0, n);
    exp_timed_release(&t);
    return err;
}

/* ---- the rest ---- */

/* Whether the recorded patterns are times: their header names a probed line. */
static bool is_timed(const char *path)
{
    FILE *in = fopen(path, "r");
    char line[512];
    bool found = false;

    while (in && !found && fgets(line, sizeof line, in))
        found = strstr(line, "probed_line");
    if (in)
        fclose(in);
    return found;
}

static int write_machine(struct session *s)
{
    FILE *out = fopen(s->o.out, "w");
    int err = out ? 0 : -errno;

    if (out) {
        fprintf(out, "# Prefetchers fitted to %s by calibrate; all else as in the machine it began with.\n",
                s->o.patterns);
        err = sim_machine_print(&s->machine, out);
        if (fclose(out) && !err)
            err = -EIO;
    }
    if (err)
        snprintf(s->why, sizeof s->why, "cannot write '%s': %s", s->o.out, strerror(-err));
    return err;
}

static int run(struct session *s)
{
    int err = check_options(s);

    if (!err)
        err = exp_machine_find(&s->machine, s->o.machine, s->why, sizeof s->why);
    if (!err && s->machine.n_levels < 2) {
        snprintf(s->why, sizeof s->why, "%s: patterns need a machine with two levels of caches", s->machine.name);
        err = -EINVAL;
    }
    if (!err)
        err = is_timed(s->o.patterns) ? calibrate_by_time(s) : calibrate_by_counts(s);
    return !err && *s->o.out ? write_machine(s) : err;
}

int main(int argc, char **argv)
{
    struct session s = { 0 };
    int err = 0;

    for (size_t i = 0; i < N_KNOWN; i++)
        *option(&s.o, i) = known[i].usual;
    if (argc == 2 && !strcmp(argv[1], "--help")) {
        print_help();
        return EXIT_SUCCESS;
    }
    for (int i = 1; !err && i < argc; i++)
        err = read_option(&s, argv[i]);
    if (!err)
        err = run(&s);
    return exp_program_end("calibrate", err, s.why, sizeof s.why);
}
