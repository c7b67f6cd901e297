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
    const int y = band * 228 + row - 1;
    __global const float *restrict from = input + ((long)c * 224 + y) * 224 - 1;
    __global float *restrict to = padded + (long)row * 14720 + c;

    for (int x = 0; x < 230; x++, to += 64) {
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

__kernel GROUP(1, 2166) void convolve(__global const float *restrict padded, __global const float *restrict filters, __global float *restrict partial, int band)
{
    const int chunk = (int)get_local_id(0), part = (int)get_local_id(1);
    const int group = (int)get_group_id(0), tile = (int)get_group_id(1);
    const int at = (tile / 2 * 26220 + tile % 2 * 114) * 64;
    __global const float *restrict f = filters + (long)group * 9216;
    __global const float *restrict x0 = padded + at + part / 19 * 14720 + (part % 19 * 6 + 0) * 64;
    __global const float *restrict x1 = padded + at + part / 19 * 14720 + (part % 19 * 6 + 1) * 64;
    __global const float *restrict x2 = padded + at + part / 19 * 14720 + (part % 19 * 6 + 2) * 64;
    __global const float *restrict x3 = padded + at + part / 19 * 14720 + (part % 19 * 6 + 3) * 64;
    __global const float *restrict x4 = padded + at + part / 19 * 14720 + (part % 19 * 6 + 4) * 64;
    __global const float *restrict x5 = padded + at + part / 19 * 14720 + (part % 19 * 6 + 5) * 64;
    float8 a0_0 = SPLAT(float8, 0.0f);
    float8 a0_1 = SPLAT(float8, 0.0f);
    float8 a1_0 = SPLAT(float8, 0.0f);
    float8 a1_1 = SPLAT(float8, 0.0f);
    float8 a2_0 = SPLAT(float8, 0.0f);
    float8 a2_1 = SPLAT(float8, 0.0f);
    float8 a3_0 = SPLAT(float8, 0.0f);
    float8 a3_1 = SPLAT(float8, 0.0f);
    float8 a4_0 = SPLAT(float8, 0.0f);
    float8 a4_1 = SPLAT(float8, 0.0f);
    float8 a5_0 = SPLAT(float8, 0.0f);
    float8 a5_1 = SPLAT(float8, 0.0f);

    __global const float *restrict g = f + chunk * 9216;
    for (int r = 0; r < 3; r++) {
        int o = (chunk * 3 + r) * 14720;
#pragma unroll 4
        for (int i = 0; i < 192; i++, o += 1, g += 16) {
            const float v0 = x0[o];
            const float v1 = x1[o];
            const float v2 = x2[o];
            const float v3 = x3[o];
            const float v4 = x4[o];
            const float v5 = x5[o];
            {
                const float8 f0 = vload8(0, g + 0);
                const float8 f1 = vload8(0, g + 8);
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
            }
        }
    }

    __global float *restrict to = partial + ((((long)tile * 4 + group) * 12996 + part * 6) * 1 + chunk) * 16;
    vstore8(a0_0, 0, to + 0);
    vstore8(a0_1, 0, to + 8);
    vstore8(a1_0, 0, to + 16);
    vstore8(a1_1, 0, to + 24);
    vstore8(a2_0, 0, to + 32);
    vstore8(a2_1, 0, to + 40);
    vstore8(a3_0, 0, to + 48);
    vstore8(a3_1, 0, to + 56);
    vstore8(a4_0, 0, to + 64);
    vstore8(a4_1, 0, to + 72);
    vstore8(a5_0, 0, to + 80);
    vstore8(a5_1, 0, to + 88);
}

__kernel GROUP(16, 1) void crop(__global const float *restrict partial, __global float *restrict output, int band)
{
    const int k = (int)get_local_id(0), group = (int)get_group_id(0), row = (int)get_global_id(1);
    const int y = band * 228 + row;
    __global float *restrict to = output + ((long)get_global_id(0) * 224 + y) * 224;
    int x = 0;

    if (y >= 224)
        return;
    for (int tile = 0; tile < 2; tile++) {
        __global const float *restrict from = partial + ((((long)row / 114 * 2 + tile) * 4 + group) * 12996 + row % 114 * 114) * 16 + k;

        for (int w = 0; w < 114 && x < 224; w++)
            to[x++] = from[w * 16];
    }
}
