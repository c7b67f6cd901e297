/* Writes what was asked, the answer, and its numbers. */
#include "experiments/page/exp_page_answer.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_text.h"
#include "experiments/page/exp_page_data.h"
#include "experiments/replay/exp_totals.h"
#include "experiments/report/exp_layers.h"
#include "experiments/report/exp_levels.h"
#include "experiments/setup/exp_algo.h"

/* A sentence's lines after the first begin so; labels of a paragraph stand further left (exp_text.h). */
static const char goes_on[] = "    ";

/* Joins a sentence's lines. Returns where the next one begins. */
static const char *take_sentence(const char *text, FILE *out)
{
    for (bool is_first = true; *text && *text != '\n'; is_first = false) {
        size_t length;

        if (!is_first && strncmp(text, goes_on, strlen(goes_on)) != 0)
            return text;
        text += strspn(text, " ");
        length = strcspn(text, "\n");
        fprintf(out, "%s%.*s", is_first ? "" : " ", (int)length, text);
        text += length + (text[length] == '\n');
    }
    return text;
}

/* Takes the next sentence of a verdict; without "VERDICT for somebody: ", which the chapter says. From malloc. */
static char *next_sentence(const char **verdict)
{
    char *sentence = NULL, *said;
    size_t bytes = 0;
    FILE *out = exp_memory_open(&sentence, &bytes);

    if (!out)
        return NULL;
    *verdict = take_sentence(*verdict, out);
    if (fclose(out)) {
        free(sentence);
        return NULL;
    }
    said = strncmp(sentence, "VERDICT for ", 12) ? NULL : strstr(sentence, ": ");
    if (said)
        memmove(sentence, said + 2, strlen(said + 2) + 1);
    *sentence = (char)toupper((unsigned char)*sentence);
    return sentence;
}

/* Tells whether an experiment measured no speed-up: then its verdict's second sentence has the numbers. */
static bool is_untimed(const struct exp_page_csv *model)
{
    const struct exp_model_row *row = model->row;

    for (size_t i = 0; i < model->table.n_rows; i++) {
        if (!isnan(row[i].total.speedup.value))
            return false;
    }
    return model->table.n_rows && row->why_no_speedup;
}

static bool is_question(const char *sentence)
{
    size_t n = strlen(sentence);

    return n && sentence[n - 1] == '?';
}

void exp_page_answer_of(const char *verdict, size_t before, char *text, size_t bytes)
{
    char *sentence = next_sentence(&verdict);

    while (sentence && (before || is_question(sentence))) {
        before -= before && !is_question(sentence);
        free(sentence);
        sentence = next_sentence(&verdict);
    }
    exp_say(text, bytes, "%s", sentence ? sentence : "");
    free(sentence);
}

void exp_page_question_of_folder(const struct exp_page_folder *f, char *text, size_t bytes)
{
    char *verdict = exp_page_folder_text(f, "verdict.txt");
    const char *at = verdict;
    char *sentence = verdict ? next_sentence(&at) : NULL;

    exp_say(text, bytes, "%s", sentence && is_question(sentence) ? sentence : "");
    free(sentence);
    free(verdict);
}

/* Copies the sentence of a folder's verdict that has the answer: of an experiment without times, what it simulated. */
static void answer_of_folder(const struct exp_page_folder *f, char *text, size_t bytes)
{
    struct exp_page_csv model;
    char *verdict = exp_page_folder_text(f, "verdict.txt");

    if (exp_page_csv_read_rows(&model, f->path, &exp_model_table, NULL))
        model = (struct exp_page_csv){ 0 };
    exp_page_answer_of(verdict ? verdict : "", is_untimed(&model), text, bytes);
    exp_page_csv_release(&model);
    free(verdict);
}

/* Says the verdict's first paragraph: the answer, and how it was found. */
static void say_answer(struct exp_page_writer *w, const char *verdict, size_t at)
{
    if (!*verdict)
        exp_page_text(w, EXP_PAGE_PARAGRAPH, "There is no verdict.txt in this folder: an older version made it.");
    for (size_t i = 0; *verdict && *verdict != '\n'; i++) {
        char *sentence = next_sentence(&verdict);

        if (!sentence) {
            exp_page_lacks(w);
            return;
        }
        exp_page_text(w, i == at ? EXP_PAGE_ANSWER : EXP_PAGE_PARAGRAPH, sentence);
        free(sentence);
    }
}

/* ---- cards ---- */

enum { MOST_CARDS = 24, CARD_BYTES = 96, NOTE_BYTES = 400 };

