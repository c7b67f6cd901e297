#include "tests/experiments/toy.h"

#include <CUnit/CUnit.h>
#include <unistd.h>

#include "counters/host/ctr_timer.h"
#include "tests/suites.h"

#define FILE_NAME "sim/machines/toy.cfg"

bool toy_machine(struct sim_machine *m)
{
    struct exp_why why;

    if (access(FILE_NAME, R_OK)) {
        test_skip("not started from the top of the repository");
        return false;
    }
    return test_check(!sim_machine_read(m, FILE_NAME, why.text, sizeof why.text), "%s", why.text);
}

bool toy_setup(struct exp_setup *s, const char *ukr, const char *core)
{
    struct exp_why why;

    return toy_machine(&s->machine) && test_check(!exp_setup_init(s, ukr, core, &why), "%s", why.text);
}

bool toy_open(struct toy *t, bool classifies)
{
    struct exp_why why = { "" };
    unsigned algos;
    int err;

    *t = (struct toy){ .setup.classifies_misses = classifies };
    if (!toy_setup(&t->setup, "f32_16x24__ref", "Haswell"))
        return false;
    t->log = tmpfile();
    CU_ASSERT_PTR_NOT_NULL_FATAL(t->log);
    err = exp_model_find(&t->model, "experiments", "tests/data/three.csv", &why);
    err = err ? err : exp_algo_select("", &algos, &why);
    err = err ? err : exp_experiment_plan(&t->experiment, &t->setup, &t->model, algos, &why);
    t->progress = exp_progress_new(t->log, false, NULL, ctr_now_ns);
    return test_check(!err, "%s", why.text);
}

void toy_close(struct toy *t)
{
    exp_progress_free(t->progress);
    exp_experiment_release(&t->experiment);
    exp_setup_release(&t->setup);
    exp_model_release(&t->model);
    if (t->log)
        fclose(t->log);
}
