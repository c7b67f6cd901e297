#include "experiments/calibrate/calibrate.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/bench/case/machine.h"
#include "sim/prefetch/prefetch.h"

/* ---- a hill climb ---- */

/*
 * Parameters of prefetchers, fitted to records, counts or times: a hill climb from the machine as it is, one parameter
 * after the other, to the next smaller and the next larger value of a fixed list (all words, of a word), kept when the
 * score falls, until a whole sweep changes nothing. Deterministic.
 */
struct fit {
    /* Computes the distance of m from the record, 0 to 1. Returns 0 or -ENOMEM. */
    int (*score)(void *recorded, const struct sim_machine *m, double *score);
    void *recorded;
    unsigned params; /* the fitted parameters: bits as in struct sim_prefetcher's takes */
    unsigned max_sweeps;
    FILE *log; /* a line for every step taken; NULL: none */
};

static const uint8_t values[] = { 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 31, 32, 36, 40, 48, 64 };

enum { N_VALUES = sizeof values };

#define LEAST_GAIN 0.0005 /* of a step; less is noise: repeated counts differ by 1 to 4 % */

struct climb {
    const struct fit *f;
    struct sim_machine *m;
    double score;
    int err;
};

static double score_of(struct climb *s)
{
    double score = 1;

    if (!s->err)
        s->err = s->f->score(s->f->recorded, s->m, &score);
    return s->err ? 1 : score;
}

/* Tries a value; keeps the value if the score falls. */
static bool try_value(struct climb *s, const struct sim_prefetch_param *p, struct sim_prefetch *f, uint8_t value)
{
    uint8_t *at = (uint8_t *)f + p->offset, before = *at;
    double score;

    if (value == before || s->err)
        return false;
    *at = value;
    if (!sim_prefetch_param_fits(p, f)) {
        *at = before;
        return false;
    }
    score = score_of(s);
    if (score > s->score - LEAST_GAIN) {
        *at = before;
        return false;
    }
    s->score = score;
    if (s->f->log && p->word)
        fprintf(s->f->log, "%s %s=%s: %.4f\n", sim_prefetchers[f->kind]->name, p->name, p->word[value - 1], score);
    else if (s->f->log)
        fprintf(s->f->log, "%s %s=%u: %.4f\n", sim_prefetchers[f->kind]->name, p->name, (unsigned)value, score);
    return true;
}

/* Goes on in a direction of the list as long as the score falls. */
static bool climb_number(struct climb *s, const struct sim_prefetch_param *p, struct sim_prefetch *f, int direction)
{
    uint8_t now = *sim_prefetch_value(p, f);
    int i = direction > 0 ? 0 : N_VALUES - 1;
    bool moved = false;

    while (i >= 0 && i < N_VALUES && (direction > 0 ? values[i] <= now : values[i] >= now))
        i += direction;
    for (; i >= 0 && i < N_VALUES && try_value(s, p, f, values[i]); i += direction)
        moved = true;
    return moved;
}

static bool climb_param(struct climb *s, const struct sim_prefetch_param *p, struct sim_prefetch *f)
{
    bool moved = false;

    if (!(sim_prefetchers[f->kind]->takes & s->f->params & p->bit))
        return false;
    for (uint8_t i = 1; p->word && i <= p->max; i++)
        moved = try_value(s, p, f, i) || moved;
    return p->word ? moved : climb_number(s, p, f, 1) || climb_number(s, p, f, -1);
}

static bool sweep(struct climb *s)
{
    bool moved = false;

    for (size_t k = 0; k < s->m->n_levels; k++) {
        for (size_t i = 0; i < SIM_MAX_PREFETCHERS && s->m->level[k].prefetch[i].kind; i++) {
            for (const struct sim_prefetch_param *p = sim_prefetch_params; p->name; p++)
                moved = climb_param(s, p, &s->m->level[k].prefetch[i]) || moved;
        }
    }
    return moved;
}

