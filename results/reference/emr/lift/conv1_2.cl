/* conv1_2 of `make lift`: for each band all kernels, with the buffers that they name and the band's number
layer 64 224 224 64 3 3 1 1 1 1 1 1
point tile=6 pad_y=16 pad_x=8 band=12 kernels=32 lanes=16 windows=16 elements=576 vector=1 coalesced=0 unroll=1 joined=0 flags=1
filters 32 16 1
flags -cl-mad-enable
bands 5
buffer padded 2995200
buffer partial 2850816
buffer sums 0
kernel pad 8 50 8 1 input padded
kernel convolve 2 696 1 1 padded filters partial
kernel crop 64 48 32 1 partial output
*/
#ifndef GROUP
#define GROUP(x, y) __attribute__((reqd_work_group_size(x, y, 1)))
#endif
#ifndef LANE
#define LANE(v, i) v.s##i
#endif
#ifndef SPLAT
#define SPLAT(t, x) ((t)(x))
#endif

__kernel GROUP(8, 1) void pad(__global const float *restrict input, __global float *restrict padded, int band)
{
    const int c = (int)get_global_id(0) * 8, row = (int)get_global_id(1);
    const int y = band * 48 + row - 1;
    __global const float *restrict from = input + ((long)c * 224 + y) * 224 - 1;
    __global float *restrict to = padded + (long)row * 14976 + c;

    for (int x = 0; x < 234; x++, to += 64) {
        float8 v = SPLAT(float8, 0.0f);
        if (y >= 0 && y < 224 && x >= 1 && x < 225) {
            LANE(v, 0) = from[0 + x];
            LANE(v, 1) = from[50176 + x];
            LANE(v, 2) = from[100352 + x];
            LANE(v, 3) = from[150528 + x];
            LANE(v, 4) = from[200704 + x];
            LANE(v, 5) = from[250880 + x];
            LANE(v, 6) = from[301056 + x];
            LANE(v, 7) = from[351232 + x];
        }
        vstore8(v, 0, to);
    }
}

