#include "experiments/page/exp_page_experiment.h"

#include <string.h>

#include "experiments/setup/exp_algo.h"

const char *exp_page_algo_title(const char *name)
{
    const struct exp_algo *a = exp_algo_find(name);

    return a ? a->title : name;
}

const char *exp_page_algo_colour(const char *name)
{
    const struct exp_algo *a = exp_algo_find(name);

    return a ? a->colour : "#7f7f7f";
}

size_t exp_page_rows_of_layer(const struct exp_page_csv *csv, const char *index, size_t *first)
{
    size_t n = 0;

    *first = exp_page_csv_find(csv, "layer_index", index);
    while (*first + n < csv->table.n_rows && !strcmp(exp_page_csv_cell(csv, *first + n, "layer_index"), index))
        n++;
    return n;
}
