#include "kernels/wisdom/version.h"

const char *wisdom_version(void)
{
    return KERNELS_VERSION;
}