struct cards {
    struct exp_page_fact fact[MOST_CARDS];
    char name[MOST_CARDS][CARD_BYTES], value[MOST_CARDS][CARD_BYTES], note[MOST_CARDS][NOTE_BYTES];
    size_t n;
};

static void add_card(struct cards *c, const char *name, const char *value, const char *note, bool is_faint)
{
    if (c->n == MOST_CARDS)
        return;
    exp_say(c->name[c->n], CARD_BYTES, "%s", name);
    exp_say(c->value[c->n], CARD_BYTES, "%s", value);
    exp_say(c->note[c->n], NOTE_BYTES, "%s", note);
    c->fact[c->n] = (struct exp_page_fact){ c->name[c->n], c->value[c->n], c->note[c->n], is_faint };
    c->n++;
}

/* Writes "1.26x". */
static void put_times(char *text, size_t bytes, double value)
{
    exp_page_print_number(text, bytes, value, EXP_PAGE_DECIMAL);
    exp_say_more(text, bytes, "\xc3\x97");
}

/* Tells whether a model's row is more than the reference or one of the schedules that CSA chose from. */
static bool is_contender(const char *name)
{
    const struct exp_algo *a = exp_algo_find(name);

    return a && a != exp_algo_base() && a->when != EXP_ALGO_MEMBER;
}

/* Says what a measured speed-up holds for: the clock of this computer, but maybe the plans for another machine. */
static void say_where(const struct exp_page_run *r, char *text, size_t bytes)
{
    const char *name = r->machine.n_levels ? r->machine.name : "host";
    const bool is_host = !strcmp(name, "host");

    exp_say(text, bytes, "as fast as Base on this computer%s%s", is_host ? "" : ", with plans for ",
            is_host ? "" : name);
}

static void add_speedup(struct cards *c, const struct exp_page_run *r, const struct exp_model_row *row)
{
    char value[48], low[32], high[32], note[NOTE_BYTES];
    const struct exp_ratio *speedup = &row->total.speedup;

    if (isnan(speedup->value))
        return;
    put_times(value, sizeof value, speedup->value);
    exp_page_print_number(low, sizeof low, speedup->low, EXP_PAGE_DECIMAL);
    exp_page_print_number(high, sizeof high, speedup->high, EXP_PAGE_DECIMAL);
    say_where(r, note, sizeof note);
    if (*low && *high)
        exp_say_more(note, sizeof note, ", 95 %% within [%s, %s]", low, high);
    add_card(c, exp_page_algo_title(row->total.algo), value, note, false);
}

/* Adds whether the computer was quiet: it stands beside the speed-ups. */
static void add_disturbance(struct cards *c, const struct exp_page_run *r)
{
    char text[NOTE_BYTES], *note;

    exp_page_csv_said(&r->layers, "disturbance", text, sizeof text);
    note = strstr(text, ": ");
    if (!note || !c->n)
        return;
    *note = '\0';
    add_card(c, "the computer, meanwhile", text, note + 2, false);
}

static void add_speedups(struct cards *c, const struct exp_page_run *r)
{
    const struct exp_model_row *row = r->model.row;

    for (size_t i = 0; i < r->model.table.n_rows; i++) {
        if (is_contender(row[i].total.algo))
            add_speedup(c, r, &row[i]);
    }
    add_disturbance(c, r);
}

/* A simulation: which of the two, and what its cards are called. */
struct view {
    bool is_alone;
    const char *title;
};

/* Says what an algorithm missed in a level: NaN where it is not known. */
struct missed {
    double percent, misses;
};

/* Finds it in levels.csv, which has all levels. */
static struct missed missed_in(const struct exp_page_run *r, const char *algo, const char *level, const struct view *v)
{
    const struct exp_levels_row *row = r->levels.row;
    struct missed m = { (double)NAN, (double)NAN };

    for (size_t i = 0; i < r->levels.table.n_rows; i++) {
        const struct exp_levels_view *of = v->is_alone ? &row[i].alone : &row[i].as_it_is;

        if (!strcmp(row[i].algo, algo) && !strcmp(row[i].level, level))
            m = (struct missed){ of->percent, of->misses };
    }
    return m;
}

/* Finds it in model.csv, which has three, in a folder that an older version made. */
static struct missed missed_in_model(const struct exp_page_run *r, const char *algo, size_t level, const struct view *v)
{
    const struct exp_model_row *row = r->model.row;
    struct missed m = { (double)NAN, (double)NAN };

    for (size_t i = 0; i < r->model.table.n_rows; i++) {
        const double percent = v->is_alone ? row[i].alone_percent[level] : row[i].simulated_percent[level];
        const double loads = v->is_alone ? row[i].total.alone_loads : row[i].total.simulated_loads;

        if (!strcmp(row[i].total.algo, algo))
            return (struct missed){ percent, percent / 100 * loads };
    }
    return m;
}

