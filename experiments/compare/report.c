#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/text.h"
#include "experiments/bench/case/algo.h"
#include "experiments/compare/compare.h"
#include "experiments/show/page.h"
#include "sim/machine/machine_words.h"

static int bad(const struct exp_compare_condition *c, struct exp_why *why, const char *what, const char *value)
{
    return exp_fail(why, -EINVAL, "FAIL_IF: '%s': %s '%s'", c->text, what, value);
}

/* Finds a name in a list. Returns 0, or -EINVAL with one line in why. */
static int find_name(const struct exp_compare_condition *c, const char *what, const char *name,
                     const char *const *known, size_t n, size_t *found, struct exp_why *why)
{
    const char *nearest;
    char list[400] = "";

    for (*found = 0; *found < n; (*found)++) {
        if (!strcmp(known[*found], name))
            return 0;
        exp_say_more(list, sizeof list, "%s%s", *found ? ", " : "", known[*found]);
    }
    nearest = sim_nearest_word(name, known, n);
    return exp_fail(why, -EINVAL, "FAIL_IF: '%s': unknown %s '%s'%s%s%s known are %s", c->text, what, name,
                    nearest ? ", did you mean " : ";", nearest ? nearest : "", nearest ? "?" : "", list);
}

static int read_metric(struct exp_compare_condition *c, const char *name, struct exp_why *why)
{
    const char *known[EXP_COMPARE_N_METRICS];
    size_t found;
    int err;

    for (size_t i = 0; i < EXP_COMPARE_N_METRICS; i++)
        known[i] = exp_compare_metrics[i].name;
    err = find_name(c, "metric", name, known, EXP_COMPARE_N_METRICS, &found, why);
    c->metric = err ? NULL : &exp_compare_metrics[found];
    return err;
}

static int read_scope(struct exp_compare_condition *c, const char *name, struct exp_why *why)
{
    enum { N_SCOPES = 2 };
    const char *known[N_SCOPES + EXP_MAX_ALGOS] = { "model", "layer" };
    size_t found;
    int err;

    for (size_t i = 0; i < exp_algo_count(); i++)
        known[N_SCOPES + i] = exp_algo_at(i)->name;
    err = find_name(c, "scope", name, known, N_SCOPES + exp_algo_count(), &found, why);
    c->is_about_layers = found == 1;
    c->algo = err || found < N_SCOPES ? NULL : known[found];
    return err;
}

static int read_limit(struct exp_compare_condition *c, const char *number, struct exp_why *why)
{
    char *end;

    errno = 0;
    c->limit = strtod(number, &end);
    if (end == number || errno || !isfinite(c->limit))
        return bad(c, why, "a number must follow < or >, not", number);
    c->is_percent = *end == '%';
    end += c->is_percent;
    return *end ? bad(c, why, "there is something behind the number:", end) : 0;
}

/* Reads one condition, and cuts up the text; c->text has a copy. */
static int read_condition(struct exp_compare_condition *c, char *text, struct exp_why *why)
{
    char *sign = strpbrk(text, "<>"), *dot;
    int err;

    if (!sign)
        return bad(c, why, "there must be < or > in a condition such as speedup<-3%, not", text);
    c->is_above = *sign == '>';
    *sign = '\0';
    err = read_limit(c, sign + 1, why);
    dot = strchr(text, '.');
    if (!err && dot) {
        *dot = '\0';
        err = read_scope(c, text, why);
        text = dot + 1;
    }
    return err ? err : read_metric(c, text, why);
}

static int add(struct exp_compare_conditions *c, char *text, struct exp_why *why)
{
    struct exp_compare_condition *next = &c->condition[c->n];

    if (c->n == EXP_COMPARE_CONDITIONS)
        return exp_fail(why, -EINVAL, "FAIL_IF: more than %d conditions", EXP_COMPARE_CONDITIONS);
    c->n++;
    exp_say(next->text, sizeof next->text, "%s", text);
    return read_condition(next, text, why);
}