__kernel GROUP(1, 1) void convolve(__global const float *restrict padded, __global const float *restrict filters, __global float *restrict partial, int band)
{
    const int chunk = (int)get_local_id(0), part = (int)get_local_id(1);
    const int group = (int)get_group_id(0), tile = (int)get_group_id(1);
    const int at = (tile / 58 * 936 + tile % 58 * 4) * 64;
    __global const float *restrict f = filters + (long)group * 18432;
    __global const float *restrict x0 = padded + at + (part * 4 + 0) * 14976 + 0;
    __global const float *restrict x1 = padded + at + (part * 4 + 0) * 14976 + 64;
    __global const float *restrict x2 = padded + at + (part * 4 + 0) * 14976 + 128;
    __global const float *restrict x3 = padded + at + (part * 4 + 0) * 14976 + 192;
    __global const float *restrict x4 = padded + at + (part * 4 + 1) * 14976 + 0;
    __global const float *restrict x5 = padded + at + (part * 4 + 1) * 14976 + 64;
    __global const float *restrict x6 = padded + at + (part * 4 + 1) * 14976 + 128;
    __global const float *restrict x7 = padded + at + (part * 4 + 1) * 14976 + 192;
    __global const float *restrict x8 = padded + at + (part * 4 + 2) * 14976 + 0;
    __global const float *restrict x9 = padded + at + (part * 4 + 2) * 14976 + 64;
    __global const float *restrict x10 = padded + at + (part * 4 + 2) * 14976 + 128;
    __global const float *restrict x11 = padded + at + (part * 4 + 2) * 14976 + 192;
    __global const float *restrict x12 = padded + at + (part * 4 + 3) * 14976 + 0;
    __global const float *restrict x13 = padded + at + (part * 4 + 3) * 14976 + 64;
    __global const float *restrict x14 = padded + at + (part * 4 + 3) * 14976 + 128;
    __global const float *restrict x15 = padded + at + (part * 4 + 3) * 14976 + 192;
    float16 a0_0 = SPLAT(float16, 0.0f);
    float16 a0_1 = SPLAT(float16, 0.0f);
    float16 a1_0 = SPLAT(float16, 0.0f);
    float16 a1_1 = SPLAT(float16, 0.0f);
    float16 a2_0 = SPLAT(float16, 0.0f);
    float16 a2_1 = SPLAT(float16, 0.0f);
    float16 a3_0 = SPLAT(float16, 0.0f);
    float16 a3_1 = SPLAT(float16, 0.0f);
    float16 a4_0 = SPLAT(float16, 0.0f);
    float16 a4_1 = SPLAT(float16, 0.0f);
    float16 a5_0 = SPLAT(float16, 0.0f);
    float16 a5_1 = SPLAT(float16, 0.0f);
    float16 a6_0 = SPLAT(float16, 0.0f);
    float16 a6_1 = SPLAT(float16, 0.0f);
    float16 a7_0 = SPLAT(float16, 0.0f);
    float16 a7_1 = SPLAT(float16, 0.0f);
    float16 a8_0 = SPLAT(float16, 0.0f);
    float16 a8_1 = SPLAT(float16, 0.0f);
    float16 a9_0 = SPLAT(float16, 0.0f);
    float16 a9_1 = SPLAT(float16, 0.0f);
    float16 a10_0 = SPLAT(float16, 0.0f);
    float16 a10_1 = SPLAT(float16, 0.0f);
    float16 a11_0 = SPLAT(float16, 0.0f);
    float16 a11_1 = SPLAT(float16, 0.0f);
    float16 a12_0 = SPLAT(float16, 0.0f);
    float16 a12_1 = SPLAT(float16, 0.0f);
    float16 a13_0 = SPLAT(float16, 0.0f);
    float16 a13_1 = SPLAT(float16, 0.0f);
    float16 a14_0 = SPLAT(float16, 0.0f);
    float16 a14_1 = SPLAT(float16, 0.0f);
    float16 a15_0 = SPLAT(float16, 0.0f);
    float16 a15_1 = SPLAT(float16, 0.0f);

    __global const float *restrict g = f + chunk * 18432;
    for (int r = 0; r < 3; r++) {
        int o = (chunk * 3 + r) * 14976;
        for (int i = 0; i < 192; i++, o += 1, g += 32) {
            const float v0 = x0[o];
            const float v1 = x1[o];
            const float v2 = x2[o];
            const float v3 = x3[o];
            const float v4 = x4[o];
            const float v5 = x5[o];
            const float v6 = x6[o];
            const float v7 = x7[o];
            const float v8 = x8[o];
            const float v9 = x9[o];
            const float v10 = x10[o];
            const float v11 = x11[o];
            const float v12 = x12[o];
            const float v13 = x13[o];
            const float v14 = x14[o];
            const float v15 = x15[o];
            {
                const float16 f0 = vload16(0, g + 0);
                const float16 f1 = vload16(0, g + 16);
                a0_0 += v0 * f0;
                a0_1 += v0 * f1;
                a1_0 += v1 * f0;
                a1_1 += v1 * f1;
                a2_0 += v2 * f0;
                a2_1 += v2 * f1;
                a3_0 += v3 * f0;
                a3_1 += v3 * f1;
                a4_0 += v4 * f0;
                a4_1 += v4 * f1;
                a5_0 += v5 * f0;
                a5_1 += v5 * f1;
                a6_0 += v6 * f0;
                a6_1 += v6 * f1;
                a7_0 += v7 * f0;
                a7_1 += v7 * f1;
                a8_0 += v8 * f0;
                a8_1 += v8 * f1;
                a9_0 += v9 * f0;
                a9_1 += v9 * f1;
                a10_0 += v10 * f0;
                a10_1 += v10 * f1;
                a11_0 += v11 * f0;
                a11_1 += v11 * f1;
                a12_0 += v12 * f0;
                a12_1 += v12 * f1;
                a13_0 += v13 * f0;
                a13_1 += v13 * f1;
                a14_0 += v14 * f0;
                a14_1 += v14 * f1;
                a15_0 += v15 * f0;
                a15_1 += v15 * f1;
            }
        }
    }

    __global float *restrict to = partial + ((((long)tile * 2 + group) * 16 + part * 16) * 1 + chunk) * 32;
    vstore16(a0_0, 0, to + 0);
    vstore16(a0_1, 0, to + 16);
    vstore16(a1_0, 0, to + 32);
    vstore16(a1_1, 0, to + 48);
    vstore16(a2_0, 0, to + 64);
    vstore16(a2_1, 0, to + 80);
    vstore16(a3_0, 0, to + 96);
    vstore16(a3_1, 0, to + 112);
    vstore16(a4_0, 0, to + 128);
    vstore16(a4_1, 0, to + 144);
    vstore16(a5_0, 0, to + 160);
    vstore16(a5_1, 0, to + 176);
    vstore16(a6_0, 0, to + 192);
    vstore16(a6_1, 0, to + 208);
    vstore16(a7_0, 0, to + 224);
    vstore16(a7_1, 0, to + 240);
    vstore16(a8_0, 0, to + 256);
    vstore16(a8_1, 0, to + 272);
    vstore16(a9_0, 0, to + 288);
    vstore16(a9_1, 0, to + 304);
    vstore16(a10_0, 0, to + 320);
    vstore16(a10_1, 0, to + 336);
    vstore16(a11_0, 0, to + 352);
    vstore16(a11_1, 0, to + 368);
    vstore16(a12_0, 0, to + 384);
    vstore16(a12_1, 0, to + 400);
    vstore16(a13_0, 0, to + 416);
    vstore16(a13_1, 0, to + 432);
    vstore16(a14_0, 0, to + 448);
    vstore16(a14_1, 0, to + 464);
    vstore16(a15_0, 0, to + 480);
    vstore16(a15_1, 0, to + 496);
}

__kernel GROUP(32, 1) void crop(__global const float *restrict partial, __global float *restrict output, int band)
{
    const int k = (int)get_local_id(0), group = (int)get_group_id(0), row = (int)get_global_id(1);
    const int y = band * 48 + row;
    __global float *restrict to = output + ((long)get_global_id(0) * 224 + y) * 224;
    int x = 0;

    if (y >= 224)
        return;
    for (int tile = 0; tile < 58; tile++) {
        __global const float *restrict from = partial + ((((long)row / 4 * 58 + tile) * 2 + group) * 16 + row % 4 * 4) * 32 + k;

        for (int w = 0; w < 4 && x < 224; w++)
            to[x++] = from[w * 32];
    }
}
