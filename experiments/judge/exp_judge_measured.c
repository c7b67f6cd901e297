#include "experiments/judge/exp_judge_measured.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/report/exp_layers.h"

#define AT(member) offsetof(struct exp_layers_row, member)

static const size_t needed[] = { AT(layer_index),   AT(layer),       AT(macs),        AT(algo),
                                 AT(ukr),           AT(caches),      AT(is_machine),  AT(times.low_mean),
                                 AT(speedup.value), AT(speedup.low), AT(speedup.high) };

int exp_judge_measured_read(struct rec_rows *layers, const char *path, struct exp_why *why)
{
    int err = rec_read_some(layers, &exp_layers_table, path, needed, sizeof needed / sizeof needed[0], why);

    if (err == -ENOENT)
        return exp_fail(why, err, "there is no '%s'; make experiment writes one", path);
    return err;
}

static bool is_of(const struct exp_layers_row *row, const struct exp_case *c, enum exp_cache_state caches)
{
    return row->layer_index == c->layer->index && !strcmp(row->layer, c->layer->name) &&
           row->macs == conv_macs(&c->layer->problem) && !strcmp(row->algo, c->algo->name) &&
           !strcmp(row->ukr, c->plan.ukr->name) && !strcmp(row->caches, exp_cache_state_name(caches)) &&
           row->is_machine;
}

struct exp_judge_time exp_judge_measured_find(const struct rec_rows *layers, const struct exp_case *c,
                                              enum exp_cache_state caches)
{
    const struct exp_layers_row *row = layers->row;

    for (size_t i = 0; i < layers->n; i++) {
        if (is_of(&row[i], c, caches))
            return (struct exp_judge_time){ row[i].times.low_mean, row[i].speedup };
    }
    return (struct exp_judge_time){ (double)NAN, exp_ratio_none() };
}
