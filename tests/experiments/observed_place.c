#include "tests/experiments/observed_place.h"

#include <stdlib.h>
#include <unistd.h>

#include "experiments/base/error.h"
#include "kernels/ukr/dispatch.h"
#include "tests/suites.h"

static bool find_place(struct observed_place *p, const char *ukr, const char *variable, const char *machine)
{
    const char *path = getenv("PATH");
    char *find;
    int found;

    *p = (struct observed_place){ .emulator = exp_emulator_for(conv_ukr_find(ukr)), .machine = machine, .ukr = ukr };
    p->observer = getenv("OBSERVER");
    p->guest = getenv(variable);
    if (!p->observer || !*p->observer || !p->guest || !*p->guest || !path)
        return false;
    find = exp_format("command -v %s >/dev/null", p->emulator->program);
    found = find ? system(find) : -1;
    free(find);
    return found == 0 && !access(p->observer, R_OK) && !access(p->guest, X_OK);
}

size_t observed_find_places(struct observed_place place[2])
{
    size_t n = 0;

    n += find_place(&place[n], "f32_16x6__avx2", "GUEST_x86_64", "sim/machines/clx4208.cfg");
    n += find_place(&place[n], "f32_16x8__mma", "GUEST_ppc64le", "sim/machines/power10.cfg");
    if (!n)
        test_skip("no qemu-user, or no OBSERVER and GUEST_x86_64 or GUEST_ppc64le in the environment");
    return n;
}

bool observed_find_twin(struct observed_place *p)
{
    *p = (struct observed_place){ .emulator = exp_emulator_twin(),
                                  .guest = getenv("TWIN"),
                                  .machine = "sim/machines/clx4208.cfg" };
    if (p->guest && !access(p->guest, X_OK))
        return true;
    test_skip("no TWIN in the environment");
    return false;
}

bool observed_find_copied(struct observed_place *p, const char *ukr, const char *machine)
{
    *p = (struct observed_place){ .emulator = exp_emulator_copied(conv_ukr_find(ukr)->isa),
                                  .guest = getenv("COPIED"),
                                  .machine = machine,
                                  .ukr = ukr };
    if (!p->guest || access(p->guest, X_OK))
        test_skip("no COPIED in the environment");
    else if (!conv_ukr_runs(conv_ukr_find(ukr)))
        test_skip("this CPU does not run %s", ukr);
    else
        return true;
    return false;
}
