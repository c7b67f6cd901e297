/* conv1_2 of `make lift`: for each band all kernels, with the buffers that they name and the band's number
layer 64 224 224 64 3 3 1 1 1 1 1 1
point tile=82 pad_y=16 pad_x=16 band=1 kernels=64 lanes=16 windows=4 elements=576 vector=1 coalesced=0 unroll=1 joined=0 flags=0
filters 64 16 1
flags 
bands 3
buffer padded 5080064
buffer partial 4915200
buffer sums 0
kernel pad 8 82 8 1 input padded
kernel convolve 1 4800 1 1600 padded filters partial
kernel crop 64 80 64 1 partial output
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
    const int y = band * 80 + row - 1;
    __global const float *restrict from = input + ((long)c * 224 + y) * 224 - 1;
    __global float *restrict to = padded + (long)row * 15488 + c;

    for (int x = 0; x < 242; x++, to += 64) {
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

__kernel GROUP(1, 1600) void convolve(__global const float *restrict padded, __global const float *restrict filters, __global float *restrict partial, int band)
{
    const int chunk = (int)get_local_id(0), part = (int)get_local_id(1);
    const int group = (int)get_group_id(0), tile = (int)get_group_id(1);
    const int at = (tile / 3 * 19360 + tile % 3 * 80) * 64;
    __global const float *restrict f = filters + (long)group * 36864;
    __global const float *restrict x0 = padded + at + part / 20 * 15488 + (part % 20 * 4 + 0) * 64;
    __global const float *restrict x1 = padded + at + part / 20 * 15488 + (part % 20 * 4 + 1) * 64;
    __global const float *restrict x2 = padded + at + part / 20 * 15488 + (part % 20 * 4 + 2) * 64;
    __global const float *restrict x3 = padded + at + part / 20 * 15488 + (part % 20 * 4 + 3) * 64;
    float16 a0_0 = SPLAT(float16, 0.0f);
    float16 a0_1 = SPLAT(float16, 0.0f);
    float16 a0_2 = SPLAT(float16, 0.0f);
    float16 a0_3 = SPLAT(float16, 0.0f);
    float16 a1_0 = SPLAT(float16, 0.0f);
    float16 a1_1 = SPLAT(float16, 0.0f);
    float16 a1_2 = SPLAT(float16, 0.0f);
    float16 a1_3 = SPLAT(float16, 0.0f);
    float16 a2_0 = SPLAT(float16, 0.0f);
    float16 a2_1 = SPLAT(float16, 0.0f);
    float16 a2_2 = SPLAT(float16, 0.0f);
    float16 a2_3 = SPLAT(float16, 0.0f);
    float16 a3_0 = SPLAT(float16, 0.0f);
    float16 a3_1 = SPLAT(float16, 0.0f);
    float16 a3_2 = SPLAT(float16, 0.0f);
    float16 a3_3 = SPLAT(float16, 0.0f);

    __global const float *restrict g = f + chunk * 36864;
    for (int r = 0; r < 3; r++) {
        int o = (chunk * 3 + r) * 15488;
        for (int i = 0; i < 192; i++, o += 1, g += 64) {
            const float v0 = x0[o];
            const float v1 = x1[o];
            const float v2 = x2[o];
            const float v3 = x3[o];
            {
                const float16 f0 = vload16(0, g + 0);
                const float16 f1 = vload16(0, g + 16);
                const float16 f2 = vload16(0, g + 32);
                const float16 f3 = vload16(0, g + 48);
                a0_0 += v0 * f0;
                a0_1 += v0 * f1;
                a0_2 += v0 * f2;
                a0_3 += v0 * f3;
                a1_0 += v1 * f0;
                a1_1 += v1 * f1;
                a1_2 += v1 * f2;
                a1_3 += v1 * f3;
                a2_0 += v2 * f0;
                a2_1 += v2 * f1;
                a2_2 += v2 * f2;
                a2_3 += v2 * f3;
                a3_0 += v3 * f0;
                a3_1 += v3 * f1;
                a3_2 += v3 * f2;
                a3_3 += v3 * f3;
            }
        }
    }

    __global float *restrict to = partial + ((((long)tile * 1 + group) * 6400 + part * 4) * 1 + chunk) * 64;
    vstore16(a0_0, 0, to + 0);
    vstore16(a0_1, 0, to + 16);
    vstore16(a0_2, 0, to + 32);
    vstore16(a0_3, 0, to + 48);
    vstore16(a1_0, 0, to + 64);
    vstore16(a1_1, 0, to + 80);
    vstore16(a1_2, 0, to + 96);
    vstore16(a1_3, 0, to + 112);
    vstore16(a2_0, 0, to + 128);
    vstore16(a2_1, 0, to + 144);
    vstore16(a2_2, 0, to + 160);
    vstore16(a2_3, 0, to + 176);
    vstore16(a3_0, 0, to + 192);
    vstore16(a3_1, 0, to + 208);
    vstore16(a3_2, 0, to + 224);
    vstore16(a3_3, 0, to + 240);
}

__kernel GROUP(64, 1) void crop(__global const float *restrict partial, __global float *restrict output, int band)
{
    const int k = (int)get_local_id(0), group = (int)get_group_id(0), row = (int)get_global_id(1);
    const int y = band * 80 + row;
    __global float *restrict to = output + ((long)get_global_id(0) * 224 + y) * 224;
    int x = 0;

    if (y >= 224)
        return;
    for (int tile = 0; tile < 3; tile++) {
        __global const float *restrict from = partial + ((((long)row / 80 * 3 + tile) * 1 + group) * 6400 + row % 80 * 80) * 64 + k;

        for (int w = 0; w < 80 && x < 224; w++)
            to[x++] = from[w * 64];
    }
}
