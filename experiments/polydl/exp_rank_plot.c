#include "experiments/polydl/exp_rank_plot.h"

#include "experiments/base/exp_error.h"
#include "experiments/polydl/exp_ranking.h"

void exp_rank_plot_init(struct exp_rank_plot *p)
{
    *p = (struct exp_rank_plot){ .names = "" };
    for (size_t r = 0; r < EXP_N_RANKINGS; r++) {
        const char *blank = r ? " " : "";

        exp_say_more(p->names, sizeof p->names, "%s%s", blank, exp_ranking_name((enum exp_ranking)r));
        exp_say_more(p->titles, sizeof p->titles, "%s\"%s\"", blank, exp_ranking_title((enum exp_ranking)r));
    }
    p->variable[0] = (struct exp_plot_variable){ "ranking_names", p->names };
    p->variable[1] = (struct exp_plot_variable){ "ranking_titles", p->titles };
}
