/* The version of the kernels. Plans found by timing are kept by it. */
#ifndef KERNELS_WISDOM_VERSION_H
#define KERNELS_WISDOM_VERSION_H

/* Returns the version, such as "1.1.0". */
const char *wisdom_version(void);

#endif
