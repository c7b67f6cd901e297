/* Alone, so that who keeps plans by version does not link the library: that asks hwloc. */
#include "kernels/lib/sconv.h"

const char *sconv_version(void)
{
    return SCONV_LIBRARY_VERSION;
}