int exp_compare_conditions_read(struct exp_compare_conditions *c, const char *list, struct exp_why *why)
{
    char *copy = exp_copy_text(list), *to = copy;
    int err = 0;

    for (; *list; list++) {
        if (!isspace((unsigned char)*list))
            *to++ = *list;
    }
    *to = '\0';
    *c = (struct exp_compare_conditions){ .n = 0 };
    for (char *text = copy, *next; !err && text && *copy; text = next) {
        next = strchr(text, ',');
        if (next)
            *next++ = '\0';
        err = add(c, text, why);
    }
    free(copy);
    return err;
}

static bool is_about(const struct exp_compare_condition *c, const struct exp_compare_cell *x)
{
    const bool is_layer = x->index != 0;

    if (c->metric != x->metric || c->is_about_layers != is_layer)
        return false;
    return c->algo ? !strcmp(c->algo, x->algo) : strcmp(exp_algo_base()->name, x->algo) != 0;
}

int exp_compare_conditions_check(const struct exp_compare_conditions *c, const struct exp_two_runs *runs,
                                 struct exp_why *why)
{
    for (size_t i = 0; i < c->n; i++) {
        const struct exp_compare_condition *x = &c->condition[i];
        size_t k = 0;

        while (k < runs->n && !is_about(x, &runs->cell[k]))
            k++;
        if (k == runs->n)
            return exp_fail(why, -ENODATA,
                            "FAIL_IF: '%s': both runs must have %s (%s of layers.csv) of what it names, and do not",
                            x->text, x->metric->name, measure_at(x->metric->measure)->name);
    }
    return 0;
}

bool exp_compare_meets(const struct exp_compare_condition *c, const struct exp_compare_cell *x)
{
    const double change = c->is_percent ? x->change_percent : x->b - x->a;

    if (!is_about(c, x) || !x->is_certain || isnan(change))
        return false;
    return c->is_above ? change > c->limit : change < c->limit;
}

/* ---- compare.csv ---- */

#define ROW struct exp_compare_cell

/* clang-format off */
static const struct rec_field columns[] = {
    { { "layer_index", "", "position in A's table, from 1; 0: the whole model", "" }, REC_AT(ROW, index) },
    { { "layer", "", "name of the layer; " EXP_COMPARE_MODEL ": the sum over the layers that both runs have", "" },
      REC_AT(ROW, layer) },
    { { "algo", "", "algorithm", "" }, REC_AT(ROW, algo) },
    { { "metric", "", "what is compared: metrics.def lists them", "" }, REC_AT(ROW, metric_name) },
    { { "a", "", "A's value, in the unit of the metric's column: of times ns", "" }, REC_AT(ROW, a) },
    { { "b", "", "B's", "" }, REC_AT(ROW, b) },
    { { "change_percent", "%", "of the speed for speedup, else of the number, from A to B", "" },
      REC_NAN_AS(ROW, change_percent, "A's is 0") },
    { { "p", "",
        "of times: how probable a difference like this is without one: Mann and Whitney's test of a layer's rounds, "
        "a permutation test for the model",
        "clock" },
      REC_NAN_OR(ROW, p, why_no_p) },
    { { "p_adjusted", "",
        "the same for all layers of an algorithm, or all algorithms of the model, together: Holm's method", "clock" },
      REC_NAN_OR(ROW, p_adjusted, why_no_p) },
    { { "b_is", "", "better, worse or equal; open: the difference is not certain", "" }, REC_AT(ROW, b_is) },
};
/* clang-format on */

const struct rec_table exp_compare_table = REC_TABLE(EXP_COMPARE_FILE, columns, ROW);

int exp_compare_write_table(const struct exp_two_runs *c, const struct exp_outdir *dir, const char *commit,
                            struct exp_why *why)
{
    struct exp_csv *csv = exp_csv_begin(dir, &exp_compare_table.file, "two runs, metric by metric");

