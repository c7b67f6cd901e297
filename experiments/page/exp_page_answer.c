/* What was asked, the answer, and its numbers. */
#include "experiments/page/exp_page_answer.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_memory.h"
#include "experiments/replay/exp_totals.h"
#include "experiments/report/exp_layers.h"
#include "experiments/report/exp_levels.h"
#include "experiments/setup/exp_algo.h"

/* How a sentence's lines begin after the first; labels of a paragraph stand further left (exp_wrap.h). */
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

void exp_page_answer_of_folder(const struct exp_page_folder *f, char *text, size_t bytes)
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

/* What an algorithm missed in a level: NaN where it is not known. */
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
