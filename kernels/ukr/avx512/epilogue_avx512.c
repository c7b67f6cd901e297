/* The epilogue with AVX-512. */
#include "kernels/ukr/registry.h"

enum { N_LANES = CONV_EPILOGUE_LANES__avx512 };

#if defined(__x86_64__)
#include "kernels/ukr/x86/x86_mask.h"

static inline __m512 load_part(const float *x, size_t n)
{
    LOG_READ(x, n * sizeof *x);
    return _mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1), x);
}

static inline void store_part(float *x, size_t n, __m512 part)
{
    LOG_WRITE(x, n * sizeof *x);
    _mm512_mask_storeu_ps(x, (__mmask16)((1u << n) - 1), part);
}

#define EPILOGUE_MASKS
#define EPILOGUE conv_epilogue__avx512
#include "kernels/ukr/epilogue_tmpl.h"
#endif
