#include "experiments/page/exp_page_experiment.h"

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

size_t exp_page_rows_of_layer(const struct exp_page_csv *csv, const struct rec_table *t, size_t index, size_t *first)
{
    const char *row = csv->row;
    size_t n = 0;

    for (*first = 0; *first < csv->table.n_rows; ++*first, row += t->row_bytes) {
        if (*(const size_t *)(const void *)row == index)
            break;
    }
    for (; *first + n < csv->table.n_rows && *(const size_t *)(const void *)row == index; n++)
        row += t->row_bytes;
    return n;
}