    exp_csv_header(csv, "A", "%s", c->a.path);
    exp_csv_header(csv, "B", "%s", c->b.path);
    exp_csv_header(csv, "commit", "%s", commit);
    for (size_t i = 0; i < c->n_notes; i++)
        exp_csv_header(csv, "note", "%s", c->note[i]);
    for (size_t i = 0; i < c->n; i++)
        rec_put(csv, &exp_compare_table, &c->cell[i]);
    return exp_csv_close(csv, why);
}

/* ---- in words ---- */

static bool is_model(const struct exp_compare_cell *x)
{
    return !x->index;
}

static bool is_time(const struct exp_compare_cell *x)
{
    return x->metric->kind == EXP_COMPARE_TIME;
}

struct exp_compare_tally exp_compare_tally(const struct exp_two_runs *c, const struct exp_compare_cell *model)
{
    struct exp_compare_tally t = { 0, 0, 0 };

    for (size_t i = 0; i < c->n; i++) {
        const struct exp_compare_cell *x = &c->cell[i];
        const int side = exp_compare_side_of(x);

        if (is_model(x) || x->metric != model->metric || strcmp(x->algo, model->algo) != 0)
            continue;
        t.n++;
        t.better += side > 0;
        t.worse += side < 0;
    }
    return t;
}

/* Says the result of one metric of one algorithm, in one line. */
static void say_cell(const struct exp_two_runs *c, const struct exp_compare_cell *x, FILE *out)
{
    const struct exp_compare_tally t = exp_compare_tally(c, x);

    fprintf(out, "%-16s %-16s ", x->algo, x->metric->name);
    if (isnan(x->change_percent))
        fprintf(out, "%10s", "-");
    else
        fprintf(out, "%+8.2f %%", x->change_percent);
    fprintf(out, "  %-6s", x->b_is);
    if (is_time(x) && !isnan(x->p_adjusted))
        fprintf(out, " p %-7.2g", x->p_adjusted);
    else
        fprintf(out, "%10s", "");
    fprintf(out, " layers: %zu better, %zu worse, %zu in all\n", t.better, t.worse, t.n);
}

/* Base comes first; one line counts the exact metrics without a change. */
static size_t say_cells(const struct exp_two_runs *c, FILE *out)
{
    size_t n_equal = 0;

    for (size_t i = 0; i < c->n; i++) {
        const struct exp_compare_cell *x = &c->cell[i];
        const struct exp_compare_tally t = is_model(x) ? exp_compare_tally(c, x) : (struct exp_compare_tally){ 0 };

        if (!is_model(x))
            continue;
        if (x->metric->kind == EXP_COMPARE_EXACT && x->a == x->b && !t.better && !t.worse)
            n_equal++;
        else
            say_cell(c, x, out);
    }
    return n_equal;
}

enum { MOST_SAID = 8 };

/* Names cells that meet a condition, at least the first. Returns the number of cells. */
static size_t say_condition(const struct exp_two_runs *c, const struct exp_compare_condition *q, FILE *out)
{
    size_t met = 0;

    for (size_t i = 0; i < c->n; i++) {
        const struct exp_compare_cell *x = &c->cell[i];

        if (exp_compare_meets(q, x) && met++ < MOST_SAID)
            fprintf(out, "FAIL_IF %s: %s of %s, %s, went from %g to %g, %+.2f %%\n", q->text, x->metric->name, x->algo,
                    is_model(x) ? "the model" : x->layer, x->a, x->b, x->change_percent);
    }
    if (met > MOST_SAID)
        fprintf(out, "FAIL_IF %s: and %zu more\n", q->text, met - MOST_SAID);
    return met;
}

static size_t say_conditions(const struct exp_two_runs *c, const struct exp_compare_conditions *q, FILE *out)
{
    size_t met = 0;

    for (size_t k = 0; k < q->n; k++)
        met += say_condition(c, &q->condition[k], out);
    if (q->n && !met)
        fprintf(out, "none of the conditions of FAIL_IF is met\n");
    return met;
}

