#include "experiments/judge/exp_judge_plot.h"

#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/replay/exp_totals.h"

enum { VARIANT_NAMES, VARIANT_TITLES, VARIANT_LABELS, YARDSTICK_NAMES, YARDSTICK_LABELS, YARDSTICK_COLOURS };

static const char *const list_names[EXP_N_JUDGE_LISTS] = {
    [VARIANT_NAMES] = "variant_names",       [VARIANT_TITLES] = "variant_titles",
    [VARIANT_LABELS] = "variant_labels",     [YARDSTICK_NAMES] = "yardstick_names",
    [YARDSTICK_LABELS] = "yardstick_labels", [YARDSTICK_COLOURS] = "yardstick_colours",
};

/* Appends a word to a list; a quoted one may have blanks. */
static void add(struct exp_judge_plot *p, int list, const char *quote, const char *word)
{
    char *text = p->text[list];

    exp_say_more(text, sizeof p->text[list], "%s%s%s%s", *text ? " " : "", quote, word, quote);
}

void exp_judge_plot_init(struct exp_judge_plot *p, const struct sim_machine *m, const char *arch)
{
    const struct exp_plot_variable fixed[] = {
        { "machine", m->name },
        { "first_level", exp_level_name(m, 0) },
        { "figure_letter", strcmp(arch, "P10") ? "a" : "b" },
    };

    *p = (struct exp_judge_plot){ 0 };
    for (size_t i = 0; i < EXP_N_VARIANTS; i++) {
        add(p, VARIANT_NAMES, "", exp_variant_at(i)->name);
        add(p, VARIANT_TITLES, "", exp_variant_at(i)->title);
        add(p, VARIANT_LABELS, "\"", exp_variant_at(i)->what);
    }
    for (unsigned y = 0; y < EXP_N_YARDSTICKS; y++) {
        char label[64];

        exp_yardstick_label((enum exp_yardstick)y, m, label, sizeof label);
        add(p, YARDSTICK_NAMES, "", exp_yardstick_name((enum exp_yardstick)y));
        add(p, YARDSTICK_LABELS, "\"", label);
        add(p, YARDSTICK_COLOURS, "", exp_yardstick_colour((enum exp_yardstick)y));
    }
    memcpy(p->variable, fixed, sizeof fixed);
    for (size_t i = 0; i < EXP_N_JUDGE_LISTS; i++)
        p->variable[sizeof fixed / sizeof fixed[0] + i] = (struct exp_plot_variable){ list_names[i], p->text[i] };
}
