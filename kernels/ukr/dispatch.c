#include "kernels/ukr/dispatch.h"

#include <assert.h>
#include <string.h>

#include "kernels/ukr/registry.h"

#define UKR_ADDRESS(tile, isa) &conv_ukr_##tile##__##isa,
static const struct conv_ukr *const ukrs[] = { CONV_UKRS(UKR_ADDRESS) };

#define PACKER_ADDRESS(isa) &conv_pack_windows__##isa,
static const struct conv_pack_windows *const packers[] = { CONV_WINDOW_PACKERS(PACKER_ADDRESS) };

size_t conv_ukr_count(void)
{
    return sizeof ukrs / sizeof ukrs[0];
}

const struct conv_ukr *conv_ukr_at(size_t i)
{
    assert(i < conv_ukr_count());
    return ukrs[i];
}

const struct conv_ukr *conv_ukr_find(const char *name)
{
    assert(name);
    for (size_t i = 0; i < conv_ukr_count(); i++) {
        if (!strcmp(ukrs[i]->name, name))
            return ukrs[i];
    }
    return NULL;
}

const struct conv_ukr *conv_ukr_of(enum cpu_isa isa)
{
    size_t i = 0;

    while (ukrs[i]->isa != isa)
        i++;
    return ukrs[i];
}

bool conv_ukr_runs(const struct conv_ukr *u)
{
    return u->fn && sim_cpu_has(u->isa);
}

const struct conv_ukr *conv_ukr_best(void)
{
    const struct conv_ukr *best = ukrs[0];

    for (size_t i = 0; i < conv_ukr_count(); i++) {
        if (conv_ukr_runs(ukrs[i]) && ukrs[i]->isa > best->isa)
            best = ukrs[i];
    }
    return best;
}

size_t conv_pack_windows_count(void)
{
    return sizeof packers / sizeof packers[0];
}

const struct conv_pack_windows *conv_pack_windows_at(size_t i)
{
    assert(i < conv_pack_windows_count());
    return packers[i];
}

static bool suits(const struct conv_pack_windows *pack, const struct conv_problem *p, const struct conv_ukr *u)
{
    return pack->isa == u->isa && conv_pack_windows_suits(pack, p, conv_ukr_win_panel(u));
}

const struct conv_pack_windows *conv_pack_windows_for(const struct conv_problem *p, const struct conv_ukr *u)
{
    const struct conv_pack_windows *best = packers[0];

    for (size_t i = 1; i < conv_pack_windows_count(); i++) {
        if (suits(packers[i], p, u))
            best = packers[i];
    }
    return best;
}
