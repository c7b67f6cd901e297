/* Measured points beside the replayed: sums of the networks of measured.def. */
#include <math.h>

#include "experiments/choices/study/study.h"

/* A record of measured.def: a micro-kernel, or a network of the micro-kernel before. */
struct record {
    struct exp_study_rate rate; /* .what NULL: a network */
    size_t layers;
    double base_ms, sconv_ms, base_percent, sconv_percent;
};

static const struct record records[] = {
#define MEASURED(what_, rows, columns, per_cycle, ukr_, core_, type_)                                                  \
    { .rate = { what_,                                                                                                 \
                { .mac_rows = rows, .mac_columns = columns, .mac_instructions_per_cycle = per_cycle },                 \
                ukr_,                                                                                                  \
                core_,                                                                                                 \
                type_ } },
#define OF(network, layers_, base, sconv, base_packs, sconv_packs)                                                     \
    { .layers = layers_, .base_ms = base, .sconv_ms = sconv, .base_percent = base_packs, .sconv_percent = sconv_packs },
#include "experiments/choices/study/measured.def"
};

enum { N_RECORDS = sizeof records / sizeof *records };

bool exp_study_measured(size_t i, struct exp_study_measured *m)
{
    double base = 0, sconv = 0, gain = 0;
    size_t at = 0, n = 0;

    while (at < N_RECORDS && (!records[at].rate.what || i--))
        at++;
    if (at == N_RECORDS)
        return false;
    *m = (struct exp_study_measured){ .rate = records[at].rate };
    for (const struct record *r = &records[at + 1]; r < records + N_RECORDS && !r->rate.what; r++, n++) {
        m->n_layers += r->layers;
        base += r->base_ms;
        sconv += r->sconv_ms;
        gain += log(r->base_ms / r->sconv_ms);
        m->both.base_packing_percent += r->base_ms * r->base_percent;
        m->both.sconv_packing_percent += r->sconv_ms * r->sconv_percent;
    }
    m->both.base = m->both.sconv = (double)NAN; /* the clock gave times */
    m->both.base_packing_percent /= base;
    m->both.sconv_packing_percent /= sconv;
    m->both.speedup = exp(gain / (double)n);
    return true;
}
