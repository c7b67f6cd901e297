/*
 * Fuzzing tries this on each parser: any bytes at all are either read or refused with one line that names the place,
 * and what was read survives being written and read again; a machine that is read can be simulated; and on shapes, what tests/kernels/shape_check.h says. `make
 * fuzz` runs them on libFuzzer's inputs (tests/fuzz_main.c), `make test` on the corpus that it left (tests/corpus).
 */
#ifndef TESTS_FUZZ_TARGETS_H
#define TESTS_FUZZ_TARGETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True if the above holds for these bytes; else false, after one line on stderr. */
bool fuzz_machine(const uint8_t *data, size_t size);
bool fuzz_text(const uint8_t *data, size_t size);
bool fuzz_din(const uint8_t *data, size_t size);
bool fuzz_lackey(const uint8_t *data, size_t size);
bool fuzz_binary(const uint8_t *data, size_t size);

/*
 * A network, which is asked for as it is, for more images or for larger ones: what was read holds together, too: sizes,
 * data, order, convolutions.
 */
bool fuzz_onnx(const uint8_t *data, size_t size);

/*
 * Returns a convolution's fields, eight bytes each, lowest first, then what varies beside them; what is missing is 1.
 */
bool fuzz_shape(const uint8_t *data, size_t size);

#endif
