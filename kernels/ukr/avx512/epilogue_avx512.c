/* The epilogue with AVX-512. */
#include "kernels/ukr/registry.h"

enum { N_LANES = CONV_EPILOGUE_LANES__avx512 };

#if defined(__x86_64__)
#define EPILOGUE conv_epilogue__avx512
#include "kernels/ukr/epilogue_tmpl.h"
#endif
