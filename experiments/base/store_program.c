#include "experiments/base/store.h"

/* The Makefile hashes the sources. */
#ifndef EXP_SOURCES_HASH
#define EXP_SOURCES_HASH "unknown"
#endif

const char *exp_store_program(void)
{
    return EXP_SOURCES_HASH;
}
