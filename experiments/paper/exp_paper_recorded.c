#include "experiments/paper/exp_paper_recorded.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "counters/group/ctr_quantity.h"
#include "experiments/base/exp_error.h"
#include "experiments/report/exp_counts.h"

/* These quantities become these columns. */
static const struct {
    const char *quantity;
    enum exp_paper_value value;
} taken[] = {
    { "cycles", EXP_PAPER_CYCLES },
    { "loads", EXP_PAPER_LOADS },
    { "l1_lines_in_by_demand", EXP_PAPER_MISSES_1 },
};

/* Reads the counts of the setting's algorithms. The chosen schedule is not asked for: its counts would be of both. */
static int read_layer(struct exp_paper_part *p, const struct exp_counts *c, const struct exp_model *model, size_t index,
                      const struct exp_layer *layer, const struct exp_algo *algo)
{
    struct exp_paper_row *row = NULL;

    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++) {
        const struct exp_counts_key key = { .model = model->name,
                                            .algo = algo->name,
                                            .layer_index = layer->index,
                                            .quantity = ctr_quantity_index(taken[i].quantity),
                                            .cache = p->setting->cache };
        const char *why_not;
        double x = exp_counts_find(c, &key, &why_not);

        if (isnan(x)) {
            exp_paper_part_lacks(p, taken[i].value, why_not);
            continue;
        }
        row = row ? row : exp_paper_part_add(p, index, layer, algo);
        if (!row)
            return -ENOMEM;
        row->value[taken[i].value] = x;
    }
    return 0;
}

static int read_model(struct exp_paper_part *p, const struct exp_counts *c, const struct exp_model *model, size_t index,
                      unsigned algos)
{
    int err = 0;

    for (size_t l = 0; l < model->n_layers && !err; l++) {
        for (size_t a = 0; a < EXP_N_ALGOS && !err; a++) {
            if (algos >> a & 1)
                err = read_layer(p, c, model, index, &model->layer[l], exp_algo_at(a));
        }
    }
    return err;
}

int exp_paper_recorded_read(struct exp_paper_part *p, const char *folder, const struct exp_models *models,
                            struct exp_why *why)
{
    struct exp_counts c;
    unsigned algos;
    int err = exp_algo_select(p->setting->algos, &algos, why);

    err = err ? err : exp_counts_read(&c, folder, why);
    if (err)
        return err;
    exp_say(p->about, sizeof p->about, "%s, counted at commit %s", *c.cpu ? c.cpu : "an unnamed CPU", c.commit);
    for (size_t m = 0; m < models->n && !err; m++) {
        if (exp_counts_has(&c, models->model[m].name, p->setting->cache))
            err = read_model(p, &c, &models->model[m], m, algos);
    }
    if (!err && !p->n_rows)
        exp_say(p->why_not, sizeof p->why_not, "no counts of these models were recorded");
    exp_counts_release(&c);
    return err ? exp_fail(why, err, "out of memory") : 0;
}