static void add_misses_card(struct cards *c, const char *level, const struct view *v, const struct missed *own,
                            const struct missed *base)
{
    const bool is_few = exp_misses_are_few(own->percent, base->percent);
    char name[CARD_BYTES], times[48], rate[48], its[48], note[NOTE_BYTES];

    if (isnan(own->misses / base->misses))
        return;
    exp_say(name, sizeof name, "misses in %s%s", level, v->title);
    put_times(times, sizeof times, own->misses / base->misses);
    exp_page_print_number(rate, sizeof rate, own->percent, EXP_PAGE_DECIMAL);
    exp_page_print_number(its, sizeof its, base->percent, EXP_PAGE_DECIMAL);
    if (is_few)
        exp_say(note, sizeof note,
                "of all loads: SConv as CSA chose %s %%, Base %s %%. Too few to compare (%s), simulated", rate, its,
                times);
    else
        exp_say(note, sizeof note, "of Base's, SConv as CSA chose: %s %% of its loads, Base %s %%, simulated", rate,
                its);
    if (is_few)
        exp_say(times, sizeof times, "< %g %%", EXP_FEW_PERCENT);
    add_card(c, name, times, note, is_few);
}

/* Adds a simulation's cards, one for each level. */
static void add_view(struct cards *c, const struct exp_page_run *r, const struct view *v)
{
    const char *sconv = exp_algo_chosen()->name, *base = exp_algo_base()->name;
    const bool has_all = r->machine.n_levels && r->levels.table.n_rows;
    const size_t n = has_all ? r->machine.n_levels : EXP_PAGE_LEVELS;

    for (size_t l = 0; l < n && (has_all || r->level[l]); l++) {
        const char *level = has_all ? r->machine.level[l].name : r->level[l];
        const struct missed own = has_all ? missed_in(r, sconv, level, v) : missed_in_model(r, sconv, l, v);
        const struct missed its = has_all ? missed_in(r, base, level, v) : missed_in_model(r, base, l, v);

        add_misses_card(c, level, v, &own, &its);
    }
}

/* Adds misses of the chosen SConv against Base's: by caches alone, and on the machine as it is. */
static void add_misses(struct cards *c, const struct exp_page_run *r)
{
    static const struct view alone = { true, ", caches alone" }, as_it_is = { false, ", the machine as it is" },
                             only = { false, "" };
    const bool has_two_views = r->machine.n_levels && !sim_machine_is_plain(&r->machine);

    if (has_two_views)
        add_view(c, r, &alone);
    add_view(c, r, has_two_views ? &as_it_is : &only);
}

static void say_question(struct exp_page_writer *w, const struct exp_page_run *r)
{
    char machine[512], caches[64];

    exp_page_csv_said(&r->layers, "simulated machine", machine, sizeof machine);
    exp_page_csv_said(&r->layers, "caches at the start of a layer", caches, sizeof caches);
    exp_page_say(
        w, EXP_PAGE_PARAGRAPH,
        "Asked: is direct convolution, sliced for the caches by CSA (SConv), better than im2col + GEMM (Base) for "
        "the %zu convolution%s of %s? Simulated machine: %s.%s%s%s",
        r->n_layers, r->n_layers == 1 ? "" : "s", ((const struct exp_layers_row *)r->layers.row)->model,
        *machine ? machine : r->machine.description, *caches ? " Caches at the start of a layer: " : "", caches,
        *caches ? "." : "");
}

void exp_page_answer_write(struct exp_page_writer *w, const struct exp_page_run *r)
{
    struct cards *c = calloc(1, sizeof *c);
    char *verdict = exp_page_folder_text(r->f, "verdict.txt");

    say_question(w, r);
    if (!c || !verdict)
        exp_page_lacks(w);
    if (verdict)
        say_answer(w, verdict, is_untimed(&r->model));
    if (c) {
        add_speedups(c, r);
        add_misses(c, r);
        if (c->n)
            exp_page_facts(w, EXP_PAGE_CARDS, c->fact, c->n);
    }
    free(verdict);
    free(c);
}

/* ---- what a folder found ---- */

/* ---- study: the first paragraph of its page ---- */

