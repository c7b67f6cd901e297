/* The epilogue in vectors of 16 bytes, which every CPU here has. */
#include "kernels/ukr/registry.h"

enum { N_LANES = CONV_EPILOGUE_LANES__ref };

#define EPILOGUE conv_epilogue__ref
#include "kernels/ukr/epilogue_tmpl.h"
