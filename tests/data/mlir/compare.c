/*
 * Runs a function of two shared objects on equal arguments, and compares the results: compare A B NAME FLOATS...
 * RESULT. FLOATS are the lengths of the arguments; the last argument is the result. Values are small multiples of 1/4,
 * so that sums are exact. With ROUNDS in the environment the program prints the fastest of ROUNDS rounds of both, in
 * CPU time.
 */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 6 };

typedef void (*function)(void *, void *, void *, void *, void *, void *);

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Passes MOST arguments; a function ignores the registers of arguments beyond its own. */
static void call(function f, float *const a[MOST])
{
    f(a[0], a[1], a[2], a[3], a[4], a[5]);
}

static function find(const char *path, const char *name)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL), *found = library ? dlsym(library, name) : NULL;
    function f = NULL;

    if (!found) {
        printf("%s\n", dlerror());
        exit(2);
    }
    memcpy(&f, &found, sizeof f);
    return f;
}

static float *new_floats(size_t n)
{
    float *x = aligned_alloc(64, (n * sizeof *x + 127) / 64 * 64);

    if (!x)
        exit(2);
    for (size_t i = 0; i < n; i++)
        x[i] = (float)(rand() % 9 - 4) / 4;
    return x;
}

static double fastest(function f, float *const a[MOST], int rounds)
{
    double best = HUGE_VAL;

    for (int i = 0; i < rounds; i++) {
        double start = seconds();

        call(f, a);
        best = fmin(best, seconds() - start);
    }
    return best;
}

int main(int argc, char **argv)
{
    const int n = argc - 4, rounds = getenv("ROUNDS") ? atoi(getenv("ROUNDS")) : 0;
    float *a[MOST] = { NULL }, *result[2];
    size_t floats = 0;
    double time[2], worst = 0, largest = 0;

    if (n < 1 || n > MOST)
        return 2;
    for (int i = 0; i < n; i++) {
        floats = strtoul(argv[4 + i], NULL, 10);
        a[i] = new_floats(floats);
    }
    for (int i = 0; i < 2; i++) {
        function f = find(argv[1 + i], argv[3]);

        a[n - 1] = result[i] = new_floats(floats);
        memset(result[i], 0xff, floats * sizeof(float));
        call(f, a);
        time[i] = fastest(f, a, rounds);
    }
    for (size_t i = 0; i < floats; i++) {
        double off = fabs((double)result[0][i] - (double)result[1][i]);

        worst = off <= worst ? worst : off; /* NaN, too */
        largest = fmax(largest, fabs((double)result[0][i]));
    }
    printf("%s: off by %g of %g", argv[3], worst, largest);
    printf(rounds ? "; %.4f and %.4f ms\n" : "\n", time[0] * 1e3, time[1] * 1e3);
    return !(worst <= 1e-6 * largest && largest > 0);
}
