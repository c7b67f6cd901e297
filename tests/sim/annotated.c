/* Twenty small programs; PROGRAM selects the program. tests/sim/annotate.sh checks the misses line by line. */
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

/* ---- as programs are ---- */

/* A table with open addressing. */
static void hash(void)
{
    unsigned seed = 4;

    for (unsigned i = 0; i < N * N / 2; i++) {
        unsigned key = next(&seed) | 1, slot = key * 2654435761u % (N * N);

        while (list[slot] && list[slot] != key)
            slot = (slot + 1) % (N * N);
        list[slot] = key;
    }
}

/* Quicksort, recursive. */
static void sort_part(unsigned *x, int n)
{
    int i = 0, j = n - 1;
    unsigned pivot;

    if (n < 2)
        return;
    pivot = x[n / 2];
    for (;; i++, j--) {
        while (x[i] < pivot)
            i++;
        while (x[j] > pivot)
            j--;
        if (i >= j)
            break;
        unsigned t = x[i];
        x[i] = x[j];
        x[j] = t;
    }
    sort_part(x, i);
    sort_part(x + i, n - i);
}

static void sort(void)
{
    unsigned seed = 5;

    for (int i = 0; i < N * N; i++)
        list[i] = next(&seed);
    sort_part(list, N * N);
}

/* Words of a text are counted by their lengths. */
static char text[1 << 14];

static void strings(void)
{
    unsigned seed = 6, length = 0;

    for (size_t i = 0; i + 1 < sizeof text; i++)
        text[i] = (char)(next(&seed) % 6 ? 'a' + next(&seed) % 26 : ' ');
    for (const char *c = text; *c; c++) {
        if (*c != ' ')
            length++;
        else
            list[length * 16 % (N * N)]++, length = 0;
    }
}

/* Calls itself with an array on the stack each time. */
static int descend(int depth, int *above)
{
    int own[32];

    for (int i = 0; i < 32; i++)
        own[i] = above[(i * 7) % 32] + depth;
    return depth ? descend(depth - 1, own) + own[depth % 32] : own[0];
}

static void recursion(void)
{
    int first[32] = { 0 };

    for (int i = 0; i < 20; i++)
        list[i] = (unsigned)descend(100, first);
}

/* An array of structs; a loop reads a single member. */
static struct particle {
    double x[3], v[3];
    int kind;
} particle[1000];

static void structs(void)
{
    double sum = 0;

    for (int i = 0; i < 1000; i++)
        particle[i].kind = i % 3;
    for (int step = 0; step < 3; step++) {
        for (int i = 0; i < 1000; i++)
            particle[i].x[step] += particle[i].v[step] * 0.5;
        for (int i = 0; i < 1000; i++)
            sum += particle[i].kind ? 0 : particle[i].x[step];
    }
    c[0][0] = (float)sum;
}

/* Blocks move word by word, to and fro. */
static void blocks(void)
{
    for (size_t round = 0; round < 4; round++) {
        for (size_t i = 0; i + 8 <= N * N; i += 8)
            __builtin_memcpy(&(&b[0][0])[i], &(&a[0][0])[(i * 5) % (N * N)], 8 * sizeof(float));
        for (size_t i = 0; i < N; i++)
            __builtin_memset(c[i], 0, 4 * sizeof(float));
    }
}

static void histogram(void)
{
    unsigned seed = 7;

    for (int i = 0; i < N * N; i++)
        list[next(&seed) % 997 * 3]++;
}

static void search(void)
{
    unsigned seed = 8, n_found = 0;

    for (unsigned i = 0; i < N * N; i++)
        list[i] = 3 * i;
    for (int i = 0; i < 2000; i++) {
        unsigned key = next(&seed) % (3 * N * N), low = 0, high = N * N;

        while (low < high) {
            unsigned middle = (low + high) / 2;

            if (list[middle] < key)
                low = middle + 1;
            else
                high = middle;
        }
        n_found += low < N * N && list[low] == key;
    }
    c[1][1] = (float)n_found;
}

/* A list whose nodes come from the heap; the walk's order is not the order of allocation. */
static void nodes(void)
{
    struct node *first = NULL, *last = NULL;

    for (int i = 0; i < 600; i++) {
        struct node *n = calloc(1, sizeof *n);

        n->key = i;
        if (i % 3 || !last) {
            n->right = first;
            first = n;
            last = last ? last : n;
        } else {
            last->right = n;
            last = n;
        }
    }
    for (int round = 0; round < 3; round++)
        for (struct node *n = first; n; n = n->right)
            list[0] += (unsigned)n->key;
}

/* A triangle of sums of the two numbers above. */
static void triangle(void)
{
    a[0][0] = 1;
    for (size_t i = 1; i < N; i++)
        for (size_t j = 0; j <= i; j++)
            a[i][j] = (j ? a[i - 1][j - 1] : 0) + (j < i ? a[i - 1][j] : 0);
}

/*
 * The program runs on a stack of its own, in memory at one address in every run: each tool puts the data of the usual
 * stack at a different address.
 */
static char stack[1 << 16];

int main(void)
{
    static void (*const program[])(void) = { transpose, multiply, copy,      stencil, gather, scatter, columns,
                                             tree,      chase,    lower,     hash,    sort,   strings, recursion,
                                             structs,   blocks,   histogram, search,  nodes,  triangle };
    static ucontext_t here, there;

    getcontext(&there);
    there.uc_stack.ss_sp = stack;
    there.uc_stack.ss_size = sizeof stack;
    there.uc_link = &here;
    makecontext(&there, program[PROGRAM], 0);
    swapcontext(&here, &there);
    return 0;
}
