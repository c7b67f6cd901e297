#include "kernels/ukr/dispatch.h"

#include <assert.h>
#include <string.h>

#include "kernels/ukr/registry.h"

#define UKR_ADDRESS(tile, isa) &conv_ukr_##tile##__##isa,
static const struct conv_ukr *const ukrs[] = { CONV_UKRS(UKR_ADDRESS) };

#define PACKER_ADDRESS(isa) &conv_pack_windows__##isa,
static const struct conv_pack_windows *const packers[] = { CONV_WINDOW_PACKERS(PACKER_ADDRESS) };

#define LANE_UKR_ADDRESS(type, tile, isa, extension) &conv_ukr_##type##_##tile##__##isa,
#define LANE_LISTS(number, type)                                                                                       \
    static const struct conv_ukr *const type##_ukrs[] = { CONV_UKRS_##type(LANE_UKR_ADDRESS) };                        \
    static const struct conv_pack_windows *const type##_packers[] = { &conv_pack_windows_##type##__ref,                \
                                                                      &conv_pack_windows_##type##__avx512 };
CONV_LANE_TYPES(LANE_LISTS)

#define LISTS(ukrs, packers) ukrs, sizeof ukrs / sizeof ukrs[0], packers, sizeof packers / sizeof packers[0]
#define LANE_KERNELS(number, type)                                                                                     \
    [number] = { LISTS(type##_ukrs, type##_packers), conv_pack_filters_##type, conv_pack_filters_##type##_emit },
static const struct conv_type_kernels kernels[CONV_N_TYPES] = {
    [CONV_F32] = { LISTS(ukrs, packers), conv_pack_filters, conv_pack_filters_emit }, CONV_LANE_TYPES(LANE_KERNELS)
};

const struct conv_type_kernels *conv_kernels_of(enum conv_type type)
{
    assert(type < CONV_N_TYPES);
    return &kernels[type];
}

const struct conv_ukr *conv_ukr_best_of(enum conv_type type)
{
    const struct conv_type_kernels *k = conv_kernels_of(type);
    size_t i = k->n_ukrs - 1;

    while (!conv_ukr_runs(k->ukr[i]))
        i--;
    return k->ukr[i];
}

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
    return u->fn && sim_cpu_has(u->isa) && sim_cpu_extends(u->extension);
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

const struct conv_pack_windows *conv_pack_windows_for(const struct conv_problem *p, const struct conv_ukr *u,
                                                      bool may_transpose)
{
    const struct conv_type_kernels *k = conv_kernels_of(u->type);
    const struct conv_pack_windows *best = k->pack_windows[0];

    for (size_t i = 1; i < k->n_packers; i++) {
        if (suits(k->pack_windows[i], p, u) && (may_transpose || !k->pack_windows[i]->transposes))
            best = k->pack_windows[i];
    }
    return best;
}