void exp_compare_say_met(const struct exp_two_runs *c, const struct exp_compare_conditions *q,
                         struct exp_screen *screen)
{
    bool is_any = false;

    for (size_t k = 0; k < q->n; k++) {
        const struct exp_compare_cell *first = NULL;
        size_t met = 0;

        for (size_t i = 0; i < c->n; i++) {
            if (exp_compare_meets(&q->condition[k], &c->cell[i]) && !met++)
                first = &c->cell[i];
        }
        is_any |= met > 0;
        if (first)
            exp_screen_note(screen, "fails", "FAIL_IF %s holds for %s, %s: %+.2f %%%s", q->condition[k].text,
                            first->algo, is_model(first) ? "the model" : first->layer, first->change_percent,
                            met > 1 ? ", and more" : "");
    }
    if (q->n && !is_any)
        exp_screen_note(screen, "passes", "none of the conditions of FAIL_IF is met");
}

size_t exp_compare_print(const struct exp_two_runs *c, const struct exp_compare_conditions *q, FILE *out)
{
    size_t n_equal;

    fprintf(out, "A  %s\nB  %s\n\n", c->a.path, c->b.path);
    n_equal = say_cells(c, out);
    if (n_equal)
        fprintf(out, "%zu sum%s of simulated or predicted numbers %s equal, in every layer, too\n", n_equal,
                n_equal == 1 ? "" : "s", n_equal == 1 ? "is" : "are");
    for (size_t i = 0; i < c->n_notes; i++)
        fprintf(out, "note: %s\n", c->note[i]);
    return say_conditions(c, q, out);
}

/* ---- pages ---- */

static const struct exp_page_field fields[] = {
    { .column = "layer", .is_link = true },
    { .column = "algo", .title = "algorithm", .say = exp_page_algo_title },
    { .column = "metric" },
    { .column = "b_is", .title = "B is" },
    { .column = "a", .title = "A", .format = EXP_PAGE_DECIMAL },
    { .column = "b", .title = "B", .format = EXP_PAGE_DECIMAL },
    { .column = "change_percent", .title = "change", .format = EXP_PAGE_DECIMAL },
    { .column = "p", .format = EXP_PAGE_DECIMAL },
    { .column = "p_adjusted", .title = "p, adjusted", .format = EXP_PAGE_DECIMAL },
};

struct page {
    const struct exp_two_runs *c;
    const struct exp_compare_conditions *q;
    const char *headline;
    const struct exp_outdir *dir;
    struct exp_page_csv table;
    char id[64]; /* of the section that a row leads to */
};

/* All layers that the page shows. */
static const uint64_t shown_layers = UINT64_MAX;

static bool is_of(const struct page *p, const struct exp_compare_cell *x, uint64_t index)
{
    char id[64];

    if (index != shown_layers)
        return x->index == index;
    return p->c->n_sections ? exp_compare_section(p->c, x->index, id, sizeof id) != NULL : !is_model(x);
}

/* Returns the section of a row's layer. */
static const char *section_of_row(const void *page, size_t row)
{
    const struct page *p = page;

    return exp_compare_section(p->c, p->c->cell[row].index, ((struct page *)p)->id, sizeof p->id);
}

/* Writes the rows of compare.csv about a layer, the model (0) or all shown layers; rows and cells have one order. */
static void write_rows(struct exp_page_writer *w, const struct page *p, uint64_t index, const char *caption)
{
    size_t *row = exp_new(p->c->n, sizeof *row), n = 0;

    for (size_t i = 0; i < p->c->n && i < p->table.table.n_rows; i++) {
        if (is_of(p, &p->c->cell[i], index))
            row[n++] = i;
    }
    exp_page_extract_write(w, &(struct exp_page_extract){ .csv = &p->table,
                                                          .caption = caption,
                                                          .field = fields,
                                                          .n_fields = sizeof fields / sizeof fields[0],
                                                          .row = row,
                                                          .n_rows = n,
                                                          .target = section_of_row,
                                                          .ctx = p,
                                                          .is_long = true });
    free(row);
}