static int find_in_study(const struct exp_page_folder *f, char *text, size_t bytes)
{
    char *page = exp_page_folder_text(f, "study.md");
    const char *line = page;

    if (!page)
        return -ENOMEM;
    while (*line == '#' || *line == '\n') {
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    exp_say(text, bytes, "%.*s", (int)strcspn(line, "\n"), line);
    free(page);
    return 0;
}

/* ---- tables of targets ---- */

typedef void (*say_fn)(const struct exp_page_csv *targets, char *text, size_t bytes);

static int find_in_targets(const struct exp_page_folder *f, say_fn say, char *text, size_t bytes)
{
    struct exp_page_csv targets;
    int err = exp_page_csv_read(&targets, f->path, "targets.csv", NULL);

    if (!err)
        say(&targets, text, bytes);
    exp_page_csv_release(&targets);
    return err == -ENOMEM ? err : 0;
}

/* Peers are held against these targets: a target's name, and what stands before, between and behind SConv's numbers. */
static const struct peers_target {
    const char *target, *before, *between, *behind;
} peers_targets[] = {
    { "speed-up over base, geometric mean over the models", "SConv is ", " as fast as Base, tuned SConv ",
      " (geometric means over the models)" },
    { "layers faster than base", "They are faster than Base in ", " and ", " of the layers" },
    { "models faster than with oneDNN, plain NCHW", "faster than oneDNN with the same layout in ", " and ",
      " of the models" },
};

/* Says a target's number with its unit: times where it has none. */
static void say_value(const struct exp_page_csv *t, size_t row, const char *column, char *text, size_t bytes)
{
    const char *unit = exp_page_csv_cell(t, row, "unit");
    double value = exp_page_csv_number(t, row, column);

    if (isnan(value))
        exp_say(text, bytes, "not timed");
    else if (*unit)
        exp_say(text, bytes, "%.3g %s", value, unit);
    else
        exp_say(text, bytes, "%.2f times", value);
}

static void say_peers(const struct exp_page_csv *t, char *text, size_t bytes)
{
    for (size_t i = 0; i < sizeof peers_targets / sizeof peers_targets[0]; i++) {
        size_t row = exp_page_csv_find(t, "target", peers_targets[i].target);
        char sconv[48], tuned[48];

        if (row == t->table.n_rows)
            continue;
        say_value(t, row, "sconv", sconv, sizeof sconv);
        say_value(t, row, "sconv_tuned", tuned, sizeof tuned);
        exp_say_more(text, bytes, "%s%s%s%s%s%s",
                     i == 1   ? ". "
                     : i == 2 ? ", "
                              : "",
                     peers_targets[i].before, sconv, peers_targets[i].between, tuned, peers_targets[i].behind);
    }
    if (*text)
        exp_say_more(text, bytes, ".");
}

static int find_in_peers(const struct exp_page_folder *f, char *text, size_t bytes)
{
    return find_in_targets(f, say_peers, text, bytes);
}

/* Counts the targets that a simulation reaches, and all of it. */
static size_t count_reached(const struct exp_page_csv *t, const char *simulation, size_t *n)
{
    size_t reached = 0;

    *n = 0;
    for (size_t r = 0; r < t->table.n_rows; r++) {
        if (strcmp(exp_page_csv_cell(t, r, "simulation"), simulation) != 0)
            continue;
        (*n)++;
        reached += strcmp(exp_page_csv_cell(t, r, "reached"), "no") != 0;
    }
    return reached;
}

static void say_validation(const struct exp_page_csv *t, char *text, size_t bytes)
{
    size_t n_alone, n_whole, alone = count_reached(t, "caches_alone", &n_alone),
                             whole = count_reached(t, "as_machine", &n_whole);

    if (n_alone && n_whole)
        exp_say(
            text, bytes,
            "Simulated as the machine is, with prefetchers, counts are near the measured ones in %zu of %zu respects; "
            "caches alone are in %zu of %zu.",
            whole, n_whole, alone, n_alone);
}

static int find_in_validation(const struct exp_page_folder *f, char *text, size_t bytes)
{
    return find_in_targets(f, say_validation, text, bytes);
}

/* ---- all ---- */

/* Folders whose verdict is no sentence. All others have one in verdict.txt. */
static const struct {
    const char *marker;
    int (*find)(const struct exp_page_folder *f, char *text, size_t bytes);
} special[] = {
    { "study.md", find_in_study },
    { "agreement.csv", find_in_validation },
    { "phases.csv", find_in_peers },
};

int exp_page_found(const struct exp_page_folder *f, char *text, size_t bytes)
{
    *text = '\0';
    for (size_t i = 0; i < sizeof special / sizeof special[0]; i++) {
        if (exp_page_folder_has(f, special[i].marker))
            return special[i].find(f, text, bytes);
    }
    answer_of_folder(f, text, bytes);
    return 0;
}
