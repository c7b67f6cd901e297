/* The epilogue with AVX2. */
#include "kernels/ukr/registry.h"

enum { N_LANES = CONV_EPILOGUE_LANES__avx2 };

#if defined(__x86_64__)
#define EPILOGUE conv_epilogue__avx2
#include "kernels/ukr/epilogue_tmpl.h"
#endif
