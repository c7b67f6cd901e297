#!/usr/bin/env bash
# The installed library: example and pkg-config, static and shared; nothing but sconv_* exported; the man page. Run from
# the project's folder; MAKE_ARGS is handed to make (BUILD=..., CC=...). For another CPU: CC and NM are the CPU's tools,
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

# A library may define the C library's own names beside ours, and no further names.
exports_only_ours() { # exports_only_ours NM-OPTION FILE
    local names
    names=$(${NM:-nm} "$1" --defined-only "$2" 2>/dev/null | awk 'NF == 3 && $2 ~ /[A-TV-Z]/ { print $3 }')
    [ -n "$names" ] && ! grep -v '^sconv_' <<<"$names"
}

compile() { # compile OUTPUT FLAGS...
    local out=$1
    shift
    # shellcheck disable=SC2086  # flags are words
    ${CC:-gcc} -std=c17 -Wall -Wextra -Wpedantic -Werror kernels/lib/sconv_example.c -o "$out" "$@" ${LINK_FLAGS-}
}

# shellcheck disable=SC2086  # the runner and its arguments are words
runs() { LD_LIBRARY_PATH="$work/usr/lib" ${RUN-} "$@" | grep -q "^schedule=[iw]s ukr=${UKR:-f32_}.* threads=2 .* relu"; }

check "make install-sconv" install_to
cp "$work/log" "$work/said"
check "make install-sconv says what it put where" cmp <(sed -n 's/^  \//\//p' "$work/said" | sort) <(find "$work/usr" -type f -o -type l | sort)
export PKG_CONFIG_PATH=$work/usr/lib/pkgconfig
cflags="-I$work/usr/include"
libs="-L$work/usr/lib -lsconv"
static="$work/usr/lib/libsconv.a -lhwloc -lm -pthread"
version=$(sed -n 's/^VERSION := //p' Makefile)
if command -v pkg-config >/dev/null; then
    check "pkg-config knows the version" [ "$(pkg-config --modversion sconv)" = "$version" ]
    cflags=$(pkg-config --cflags sconv)
    libs=$(pkg-config --libs sconv)
fi
# shellcheck disable=SC2086  # flags are words
check "the example compiles, shared" compile "$work/shared" $cflags $libs
# shellcheck disable=SC2086
check "the example compiles, static" compile "$work/static" $cflags $static
check "the example runs, shared" runs "$work/shared"
check "the example runs, static" runs "$work/static"
# examples PAGE: the literal blocks of a manual page, as a user types them
examples() { sed -n '/^\.nf/,/^\.fi/{/^\.PP/d; /^\.[nf][fi]/!p}' "$1" | sed 's/\\-/-/g; s/\\e/\\/g'; }
# The manual's examples: the program, linked as described, and the machine.
page=$work/usr/share/man/man3/sconv.3
if command -v pkg-config >/dev/null && [ -z "${RUN-}" ]; then
    {
        printf '#include <sconv.h>\n#include <errno.h>\n#include <stdio.h>\n#include <stdlib.h>\nstatic float weights[64 * 64 * 9], src[64 * 56 * 56], dst[64 * 56 * 56];\n'
        printf 'int main(int argc, char **argv)\n{\nstruct sconv_machine *machine;\n'
        examples "$page" | sed -n '/^struct sconv_shape shape/,/^sconv_plan_free/p'
        printf 'if (!err && argc > 1)\n    err = sconv_machine_create(&machine, argv[1], why, sizeof why);\nif (err)\n    puts(why);\nelse if (argc > 1)\n    sconv_machine_free(machine);\nreturn err != 0;\n}\n'
    } >"$work/prog.c"
    examples "$page" | sed -n '/^\[machine\]/,/^latency_cycles/p' >"$work/mine.cfg"
    n=0
    while read -r line; do
        n=$((n + 1))
        check "the manual's '$line'" bash -e -c "cd '$work' && cc() { command ${CC:-gcc} -Wall -Wextra -Werror \"\$@\"; } && $line ${LINK_FLAGS-}"
        check "... and its program runs, and takes its machine" env "LD_LIBRARY_PATH=$work/usr/lib" "$work/prog" "$work/mine.cfg"
        needs=$(readelf -d "$work/prog" | grep -c 'NEEDED.*libsconv')
        check "... with $needs shared libraries called libsconv" [ "$needs" -eq $((n == 1)) ]
    done < <(examples "$page" | grep '^cc ')
    check "the manual links in two ways, not $n" [ $n -eq 2 ]
fi
# Header, library and printing programs have one version, and a refused shape is explained.
cat >"$work/version.c" <<'END'
#include <sconv.h>
#include <stdio.h>
int main(void)
{
    struct sconv_shape shape = { 1, 1, 8, 8, 1, 3, 3, 1, (size_t)-1, 0, 0, 0, 0, 1, 1, 1 };
    float weights[9] = { 0 };
    char why[256] = "";
    int err = sconv_plan_check(&shape, NULL, weights, NULL, why, sizeof why);
    printf("%s %s %s: %s\n", SCONV_VERSION, sconv_version(), sconv_strerror(err), why);
    shape.stride_w = 1;
    static char plan[8192];
    if (!sconv_plan_json(&shape, NULL, SCONV_PAPER, plan, sizeof plan, NULL))
        puts(plan);
    return 0;
}
END
# shellcheck disable=SC2086
check "a program with every text compiles" ${CC:-gcc} -std=c99 $cflags "$work/version.c" -o "$work/version" $libs ${LINK_FLAGS-}
# shellcheck disable=SC2086
said=$(LD_LIBRARY_PATH="$work/usr/lib" ${RUN-} "$work/version")
check "header and library say their version: $said" [ "${said#"$version $version the convolution exceeds the address space: "}" != "$said" ]
check "a compiler gets its plan: $said" grep -q '"schema": "sconv-plan/1"' <<<"$said"
check "the refused field is named: $said" grep -q "stride_w 18446744073709551615" <<<"$said"
check "the soname is the ABI's" bash -c "readelf -d '$work/usr/lib/libsconv.so' | grep -q 'soname: \[libsconv.so.1\]'"
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
check "install elsewhere" install_to "PREFIX=$work/other"
check "the second sconv.pc names the second folder" grep -qx "prefix=$work/other" "$work/other/lib/pkgconfig/sconv.pc"
check "make uninstall-sconv" bash -c "${MAKE:-make} --no-print-directory ${MAKE_ARGS-} uninstall-sconv PREFIX=$work/usr"
check "nothing is left" [ -z "$(find "$work/usr" -type f -o -type l)" ]
echo "library: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