/* Changes m's prefetchers. Returns 0 with the score reached, or as f->score. */
static int run_fit(const struct fit *f, struct sim_machine *m, double *score)
{
    struct climb s = { .f = f, .m = m };

    for (size_t k = 0; k < m->n_levels; k++) {
        for (size_t i = 0; i < SIM_MAX_PREFETCHERS && m->level[k].prefetch[i].kind; i++)
            m->level[k].prefetch[i] = sim_prefetch_resolve(&m->level[k].prefetch[i]);
    }
    s.score = score_of(&s);
    for (unsigned i = 0; i < f->max_sweeps && !s.err && sweep(&s); i++)
        ;
    *score = s.score;
    return s.err;
}

enum { MAX_ACCESSES = 16384, FIT_ACCESSES = 2048, N_THREADS = 2 };

/* The targets, in percent. */
static const struct {
    double at_least, aim;
} times_target = { 93, 98 }, counts_target = { 5, 2 };

/* ---- reading ---- */

/* Tells whether the recorded patterns are times: their header names a probed line then. */
static bool holds_times(const char *path)
{
    struct exp_table t;
    bool found = false;

    if (exp_table_read(&t, path, NULL))
        return false;
    for (size_t i = 0; i < t.n_columns; i++)
        found = found || strstr(t.column[i], "probed_line");
    exp_table_release(&t);
    return found;
}

int exp_evidence_read(struct exp_evidence *e, const char *path, struct exp_why *why)
{
    int err;

    assert(e && path);
    *e = (struct exp_evidence){ .is_timed = holds_times(path) };
    err = e->is_timed ? exp_timed_read(&e->times, path, why) : exp_recorded_read(&e->counts, path, why);
    e->comparison = exp_new(e->counts.n + 1, sizeof *e->comparison);
    if (err)
        exp_evidence_release(e);
    return err;
}

void exp_evidence_release(struct exp_evidence *e)
{
    exp_timed_release(&e->times);
    exp_recorded_release(&e->counts);
    free(e->comparison);
    *e = (struct exp_evidence){ 0 };
}

/* ---- the fit ---- */

struct search {
    struct exp_evidence *e;
    const struct stage *stage;
    struct exp_recorded fitted; /* of the counts */
    bool (*interrupted)(void);
    struct sim_machine *best;
    double score;
    FILE *log;
};

/* A part of the parameters, and the recorded quantities that tell the parameters. */
struct stage {
    bool (*is_told_by)(const struct exp_recorded_row *row); /* NULL: not by counts */
    unsigned quantities;                                    /* bits by enum exp_recorded_quantity */
    unsigned params;                                        /* bits as in struct fit */
};

/* Gives prefetches time to finish. */
static bool waits(const struct exp_recorded_row *row)
{
    return row->is_chased;
}

/* Overtakes prefetches. L3 and memory are then as slow as their bandwidth, unknown to the simulation. */
static bool overtakes(const struct exp_recorded_row *row)
{
    return !row->is_chased && (row->place == EXP_RECORDED_L2 || row->place == EXP_RECORDED_MIXED);
}

/*
 * A prefetch that is overtaken by its load is never issued, also unknown to the simulation. Independent loads tell only
 * how late a prefetched line is.
 */
static const struct stage of_counts[] = {
    { waits, (1u << EXP_N_RECORDED) - 1, ~(unsigned)SIM_PREFETCH_TAKES_LATE },
    { overtakes, 1u << EXP_RECORDED_L1_DEMAND, SIM_PREFETCH_TAKES_LATE },
};

static const struct stage of_times[] = { { .params = ~0u } };

/* The smallest pages of the counts: counts with larger pages repeat the evidence. */
static uint64_t smallest_page(const struct exp_recorded *r)
{
    uint64_t bytes = UINT64_MAX;

    for (size_t i = 0; i < r->n; i++)
        bytes = r->row[i].page_bytes < bytes ? r->row[i].page_bytes : bytes;
    return bytes;
}