static void say_answer(struct exp_page_writer *w, const struct page *p)
{
    char *text;
    size_t bytes;
    FILE *out = exp_memory_open(&text, &bytes);

    exp_compare_print(p->c, p->q, out);
    fclose(out);
    exp_page_text(w, EXP_PAGE_CODE, text);
    free(text);
}

static void write_section(struct exp_page_writer *w, const struct page *p, const struct exp_compare_cell *first)
{
    char id[64], summary[200];

    if (!exp_compare_section(p->c, first->index, id, sizeof id))
        return;
    exp_compare_say_layer(p->c, first->index, summary, sizeof summary);
    exp_page_open(w, &(struct exp_page_section){ EXP_PAGE_DETAIL, id, first->layer, summary });
    write_rows(w, p, first->index, first->layer);
    exp_page_close(w);
}

/* Writes a section for each layer; the cells of the first metric have all layers in order. */
static void write_sections(struct exp_page_writer *w, const struct page *p)
{
    uint64_t last = 0;

    for (size_t i = 0; i < p->c->n; i++) {
        if (p->c->cell[i].index > last) {
            last = p->c->cell[i].index;
            write_section(w, p, &p->c->cell[i]);
        }
    }
}

static void write_chapter(struct exp_page_writer *w, const struct page *p)
{
    const struct exp_page_folder folder = { .path = p->dir->path };

    exp_page_open(w, &(struct exp_page_section){ EXP_PAGE_CHAPTER, "compare", "Two runs", NULL });
    exp_page_say(w, EXP_PAGE_PARAGRAPH, "A is %s, B is %s.", p->c->a.path, p->c->b.path);
    exp_page_text(w, EXP_PAGE_ANSWER, p->headline);
    exp_compare_chart(w, p->c);
    say_answer(w, p);
    exp_page_folder_figure(w, &folder, "compare_layers");
    exp_page_open(w, &(struct exp_page_section){ EXP_PAGE_PART, "model", "The whole model", NULL });
    write_rows(w, p, 0, "Sums over the layers that both runs have");
    exp_page_close(w);
    exp_page_open(w, &(struct exp_page_section){ EXP_PAGE_PART, "compared-layers", "Layer by layer", NULL });
    write_rows(w, p, shown_layers, "Each layer, algorithm and metric");
    if (p->c->n_sections == EXP_COMPARE_SECTIONS)
        exp_page_say(w, EXP_PAGE_NOTE, "The page has the %d layers with the largest differences; compare.csv has all.",
                     EXP_COMPARE_SECTIONS);
    exp_page_close(w);
    exp_page_open(w, &(struct exp_page_section){ EXP_PAGE_PART, "pages", "Each layer by itself", NULL });
    write_sections(w, p);
    exp_page_close(w);
    exp_page_close(w);
}

static int print_page(const void *page, FILE *out)
{
    struct exp_page_writer w;
    int err;

    exp_page_begin(&w, "Two runs compared");
    write_chapter(&w, page);
    err = exp_page_finish(&w, out);
    exp_page_release(&w);
    return err;
}

int exp_compare_write_page(const struct exp_two_runs *c, const struct exp_compare_conditions *q, const char *headline,
                           const struct exp_outdir *dir, struct exp_why *why)
{
    struct page p = { .c = c, .q = q, .headline = headline, .dir = dir };
    int err = exp_page_csv_read(&p.table, dir->path, EXP_COMPARE_FILE, why);

    if (!err)
        err = exp_outdir_write(dir, "compare.html", print_page, &p, why);
    exp_page_csv_release(&p.table);
    return err;
}
