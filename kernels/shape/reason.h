/* Reasons: one line of text that says why an argument, a file or a convolution is refused. */
#ifndef KERNELS_SHAPE_REASON_H
#define KERNELS_SHAPE_REASON_H

#include <stddef.h>

/* A caller's text for the reason; if bytes is 0, nothing is written. */
struct conv_reason {
    char *text;
    size_t bytes;
};

#define CONV_REASON(array) ((struct conv_reason){ array, sizeof(array) })

/* Writes the reason and returns err. */
int conv_refuse(int err, struct conv_reason why, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Appends to a reason. A text that is full is cut. */
void conv_reason_add(struct conv_reason why, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
