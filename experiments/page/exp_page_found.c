#include "experiments/page/exp_page_found.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/page/exp_page_answer.h"
#include "experiments/page/exp_page_data.h"

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

/* What peers are held against: a target's name, and what stands before, between and behind SConv's numbers. */
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
    exp_page_answer_of_folder(f, text, bytes);
    return 0;
}
