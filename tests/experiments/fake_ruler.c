#include "tests/experiments/fake_ruler.h"

int fake_ruler_disturbed(struct exp_ruler **r, const struct conv_peak *peak)
{
    static const struct exp_mark quiet = { .clock_ns = 100, .fma_ns = 1, .loads_clock_ns = 100, .loads_ns = 1 };
    int err = exp_ruler_new(r, peak);

    for (size_t i = 0; !err && *r && i < 100000; i++)
        exp_ruler_best_add(&(*r)->best, &quiet);
    return err;
}
