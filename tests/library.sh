#!/usr/bin/env bash
# The library as it is installed: example and pkg-config, static and shared; nothing but sconv_* exported; the man page.
# Run from the project's folder; MAKE_ARGS is handed to make (BUILD=..., CC=...). For another CPU: CC and NM are its tools,
# LINK_FLAGS lead to its libraries, RUN runs its programs, and UKR is the micro-kernel that has to be chosen there.
set -u

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0

check() { # check DESCRIPTION COMMAND...: the command succeeds
    local what=$1
    shift
    if "$@" >"$work/log" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "library: FAILED: $what: $(tail -3 "$work/log")" >&2
    fi
}

# shellcheck disable=SC2086  # arguments are words
install_to() { ${MAKE:-make} --no-print-directory ${MAKE_ARGS-} install-sconv "PREFIX=$work/usr" "$@"; }

# The C library's own names are the only ones that a library may define beside ours.
exports_only_ours() { # exports_only_ours NM-OPTION FILE
    local names
    names=$(${NM:-nm} "$1" --defined-only "$2" 2>/dev/null | awk 'NF == 3 && $2 ~ /[A-TV-Z]/ { print $3 }')
    [ -n "$names" ] && ! grep -v '^sconv_' <<<"$names"
}

compile() { # compile OUTPUT FLAGS...
    local out=$1
    shift
    # shellcheck disable=SC2086  # flags are words
    ${CC:-gcc} -std=c17 -Wall -Wextra -Wpedantic -Werror kernels/sconv_example.c -o "$out" "$@" ${LINK_FLAGS-}
}

# shellcheck disable=SC2086  # the runner and its arguments are words
runs() { LD_LIBRARY_PATH="$work/usr/lib" ${RUN-} "$@" | grep -q "^schedule=[iw]s ukr=${UKR:-f32_}.* threads=2 .* relu"; }

check "make install-sconv" install_to
export PKG_CONFIG_PATH=$work/usr/lib/pkgconfig
cflags="-I$work/usr/include"
libs="-L$work/usr/lib -lsconv"
static="$work/usr/lib/libsconv.a -lhwloc -lm -pthread"
if command -v pkg-config >/dev/null; then
    check "pkg-config knows the version" [ "$(pkg-config --modversion sconv)" = "$(sed -n 's/^#define SCONV_VERSION "\(.*\)"/\1/p' kernels/sconv.h)" ]
    cflags=$(pkg-config --cflags sconv)
    libs=$(pkg-config --libs sconv)
fi
# shellcheck disable=SC2086  # flags are words
check "the example compiles, shared" compile "$work/shared" $cflags $libs
# shellcheck disable=SC2086
check "the example compiles, static" compile "$work/static" $cflags $static
check "the example runs, shared" runs "$work/shared"
check "the example runs, static" runs "$work/static"
check "the shared library exports sconv_* alone" exports_only_ours -D "$work/usr/lib/libsconv.so"
check "the static library defines sconv_* alone" exports_only_ours -g "$work/usr/lib/libsconv.a"
check "the library does not print" [ -z "$(${NM:-nm} -D --undefined-only "$work/usr/lib/libsconv.so" | grep -wE 'printf|puts|fprintf|stderr|stdout|exit|abort')" ]
check "the header serves older C" bash -c "echo '#include <sconv.h>' | ${CC:-gcc} $cflags -Wall -Wextra -Wpedantic -Werror -fsyntax-only -x c -std=c99 -"
check "the man page is there" test -s "$work/usr/share/man/man3/sconv.3"
if command -v groff >/dev/null; then
    check "the man page is clean" bash -c "! groff -man -Tascii -ww -z '$work/usr/share/man/man3/sconv.3' 2>&1 | grep ."
fi
check "staging with DESTDIR" install_to "DESTDIR=$work/stage"
check "what DESTDIR got" test -e "$work/stage$work/usr/lib/libsconv.so"
check "make uninstall-sconv" bash -c "${MAKE:-make} --no-print-directory ${MAKE_ARGS-} uninstall-sconv PREFIX=$work/usr"
check "nothing is left" [ -z "$(find "$work/usr" -type f -o -type l)" ]
echo "library: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
