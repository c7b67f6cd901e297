/* libFuzzer's entry to a target: built once for each target, with -DFUZZ_TARGET=fuzz_din and so on. */
#include <stdlib.h>

#include "tests/fuzz_targets.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!FUZZ_TARGET(data, size))
        abort();
    return 0;
}
