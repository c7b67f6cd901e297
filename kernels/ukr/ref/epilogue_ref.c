/* The epilogue in vectors of 16 bytes, which all CPUs here have. */
#include "kernels/ukr/registry.h"

enum { N_LANES = CONV_EPILOGUE_LANES__ref };

#define EPILOGUE conv_epilogue__ref
#include "kernels/ukr/epilogue_tmpl.h"