/* Chooses the rows of the stage. */
static void choose_rows(struct search *s)
{
    const struct exp_recorded *all = &s->e->counts;
    const uint64_t page_bytes = smallest_page(all);

    s->fitted.n = 0;
    if (!s->fitted.row)
        s->fitted.row = exp_new(all->n + 1, sizeof *all->row);
    for (size_t i = 0; i < all->n; i++) {
        if (all->row[i].page_bytes == page_bytes && s->stage->is_told_by(&all->row[i]))
            s->fitted.row[s->fitted.n++] = all->row[i];
    }
}

static int score(void *search, const struct sim_machine *m, double *value)
{
    const struct search *s = search;
    int err;

    if (s->interrupted && s->interrupted())
        return -EINTR;
    if (s->e->is_timed)
        return exp_timed_score(&s->e->times, m, value);
    err = exp_compare(s->e->comparison, &s->fitted, m, FIT_ACCESSES, N_THREADS);
    if (!err)
        *value = exp_comparison_score(s->e->comparison, &s->fitted, s->stage->quantities);
    return err;
}

/* Tries the machine with another one's prefetchers. */
static int try_start(void *search, const char *path, const struct sim_machine *other)
{
    struct search *s = search;
    struct sim_machine m = *s->best;
    char ignored[256];
    double value = 1;
    int err;

    for (size_t k = 0; k < m.n_levels; k++) {
        static const struct sim_level nothing;
        const struct sim_level *from = k < other->n_levels ? &other->level[k] : &nothing;

        memcpy(m.level[k].prefetch, from->prefetch, sizeof m.level[k].prefetch);
    }
    if (sim_machine_validate(&m, ignored, sizeof ignored))
        return 0;
    err = score(s, &m, &value);
    if (err || value >= s->score)
        return err;
    *s->best = m;
    s->score = value;
    fprintf(s->log, "begins with the prefetchers of %s: %.4f\n", path, value);
    return 0;
}

/* Fits a stage's parameters, starting at a nearer machine of the folder, if any (NULL: no folder). */
static int fit_stage(struct search *s, const struct stage *stage, const char *machines, unsigned max_sweeps,
                     struct exp_why *why)
{
    const struct fit f = { score, s, stage->params, max_sweeps, s->log };
    int err;

    s->stage = stage;
    choose_rows(s);
    err = score(s, s->best, &s->score);
    if (!err && machines)
        err = exp_machines_each(machines, try_start, s, why);
    return err ? err : run_fit(&f, s->best, &s->score);
}

int exp_evidence_fit(struct exp_evidence *e, struct sim_machine *m, const char *machines, unsigned max_sweeps,
                     bool (*interrupted)(void), FILE *log, struct exp_why *why)
{
    struct search s = { .e = e, .interrupted = interrupted, .best = m, .log = log };
    const struct stage *stage = e->is_timed ? of_times : of_counts;
    const size_t n = e->is_timed ? sizeof of_times / sizeof of_times[0] : sizeof of_counts / sizeof of_counts[0];
    int err = 0;

    assert(e && m && log);
    *why->text = '\0';
    for (size_t i = 0; i < n && !err; i++)
        err = fit_stage(&s, &stage[i], i ? NULL : machines, max_sweeps, why);
    exp_recorded_release(&s.fitted);
    if (err && !*why->text)
        exp_fail(why, err, "%s while fitting", exp_error_text(err));
    return err;
}

/* ---- counts, printed ---- */

static void print_count(const struct exp_recorded_row *row, const struct exp_comparison *c, FILE *out)
{
    fprintf(out, "%-18s %5ld %5ld  %-5s %-5s", row->name, row->p1, row->p2, exp_recorded_places[row->place],
            row->pages);
    for (size_t q = 0; q < EXP_N_RECORDED; q++) {
        fprintf(out, "  %8.3f %8.3f", row->counted[q], c->simulated[q]);
        if (isnan(c->error[q]))
            fprintf(out, "      -");
        else
            fprintf(out, " %5.0f%%", 100 * c->error[q]);
    }
    fputc('\n', out);
}

