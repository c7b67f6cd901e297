/* Arrays on the heap, by the allocating function: tests/sim/annotate.sh checks the accesses to the arrays. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 1 << 12 };

static double *zeros(size_t n)
{
    return calloc(n, sizeof(double)); /* of zeros */
}

int main(void)
{
    double *first = malloc(N * sizeof *first); /* of first */
    double *second = zeros(N), *third;
    double sum = 0;

    if (!fork()) /* whose memory is not this program's */
        _exit(malloc(1000) == NULL);
    wait(NULL);
    for (size_t i = 0; i < N; i++)
        first[i] = second[i];
    for (size_t i = 0; i < N; i++)
        sum += first[i * 61 % N];
    free(first);
    third = malloc(N * sizeof *third); /* of third, where first was */
    for (size_t i = 0; i < N; i++)
        third[i] = sum;
    third = realloc(third, 2 * N * sizeof *third); /* of more */
    memset(third + N, 0, 8);
    return third[N] != 0;
}
