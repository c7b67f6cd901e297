#include "experiments/judge/exp_judge_paper.h"

#include <math.h>
#include <string.h>

double exp_judge_published(const struct exp_judge_report *r, const char *figure, const char *model, const char *metric)
{
    struct exp_why ignored;
    bool compares = strcmp(model, "all") && strncmp(model, "Geo", 3) ? r->has_whole_models : r->has_whole_set;
    double value;

    return !compares || exp_published_double(&r->published, figure, model, r->arch, metric, &value, &ignored)
               ? (double)NAN
               : value;
}

double exp_judge_paper_speedup(const struct exp_judge_report *r, const struct exp_judge_model *model)
{
    return exp_judge_published(r, "Table 2", strcmp(model->name, "all") ? model->name : "GeoMean", "conv_speedup");
}
