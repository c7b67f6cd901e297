/* From a nest's step to a routine's arguments: addresses are computed here and nowhere else. Internal to kernels/. */
#ifndef KERNELS_RESOLVE_H
#define KERNELS_RESOLVE_H

#include "kernels/blas/product.h"
#include "kernels/nest/nest.h"
#include "kernels/ukr/pack.h"
#include "kernels/plan/plan.h"

struct conv_im2col_args conv_resolve_im2col(const struct conv_plan *p, const struct conv_binding *b,
                                            const struct conv_step *s);
struct conv_zero_args conv_resolve_zero(const struct conv_plan *p, const struct conv_binding *b,
                                        const struct conv_step *s);
struct conv_pack_windows_args conv_resolve_pack_windows(const struct conv_plan *p, const struct conv_binding *b,
                                                        const struct conv_step *s);

/* Returns the routine that packs the windows; where parts of a ragged tile have narrower panels, the portable one. */
const struct conv_pack_windows *conv_resolve_packer(const struct conv_plan *p, const struct conv_pack_windows_args *a);

struct conv_pack_matrix_args conv_resolve_pack_matrix(const struct conv_plan *p, const struct conv_binding *b,
                                                      const struct conv_step *s);
struct conv_pack_filters_args conv_resolve_pack_filters(const struct conv_plan *p, const struct conv_binding *b,
                                                        const struct conv_step *s);
struct conv_product_args conv_resolve_product(const struct conv_plan *p, const struct conv_binding *b,
                                              const struct conv_step *s);
struct conv_direct_args conv_resolve_direct(const struct conv_plan *p, const struct conv_binding *b,
                                            const struct conv_step *s);
struct conv_winograd_args conv_resolve_winograd_in(const struct conv_plan *p, const struct conv_binding *b,
                                                   const struct conv_step *s);
struct conv_winograd_args conv_resolve_winograd_out(const struct conv_plan *p, const struct conv_binding *b,
                                                    const struct conv_step *s);
struct conv_winograd_filter_args conv_resolve_winograd_filters(const struct conv_plan *p, const struct conv_binding *b,
                                                               const struct conv_step *s);
struct conv_ukr_args conv_resolve_ukr(const struct conv_plan *p, const struct conv_binding *b,
                                      const struct conv_step *s);

/* Sets the taps of a call's windows in place: fills *t and a->in, and returns t. NULL: the windows are packed. */
const struct conv_taps *conv_resolve_taps(const struct conv_plan *p, const struct conv_binding *b,
                                          const struct conv_step *s, struct conv_ukr_args *a, struct conv_taps *t);

/* Returns the prefetches of the call a: fills *ahead and returns it. NULL: nothing is prefetched. */
struct conv_ahead_lists *conv_resolve_ahead(const struct conv_plan *p, const struct conv_binding *b,
                                            const struct conv_step *s, const struct conv_ukr_args *a,
                                            struct conv_ahead_lists *ahead);

/* Makes the call of a run's first step a call of all tiles; tiles along the windows are not read tap by tap. */
void conv_resolve_run(const struct conv_plan *p, const struct conv_run *r, struct conv_ukr_args *a);

#endif
