#include "experiments/report/exp_report_file.h"

#include <time.h>

#include "experiments/replay/exp_totals.h"

static void write_header(struct exp_csv *csv, const struct exp_report *r, const char *row)
{
    const struct exp_setup *s = r->e->setup;
    time_t now = time(NULL);
    struct tm utc;
    char date[32] = "unknown", disturbance[400], planned[200], ruled[160];

    if (gmtime_r(&now, &utc))
        strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &utc);
    exp_csv_header(csv, "experiment", "%s on %s", r->e->model->name, s->machine.name);
    exp_csv_header(csv, "one row", "%s", row);
    exp_csv_header(csv, "date", "%s", date);
    exp_csv_header(csv, "commit", "%s", *r->commit ? r->commit : "unknown");
    exp_csv_header(csv, "compiler", "%s", __VERSION__);
    exp_csv_header(csv, "simulated machine", "%s (machine.cfg beside this file)", s->machine.description);
    exp_say_planned_levels(&s->machine, planned, sizeof planned);
    exp_csv_header(csv, "levels", "l1 is its %s, l2 its %s, l3 its %s%s%s", exp_level_name(&s->machine, 0),
                   exp_level_name(&s->machine, 1), exp_level_name(&s->machine, 2), *planned ? ". " : "", planned);
    exp_csv_header(csv, "OpenBLAS that ran", "%s", s->blas.handle ? s->blas.core : s->why_no_blas);
    exp_csv_header(csv, "caches at the start of a layer", "%s", exp_cache_state_name(r->cache));
    exp_csv_header(csv, "filters", "%s", s->packs_filters ? "packed at run time" : "packed ahead of time, not counted");
    exp_disturbance_describe(&r->info->disturbance, disturbance, sizeof disturbance);
    if (r->is_timed)
        exp_csv_header(csv, "disturbance", "%s", disturbance);
    exp_ruler_say(&r->info->ruler, ruled, sizeof ruled);
    if (r->is_timed)
        exp_csv_header(csv, "ruler", "%s", ruled);
    if (r->is_timed)
        exp_csv_header(csv, "timed rounds", "%zu: %s", r->info->n_rounds, exp_end_text(r->info->end));
    else
        exp_csv_header(csv, "timed rounds", "0");
    exp_csv_header(csv, "host", "host.txt beside this file");
}

int exp_report_open(struct exp_csv **csv, const struct exp_report *r, const struct exp_outdir *dir,
                    const struct exp_csv_file *file, const char *row, struct exp_why *why)
{
    int err = exp_csv_create(csv, dir, file, NULL, why);

    if (!err)
        write_header(*csv, r, row);
    return err;
}
