/* kernels/blas/onednn.h for the program that is run under emulation: a static program cannot load libraries. */
#include "kernels/blas/onednn.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

int conv_onednn_load(struct conv_onednn **d, enum conv_type type, struct sim_why why)
{
    (void)type;
    *d = NULL;
    return sim_fail(why, -ENOTSUP, "a static program cannot load oneDNN");
}

void conv_onednn_unload(struct conv_onednn *d)
{
    assert(!d);
    (void)d;
}

const char *conv_onednn_version(const struct conv_onednn *d)
{
    (void)d;
    return "";
}

int conv_onednn_multiply(struct conv_onednn *d, const struct conv_onednn_product *p)
{
    (void)d;
    (void)p;
    return -ENOTSUP;
}
