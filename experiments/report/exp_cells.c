#include "experiments/report/exp_cells.h"

void exp_cells_sums(struct exp_csv *csv, const struct exp_times *sums, const char *why)
{
    exp_csv_number(csv, "measured_time_ns", sums->low_mean, why);
    exp_csv_number(csv, "measured_time_min_ns", sums->fastest, why);
    exp_csv_number(csv, "measured_time_median_ns", sums->median, why);
}

void exp_cells_interval(struct exp_csv *csv, const struct exp_ratio *speedup, const char *why)
{
    exp_csv_number(csv, "measured_speedup_low", speedup->low, why);
    exp_csv_number(csv, "measured_speedup_high", speedup->high, why);
    exp_csv_number(csv, "measured_speedup_by_median", speedup->by_median, why);
}

void exp_cells_mark(struct exp_csv *csv, const struct exp_mark *m)
{
    const struct exp_mark none = { 0 }, *x = m ? m : &none;
    const struct {
        const char *column;
        uint32_t value;
    } cells[] = { { "ruler_clock_ns", x->clock_ns },
                  { "ruler_fma_ns", x->fma_ns },
                  { "ruler_loads_clock_ns", x->loads_clock_ns },
                  { "ruler_loads_ns", x->loads_ns },
                  { "taken_again", x->n_again } };

    for (size_t i = 0; i < sizeof cells / sizeof cells[0]; i++) {
        if (x->clock_ns)
            exp_csv_u64(csv, cells[i].column, cells[i].value);
        else
            exp_csv_missing(csv, cells[i].column, "no ruler stood beside it");
    }
}

void exp_cells_rounds(struct exp_csv *csv, size_t n_rounds, enum exp_end end, const char *why)
{
    if (why) {
        exp_csv_missing(csv, "measured_rounds", why);
        exp_csv_missing(csv, "measured_end", why);
        return;
    }
    exp_csv_u64(csv, "measured_rounds", n_rounds);
    exp_csv_string(csv, "measured_end", exp_end_text(end));
}
