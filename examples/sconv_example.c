/* A 3x3 convolution of a 224x224 image with bias and ReLU, over two threads. Build: cc sconv_example.c $(pkg-config
 * --cflags --libs sconv) */
#include <sconv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
    const struct sconv_shape shape = { .batch = 1,
                                       .in_c = 3,
                                       .in_h = 224,
                                       .in_w = 224,
                                       .out_c = 64,
                                       .k_h = 3,
                                       .k_w = 3,
                                       .stride_h = 1,
                                       .stride_w = 1,
                                       .pad_top = 1,
                                       .pad_left = 1,
                                       .pad_bottom = 1,
                                       .pad_right = 1,
                                       .dilation_h = 1,
                                       .dilation_w = 1,
                                       .groups = 1 };
    float *src = calloc(3 * 224 * 224, sizeof *src), *dst = calloc(64 * 224 * 224, sizeof *dst);
    float *weights = calloc(64 * 3 * 3 * 3, sizeof *weights), *bias = calloc(64, sizeof *bias);
    const struct sconv_options options = { .bias = bias, .activation = SCONV_RELU, .threads = 2 };
    struct sconv_plan *plan = NULL;
    char text[256];
    int err = src && dst && weights && bias ? sconv_plan_create(&plan, &shape, NULL, weights, &options) : 1;
    void *workspace = err ? NULL : malloc(sconv_workspace_bytes(plan));

    if (!err)
        err = workspace ? sconv_run(plan, src, dst, NULL, workspace, sconv_workspace_bytes(plan)) : 1;
    if (!err && sconv_plan_describe(plan, text, sizeof text))
        printf("%s\n", text);
    if (err)
        fprintf(stderr, "sconv_example: %s\n", err < 0 ? strerror(-err) : "out of memory");
    sconv_plan_free(plan);
    free(workspace), free(src), free(dst), free(weights), free(bias);
    return err ? EXIT_FAILURE : EXIT_SUCCESS;
}
