/* What was asked, the answer, and its numbers. */
#include "experiments/page/exp_page_answer.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"
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
    FILE *out = open_memstream(&sentence, &bytes);

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
    size_t rows = model->table.n_rows;

    for (size_t i = 0; i < rows; i++) {
        if (!isnan(exp_page_csv_number(model, i, "measured_speedup_vs_base")))
            return false;
    }
    return rows && *exp_page_csv_cell(model, 0, "measured_speedup_vs_base");
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

    if (exp_page_csv_read(&model, f->path, "model.csv", NULL, 0))
        model = (struct exp_page_csv){ 0 };
    exp_page_answer_of(verdict ? verdict : "", is_untimed(&model), text, bytes);
    exp_page_csv_release(&model);
    free(verdict);
}

/* Says the verdict's first paragraph: the answer, and how it was found. */
static void say_answer(struct exp_page_writer *w, const char *verdict, size_t at)
{
    if (!*verdict)
        w->ops->say(w, EXP_PAGE_PARAGRAPH, "There is no verdict.txt in this folder: an older version made it.");
    for (size_t i = 0; *verdict && *verdict != '\n'; i++) {
        char *sentence = next_sentence(&verdict);

        if (sentence)
            w->ops->say(w, i == at ? EXP_PAGE_ANSWER : EXP_PAGE_PARAGRAPH, sentence);
        free(sentence);
    }
}

enum { MOST_CARDS = 8, CARD_BYTES = 96 };

struct cards {
    struct exp_page_fact fact[MOST_CARDS];
    char name[MOST_CARDS][CARD_BYTES], value[MOST_CARDS][CARD_BYTES], note[MOST_CARDS][2 * CARD_BYTES];
    size_t n;
};

/* Adds a card; the value is NaN where it is not known, and then there is no card. */
static void add_card(struct cards *c, const char *name, double value, const char *unit, const char *note)
{
    char number[48];

    if (isnan(value) || c->n == MOST_CARDS)
        return;
    exp_page_print_number(number, sizeof number, value, EXP_PAGE_DECIMAL);
    exp_say(c->name[c->n], CARD_BYTES, "%s", name);
    exp_say(c->value[c->n], CARD_BYTES, "%s%s", number, unit);
    exp_say(c->note[c->n], 2 * CARD_BYTES, "%s", note);
    c->fact[c->n] = (struct exp_page_fact){ c->name[c->n], c->value[c->n], c->note[c->n] };
    c->n++;
}

/* Tells whether a model's row is more than the reference or one of the schedules that CSA chose from. */
static bool is_contender(const char *name)
{
    const struct exp_algo *a = exp_algo_find(name);

    return a && a != exp_algo_base() && a->when != EXP_ALGO_MEMBER;
}

static void add_speedups(struct cards *c, const struct exp_page_run *r)
{
    for (size_t row = 0; row < r->model.table.n_rows; row++) {
        const char *algo = exp_page_csv_cell(&r->model, row, "algo");
        char low[32], high[32], note[128];

        if (!is_contender(algo))
            continue;
        exp_page_print_number(low, sizeof low, exp_page_csv_number(&r->model, row, "measured_speedup_low"),
                              EXP_PAGE_DECIMAL);
        exp_page_print_number(high, sizeof high, exp_page_csv_number(&r->model, row, "measured_speedup_high"),
                              EXP_PAGE_DECIMAL);
        exp_say(note, sizeof note, "as fast as Base%s%s%s%s%s", *low ? ", 95 % within [" : "", low, *low ? ", " : "",
                high, *low ? "]" : "");
        add_card(c, exp_page_algo_title(algo), exp_page_csv_number(&r->model, row, "measured_speedup_vs_base"),
                 "\xc3\x97", note);
    }
}

/* Misses of the chosen SConv against Base's. */
static void add_misses(struct cards *c, const struct exp_page_run *r)
{
    size_t base = exp_page_csv_find(&r->model, "algo", exp_algo_base()->name),
           sconv = exp_page_csv_find(&r->model, "algo", exp_algo_chosen()->name);

    for (size_t l = 0; l < EXP_PAGE_LEVELS && r->level[l]; l++) {
        char column[64], name[64];

        exp_say(column, sizeof column, "simulated_l%zu_misses_per_1000_macs", l + 1);
        exp_say(name, sizeof name, "misses in %s", r->level[l]);
        add_card(c, name, exp_page_csv_number(&r->model, sconv, column) / exp_page_csv_number(&r->model, base, column),
                 "\xc3\x97", "of Base's, SConv as CSA chose, simulated");
    }
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
        r->n_layers, r->n_layers == 1 ? "" : "s", exp_page_csv_cell(&r->layers, 0, "model"),
        *machine ? machine : r->machine.description, *caches ? " Caches at the start of a layer: " : "", caches,
        *caches ? "." : "");
}

void exp_page_answer_write(struct exp_page_writer *w, const struct exp_page_run *r)
{
    struct cards *c = calloc(1, sizeof *c);
    char *verdict = exp_page_folder_text(r->f, "verdict.txt");

    say_question(w, r);
    if (verdict)
        say_answer(w, verdict, is_untimed(&r->model));
    if (c) {
        add_speedups(c, r);
        add_misses(c, r);
        if (c->n)
            w->ops->facts(w, EXP_PAGE_CARDS, c->fact, c->n);
    }
    free(verdict);
    free(c);
}
