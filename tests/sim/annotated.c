/* Ten small programs, of which PROGRAM says one: tests/sim/annotate.sh looks at their misses line by line. */
#include <stddef.h>
#include <stdlib.h>
#include <ucontext.h>

enum { N = 64 };

float a[N][N], b[N][N], c[N][N];
unsigned list[N * N];

struct node {
    struct node *left, *right;
    int key;
};

static struct node *insert(struct node *n, int key)
{
    if (!n) {
        n = calloc(1, sizeof *n);
        n->key = key;
        return n;
    }
    if (key < n->key)
        n->left = insert(n->left, key);
    else
        n->right = insert(n->right, key);
    return n;
}

static unsigned next(unsigned *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 8;
}

static void transpose(void)
{
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++)
            b[j][i] = a[i][j];
}

static void multiply(void)
{
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++)
            for (size_t k = 0; k < N; k++)
                c[i][j] += a[i][k] * b[k][j];
}

static void copy(void)
{
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++)
            c[i][j] = a[i][j];
}

static void stencil(void)
{
    for (size_t i = 1; i + 1 < N; i++)
        for (size_t j = 1; j + 1 < N; j++)
            b[i][j] = a[i - 1][j] + a[i][j - 1] + a[i][j + 1] + a[i + 1][j];
}

static void gather(void)
{
    unsigned seed = 1;

    for (size_t i = 0; i < N * N; i++)
        list[i] = next(&seed) % (N * N);
    for (size_t i = 0; i < N * N; i++)
        (&b[0][0])[i] = (&a[0][0])[list[i]];
}

static void scatter(void)
{
    unsigned seed = 2;

    for (size_t i = 0; i < N * N; i++)
        (&c[0][0])[next(&seed) % (N * N)] = (float)i;
}

static void columns(void)
{
    for (size_t j = 0; j < N; j++)
        for (size_t i = 0; i < N; i++)
            a[i][j] += 1;
}

static void tree(void)
{
    struct node *root = NULL;
    unsigned seed = 3;

    for (int i = 0; i < 500; i++)
        root = insert(root, (int)(next(&seed) % 1000));
}

static void chase(void)
{
    unsigned at = 0;

    for (unsigned i = 0; i < N * N; i++)
        list[i] = (i + 1031) % (N * N);
    for (unsigned i = 0; i < N * N; i++)
        at = list[at];
    c[0][0] = (float)at;
}

static void lower(void)
{
    for (size_t k = 0; k < 9; k++)
        for (size_t i = 0; i + 2 < N; i++)
            for (size_t j = 0; j + 2 < N; j++)
                (&c[0][0])[(k * i + j) % (N * N)] = a[i + k / 3][j + k % 3];
}

/*
 * The program runs on a stack of its own, in memory that is at the same address in every run: what is on the usual one
 * lies elsewhere under each tool.
 */
static char stack[1 << 16];

int main(void)
{
    static void (*const program[])(void) = { transpose, multiply, copy, stencil, gather,
                                             scatter,   columns,  tree, chase,   lower };
    static ucontext_t here, there;

    getcontext(&there);
    there.uc_stack.ss_sp = stack;
    there.uc_stack.ss_size = sizeof stack;
    there.uc_link = &here;
    makecontext(&there, program[PROGRAM], 0);
    swapcontext(&here, &there);
    return 0;
}
