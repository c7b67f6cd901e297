/* From a nest's step to a routine's arguments: the one place where addresses are computed. Internal to kernels/. */
#ifndef KERNELS_RESOLVE_H
#define KERNELS_RESOLVE_H

#include "kernels/nest/nest.h"
#include "kernels/ukr/pack.h"
#include "kernels/plan/plan.h"

struct conv_im2col_args conv_resolve_im2col(const struct conv_plan *p, const struct conv_binding *b,
                                            const struct conv_step *s);
struct conv_zero_args conv_resolve_zero(const struct conv_plan *p, const struct conv_binding *b,
                                        const struct conv_step *s);
struct conv_pack_windows_args conv_resolve_pack_windows(const struct conv_plan *p, const struct conv_binding *b,
                                                        const struct conv_step *s);

/*
 * Returns the routine that packs them: the plan's, or the portable one where parts of a ragged tile have narrower
 * panels.
 */
const struct conv_pack_windows *conv_resolve_packer(const struct conv_plan *p, const struct conv_pack_windows_args *a);

struct conv_pack_matrix_args conv_resolve_pack_matrix(const struct conv_plan *p, const struct conv_binding *b,
                                                      const struct conv_step *s);
struct conv_pack_filters_args conv_resolve_pack_filters(const struct conv_plan *p, const struct conv_binding *b,
                                                        const struct conv_step *s);
struct conv_direct_args conv_resolve_direct(const struct conv_plan *p, const struct conv_binding *b,
                                            const struct conv_step *s);
struct conv_ukr_args conv_resolve_ukr(const struct conv_plan *p, const struct conv_binding *b,
                                      const struct conv_step *s);

/*
 * Tells how the call a, whose windows are read tap by tap, reaches them: NULL if they are not, else *t, filled, and
 * a->in.
 */
const struct conv_taps *conv_resolve_taps(const struct conv_plan *p, const struct conv_binding *b,
                                          const struct conv_step *s, struct conv_ukr_args *a, struct conv_taps *t);

/* Returns what the call a prefetches: NULL if nothing, else *ahead, filled. */
struct conv_ahead_lists *conv_resolve_ahead(const struct conv_plan *p, const struct conv_binding *b,
                                            const struct conv_step *s, const struct conv_ukr_args *a,
                                            struct conv_ahead_lists *ahead);

/*
 * Makes the call a of a run's first step one of all its tiles, of which none is read tap by tap, unless the run is
 * along the filters.
 */
void conv_resolve_run(const struct conv_plan *p, const struct conv_run *r, struct conv_ukr_args *a);

#endif