static void print_counts(const struct exp_recorded *r, const struct exp_comparison *c, FILE *out)
{
    fprintf(out, "%-18s %5s %5s  %-5s %-5s", "pattern", "p1", "p2", "where", "pages");
    for (size_t q = 0; q < EXP_N_RECORDED; q++)
        fprintf(out, "  %-24s", exp_recorded_names[q]);
    fprintf(out, "\n%-41s", "lines per access");
    for (size_t q = 0; q < EXP_N_RECORDED; q++)
        fprintf(out, "  %8s %8s %6s", "counted", "sim", "error");
    fputc('\n', out);
    for (size_t i = 0; i < r->n; i++)
        print_count(&r->row[i], &c[i], out);
    fputc('\n', out);
}

/* Prints the errors of dependent loads, with targets, or of independent loads. */
static void print_counts_summary(const struct exp_recorded *r, const struct exp_comparison *c, bool is_chased,
                                 FILE *out)
{
    fprintf(out, is_chased ? "dependent loads\n" : "independent loads\n");
    for (unsigned q = 0; q < EXP_N_RECORDED; q++) {
        const struct exp_comparison_choice of = { r, c, (enum exp_recorded_quantity)q, is_chased };
        const struct exp_spread errors = exp_comparison_errors(&of);
        const double median = 100 * errors.median;

        fprintf(out, "  %-24s error: median %.1f %%, 9 of 10 below %.0f %%, %zu patterns compared",
                exp_recorded_names[q], median, 100 * errors.p90, errors.n);
        if (is_chased && q != EXP_RECORDED_L1_DEMAND)
            fprintf(out, "; target: median %.0f %%, aim %.0f %%: %s", counts_target.at_least, counts_target.aim,
                    median <= counts_target.aim        ? "aim reached"
                    : median <= counts_target.at_least ? "reached"
                                                       : "not reached");
        fputc('\n', out);
    }
}

/* ---- times, printed ---- */

static void print_times(const struct exp_timed *t, FILE *out)
{
    fprintf(out, "%-16s %5s %8s %4s  %6s %6s\n", "pattern", "start", "accesses", "gap", "probed", "right");
    for (size_t i = 0, end; i < t->n; i = end) {
        size_t n, right;

        for (end = i; end < t->n && exp_timed_is_same_walk(&t->row[end], &t->row[i]);)
            end++;
        exp_timed_count(&t->row[i], end - i, &n, &right);
        fprintf(out, "%-16s %5" PRIu64 " %8" PRIu64 " %4" PRIu64 "  %6zu %6zu\n", t->row[i].name, t->row[i].start_line,
                t->row[i].accesses, t->row[i].gap_ticks, n, right);
    }
    fputc('\n', out);
}

static void print_times_summary(const struct exp_timed *t, FILE *out)
{
    size_t n, right;
    double percent;

    exp_timed_count(t->row, t->n, &n, &right);
    percent = n ? 100.0 * (double)right / (double)n : 0;
    fprintf(out,
            "lines that were probed and not loaded, near or not as simulated: %.1f %% of %zu; target: %.0f %%, aim "
            "%.0f %%: %s\n",
            percent, n, times_target.at_least, times_target.aim,
            percent >= times_target.aim        ? "aim reached"
            : percent >= times_target.at_least ? "reached"
                                               : "not reached");
}

int exp_evidence_print(struct exp_evidence *e, const struct sim_machine *m, bool shows_rows, FILE *out)
{
    int err = e->is_timed ? exp_timed_simulate(&e->times, m)
                          : exp_compare(e->comparison, &e->counts, m, MAX_ACCESSES, N_THREADS);

    if (err)
        return err;
    if (shows_rows && e->is_timed)
        print_times(&e->times, out);
    else if (shows_rows)
        print_counts(&e->counts, e->comparison, out);
    if (e->is_timed) {
        print_times_summary(&e->times, out);
    } else {
        print_counts_summary(&e->counts, e->comparison, true, out);
        print_counts_summary(&e->counts, e->comparison, false, out);
    }
    return 0;
}

