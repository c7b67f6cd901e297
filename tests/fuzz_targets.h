/*
 * Fuzz targets. Each parser reads any bytes, or refuses them with one line that names the place. A result survives
 * being written and read again, and a machine from a file can be simulated. Shapes must pass the checks of
 * tests/kernels/shape_check.h. `make fuzz` runs the targets on libFuzzer's inputs (tests/fuzz_main.c), `make test` on
 * the kept corpus (tests/corpus).
 */
#ifndef TESTS_FUZZ_TARGETS_H
#define TESTS_FUZZ_TARGETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True if the bytes pass; else false, after a line on stderr. */
bool fuzz_machine(const uint8_t *data, size_t size);
bool fuzz_text(const uint8_t *data, size_t size);
bool fuzz_din(const uint8_t *data, size_t size);
bool fuzz_lackey(const uint8_t *data, size_t size);
bool fuzz_binary(const uint8_t *data, size_t size);

/*
 * A network, read as it is, for more images or for larger images. The network has to be consistent: sizes, data, order,
 * convolutions.
 */
bool fuzz_onnx(const uint8_t *data, size_t size);

/*
 * The bytes are a convolution's fields, eight bytes each, lowest first, then the further choices; missing fields are 1.
 */
bool fuzz_shape(const uint8_t *data, size_t size);

bool fuzz_plan(const uint8_t *data, size_t size);
bool fuzz_wisdom(const uint8_t *data, size_t size);

/*
 * A folder of recorded counts, and a folder of recorded times (experiments/show/counts.h). The bytes are the files with
 * lines "====" between: host.txt, plans.csv and counts.csv; host.txt and times.csv.
 */
bool fuzz_counts(const uint8_t *data, size_t size);
bool fuzz_times(const uint8_t *data, size_t size);

#endif
