#include "kernels/nest/nest.h"

#include <assert.h>

int conv_backend_run(struct conv_backend *backend, const struct conv_run *run)
{
    int err = 0;

    if (backend->run)
        return backend->run(backend, run);
    for (struct conv_run r = *run; r.n && !err; r.step.goes_on = true) {
        err = backend->step(backend, &r.step);
        conv_run_skip(&r, 1);
    }
    return err;
}

int conv_nest_run(const struct conv_plan *plan, struct conv_backend *backend)
{
    assert(plan->nest && backend->step);
    return plan->nest(plan, backend);
}