/* ---- in a sentence ---- */

/* Adds the state of a target: more is better with a sign of 1, less with -1. */
static void say_state(double x, double at_least, double aim, int sign, char *text, size_t bytes)
{
    if (sign * x >= sign * aim)
        exp_say_more(text, bytes, "the aim of %.0f %% is reached", aim);
    else
        exp_say_more(text, bytes, "%s good enough (%.0f %%), the aim is %.0f %%",
                     sign * x >= sign * at_least ? "this is" : "this is not", at_least, aim);
}

static void say_times(const struct exp_timed *t, char *text, size_t bytes)
{
    size_t n, right;
    double percent;

    exp_timed_count(t->row, t->n, &n, &right);
    percent = n ? 100.0 * (double)right / (double)n : 0;
    exp_say(text, bytes, "Of %zu probed lines, %.1f %% are near or not as the simulated prefetchers have it: ", n,
            percent);
    say_state(percent, times_target.at_least, times_target.aim, 1, text, bytes);
    exp_say_more(text, bytes, ".");
}

static void say_counts(const struct exp_evidence *e, char *text, size_t bytes)
{
    const char *before = "The simulated prefetchers err by ";

    *text = '\0';
    for (unsigned q = 0; q < EXP_N_RECORDED; q++) {
        const struct exp_comparison_choice of = { &e->counts, e->comparison, (enum exp_recorded_quantity)q, true };
        const double median = 100 * exp_comparison_errors(&of).median;

        if (q == EXP_RECORDED_L1_DEMAND)
            continue;
        exp_say_more(text, bytes, "%s%.1f %% in %s (median): ", before, median, exp_recorded_names[q]);
        say_state(median, counts_target.at_least, counts_target.aim, -1, text, bytes);
        before = "; by ";
    }
    exp_say_more(text, bytes, ".");
}

void exp_evidence_say(const struct exp_evidence *e, char *text, size_t bytes)
{
    if (e->is_timed)
        say_times(&e->times, text, bytes);
    else
        say_counts(e, text, bytes);
}

/* ---- machine files with sources ---- */

enum { NOTE_COLUMN = 30 };

static bool has_word(const char *list, const char *word, size_t length)
{
    for (const char *at = list; *at; at += strcspn(at, " "), at += strspn(at, " ")) {
        if (strcspn(at, " ") == length && !strncmp(at, word, length))
            return true;
    }
    return false;
}

static const char *find_source(const struct exp_note *note, size_t n, const char *section, const char *key,
                               size_t length)
{
    for (size_t i = 0; i < n; i++) {
        if (!strncmp(section, note[i].section, strlen(note[i].section)) &&
            (!*note[i].keys || has_word(note[i].keys, key, length)))
            return note[i].source;
    }
    return "";
}

static void print_lines(char *text, const struct exp_note *note, size_t n, FILE *out)
{
    const char *section = "";

    for (char *line = text, *next; *line; line = next) {
        const char *source = "";
        char *end = strchr(line, '\n');

        next = end + 1;
        *end = '\0';
        if (*line == '[')
            section = line + 1;
        else if (*line)
            source = find_source(note, n, section, line, strcspn(line, " "));
        if (*source)
            fprintf(out, "%-*s # %s\n", NOTE_COLUMN, line, source);
        else
            fprintf(out, "%s\n", line);
    }
}

int exp_print_machine_with_sources(const struct sim_machine *m, const char *header, const struct exp_note *note,
                                   size_t n_notes, FILE *out)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *memory = exp_memory_open(&text, &bytes);
    int err = sim_machine_print(m, memory);

    fclose(memory);
    if (!err) {
        fprintf(out, "# %s\n", header);
        print_lines(text, note, n_notes, out);
        err = fflush(out) || ferror(out) ? -EIO : 0;
    }
    free(text);
    return err;
}
