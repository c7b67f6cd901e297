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
    int err;

    assert(plan->nest && backend->step);
    if (backend->begin)
        backend->begin(backend);
    err = plan->nest(plan, backend);
    if (backend->end)
        backend->end(backend);
    return err;
}
