#include "experiments/paper/exp_paper_view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "sim/cpu.h"

/* Settings by their ids, for views.def. */
enum {
#define SETTING(id, ...) setting_##id,
#include "experiments/paper/settings.def"
};

const struct exp_paper_view exp_paper_views[EXP_PAPER_N_VIEWS] = {
#define VIEW(id_, where_, arch_, heading_, what_, ...)                                                                 \
    { .id = #id_, .setting = setting_##where_, .arch = arch_, .heading = heading_, .what = what_, __VA_ARGS__ },
#include "experiments/paper/views.def"
};

const struct exp_paper_view *exp_paper_view_find(const char *id)
{
    for (size_t i = 0; i < EXP_PAPER_N_VIEWS; i++) {
        if (!strcmp(exp_paper_views[i].id, id))
            return &exp_paper_views[i];
    }
    return NULL;
}

const char *exp_paper_view_arch(const struct exp_paper_view *v)
{
    struct utsname here;

    if (*v->arch)
        return v->arch;
    if (!uname(&here) && !strcmp(here.machine, "x86_64"))
        return "x86";
    return sim_cpu_has(CPU_ISA_MMA) ? "P10" : "other";
}

/* ---- pairs ---- */

static bool is_of(const struct exp_paper_row *row, const char *algo)
{
    bool is_group = !strcmp(algo, exp_algo_chosen()->name);

    return is_group ? row->value[EXP_PAPER_CHOSEN] == 1 : !strcmp(row->algo->name, algo);
}

int exp_paper_set_of(struct exp_paper_set *s, const struct exp_paper_view *v, const struct exp_paper_part *part,
                     const char *algo, size_t n_models)
{
    const struct exp_paper_row *base = NULL;

    *s = (struct exp_paper_set){ .view = v, .n_models = n_models };
    s->pair = calloc(part->n_rows + 1, sizeof *s->pair);
    if (!s->pair)
        return -ENOMEM;
    for (size_t i = 0; i < part->n_rows; i++) {
        const struct exp_paper_row *row = &part->row[i];

        if (row->algo == exp_algo_base())
            base = row;
        if (base && base->layer == row->layer && is_of(row, algo))
            s->pair[s->n++] = (struct exp_paper_pair){ base, row };
    }
    return 0;
}

void exp_paper_set_release(struct exp_paper_set *s)
{
    free(s->pair);
    *s = (struct exp_paper_set){ 0 };
}

bool exp_paper_set_has(const struct exp_paper_set *s, size_t model)
{
    for (size_t i = 0; i < s->n; i++) {
        if (s->pair[i].base->model == model)
            return true;
    }
    return false;
}

size_t exp_paper_set_models(const struct exp_paper_set *s)
{
    size_t n = 0;

    for (size_t m = 0; m < s->n_models; m++)
        n += exp_paper_set_has(s, m);
    return n;
}

enum exp_paper_value exp_paper_misses_column(const struct exp_paper_set *s, int level)
{
    return s->view->misses ? s->view->misses + (enum exp_paper_value)level : EXP_PAPER_NONE;
}
