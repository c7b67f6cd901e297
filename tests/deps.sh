#!/usr/bin/env bash
# .ci/deps on systems that lack everything: the messages, and no install without permission. Stand-ins for apt-get and
# its kin note their arguments. Run from the project's folder.
set -u

program=.ci/deps
# shellcheck source=tests/check.bash
. tests/check.bash

mkdir "$work/bin"
stand_in() { # stand_in NAME: its commands are read from standard input
    { echo '#!/bin/sh'; cat; } >"$work/bin/$1"
    chmod +x "$work/bin/$1"
}

stand_in dpkg-query </dev/null
stand_in id <<<'echo "${FAKE_UID-0}"'
stand_in apt-get <<EOF
echo "\$*" >>$work/asked
case "\$*" in
*--assume-no*)
    echo 'Need to get 45.1 MB of archives.'
    echo 'After this operation, 190 MB of additional disk space will be used.'
    exit 1
    ;;
esac
EOF

deps() { # deps [VARIABLE=VALUE...] GROUP: what it says is in said, what apt-get was asked for in asked
    : >"$work/asked"
    env -u DEPS "PATH=$work/bin:$PATH" "${@:1:$#-1}" "$program" "${!#}" >"$work/said" 2>&1
}

installs() { grep -v -- --assume-no "$work/asked" | grep -q '^install'; }
installs_nothing() { ! installs; }
fails() { ! "$@"; }

for group in power10 aarch64 emulation; do
    check "root cannot install what $group needs: $(cat "$work/said" 2>/dev/null)" deps "$group"
    check "what $group needs is not asked of apt" installs
    check "how much $group needs is not said first: $(cat "$work/said")" grep -q \
        '^deps: installing with apt-get: .*qemu-user.* (45.1 MB to fetch, 190 MB on disk; DEPS=no installs nothing)$' "$work/said"
    check "DEPS=no does not fail for $group" fails deps DEPS=no "$group"
    check "DEPS=no installs for $group" installs_nothing
    check "DEPS=no does not say what $group lacks: $(cat "$work/said")" \
        grep -q '^DEPS=no: .* --no-install-recommends .*qemu-user' "$work/said"
done
check "root cannot install what format needs" deps format
check "what format needs is not asked of apt" grep -q '^install.* clang-format$' "$work/asked"
mkdir "$work/elsewhere" # a system without dpkg
for tool in sh sed awk grep; do ln -s "$(command -v $tool)" "$work/elsewhere/"; done
check "without clang-format, elsewhere, format succeeds" fails env "PATH=$work/elsewhere" "$program" format 2>"$work/said"
check "elsewhere clang-format is not named: $(cat "$work/said")" grep -qx 'deps: missing: clang-format (formats the sources)' "$work/said"
check "others than root succeed" fails deps FAKE_UID=1000 power10
check "others than root install" installs_nothing
check "DEPS=maybe is taken" fails deps DEPS=maybe power10
check "DEPS=maybe is not refused: $(cat "$work/said")" grep -q "^deps: DEPS: must be yes or no, not 'maybe'$" "$work/said"
check "DEPS=no fetches for another architecture" \
    fails env DEPS=no .ci/foreign-root arm64 aarch64-linux-gnu "$work/root" 2>"$work/said"
check "DEPS=no does not say what is not fetched" grep -q "^foreign-root: DEPS=no: Debian's arm64 packages are not" "$work/said"
check "a root is there" [ ! -e "$work/root" ]
finish
