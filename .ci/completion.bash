# Tab completion for bash (source .ci/completion.bash): targets, variables and values for make in this project's folder, for its programs,
# and for cachesim. `make install` installs it for cachesim and the programs. In other folders, make is completed as before.
# shellcheck shell=bash

_convolution_find() { # _convolution_find FOLDER: sets root to the project's folder around it, or to the installed data; fails outside
    root=$(cd "$1" 2>/dev/null && pwd) || return
    while [ -n "$root" ]; do
        [ ! -x "$root/.ci/facts" ] || [ ! -d "$root/sim/machines" ] || return 0
        [ ! -e "$root/share/convsim/facts" ] || { root=$root/share/convsim && return; }
        root=${root%/*}
    done
    return 1
}

# Asks awk about the facts, which `make install` keeps in a file.
_convolution_facts() { (cd "$root" && { cat facts || .ci/facts; } 2>/dev/null) | awk -F'\t' "$@"; }

# The words of a value: names of a kind where the variable has some, values that may be chosen from, layers, and files.
_convolution_values() { # _convolution_values TARGET VARIABLE LAST-OF-A-LIST
    local kind='' table
    case $2:$3 in
    MODEL:*) kind=model && echo all && [ "$1" != polydl ] || kind='model polydl' ;;
    MACHINE:*) kind=machine ;;
    ALGO:*) kind=algorithm ;;
    LAYER:*:*)
        table=$root/experiments/models/${3%:*}.csv
        [ -e "$table" ] || table=${3%:*}
        [[ ! -f $table || $table = *.onnx ]] || awk -F, -v model="${3%:*}" '/^#/ || $1 == "" { next } is_layer { print model ":" $1 } { is_layer = 1 }' "$table"
        return
        ;;
    esac
    _convolution_facts -v kinds="$kind" -v name="$2" '$1 == "word" && $2 == name { print $3 } index(" " kinds " ", " " $1 " ") { print $2 }
        name == "LAYER" && $1 == "model" { print $2 ":" }'
    [[ $2 = ALGO || $2 = LAYER ]] || compgen -f -- "$3"
}

# Fills COMPREPLY with the words on standard input that begin as a word does, each once.
_convolution_offer() { # _convolution_offer WORD [WHAT-STANDS-BEFORE-IT]
    mapfile -t COMPREPLY < <(awk -v word="$1" -v before="${2-}" 'index($0, word) == 1 && !seen[$0]++ { print before $0 }')
}

# Completes the word before the cursor. It reaches from the last blank on; bash replaces what follows the last = or : in it.
_convolution_complete() { # _convolution_complete TARGET OTHER-WORDS
    local line=${COMP_LINE:0:COMP_POINT} word variable list='' last cut
    word=${line##*[[:space:]]}
    COMPREPLY=()
    if [[ $word != [A-Z]*=* ]]; then
        _convolution_offer "$word" < <(printf '%s\n' $2; _convolution_facts -v target="$1" '
            $1 == "variable" { owner[++n] = $2; name[n] = $3 }
            $1 == "knows" && $2 == target { owners = owners " " $3 }
            END { for (i = 1; i <= n; i++) if (index(" " owners " build cpu ", " " owner[i] " ")) print name[i] "=" }' | sort -u)
        [ ${#COMPREPLY[@]} -ne 1 ] || [[ ${COMPREPLY[0]} != *= ]] || compopt -o nospace 2>/dev/null
        return 0
    fi
    variable=${word%%=*} last=${word#*=}
    case $variable:$last in
    MODEL:*,* | ALGO:*,*) list=${last%,*}, last=${last##*,} ;;
    esac
    _convolution_offer "$last" "$list" < <(_convolution_values "$1" "$variable" "$last")
    [ ${#COMPREPLY[@]} -ne 1 ] || [[ ${COMPREPLY[0]} != *: ]] || compopt -o nospace 2>/dev/null
    [[ $COMP_WORDBREAKS == *=* ]] || COMPREPLY=("${COMPREPLY[@]/#/$variable=}")
    [[ $COMP_WORDBREAKS == *:* && $list$last == *:* ]] || return 0
    cut=$list${last%:*}:
    COMPREPLY=("${COMPREPLY[@]#"$cut"}")
}

_convolution_make() {
    local root targets target='' line=${COMP_LINE:0:COMP_POINT} words word
    read -ra words <<<"$line"
    if ! _convolution_find . || [ "$root" != "$(pwd)" ] || [[ ${words[*]} == *' -C'* ]]; then
        _convolution_fall_back "$@"
        return
    fi
    targets=$(_convolution_facts '$1 == "target" { print $2 }' | paste -sd ' ')
    [[ $line == *[[:space:]] ]] || unset 'words[-1]'
    for word in "${words[@]:1}"; do # the first target, unless help is asked for
        [[ " $targets " != *" $word "* || ($target && $word != help) ]] || target=$word
    done
    case $target in
    '') _convolution_complete '' "$targets" ;;
    help) _convolution_complete nothing "$targets build" ;;
    *) _convolution_complete "$target" '' ;;
    esac
}

# What make's completion was before.
_convolution_fall_back() {
    if [ -n "${_convolution_before-}" ] && [ "$_convolution_before" != _convolution_make ]; then
        "$_convolution_before" "$@"
    elif declare -F _comp_load >/dev/null && _comp_load -- make 2>/dev/null || declare -F _completion_loader >/dev/null; then
        _completion_loader make 2>/dev/null
        declare -F _make >/dev/null && _make "$@"
        complete -F _convolution_make make
    else
        mapfile -t COMPREPLY < <(compgen -f -- "$2")
    fi
}

# A program of the project, by the folder that it is in: bench, whose first word is a question, or a question's own.
_convolution_program() {
    local root name=${1##*/} words target
    _convolution_find "$(dirname "$(command -v "$1" 2>/dev/null || echo .)")" || _convolution_find . || return 0
    read -ra words <<<"${COMP_LINE:0:COMP_POINT}x" # the last word ends with x
    if [ "$name" = bench ] && [ ${#words[@]} -le 2 ]; then
        _convolution_complete nothing "$(_convolution_facts '$1 == "question" { print $3 }')"
        return
    fi
    [ "$name" != bench ] || name=${words[1]}
    read -r target name < <(_convolution_facts -v name="$name" '
        $1 == "question" { target = $2; question = $3 }
        ($1 == "question" && $3 == name) || ($1 == "does" && $3 == "program:" name) { print target, question }')
    _convolution_complete "$target" "$(_convolution_facts -v owner="$name" '$1 == "flag" && $2 == owner { print $3 }')"
}

# cachesim: its options, machines, and files.
_convolution_cachesim() {
    local program before=${COMP_LINE:0:COMP_POINT} word folder
    program=$(command -v "$1" 2>/dev/null) || return 0
    word=${before##*[[:space:]]}
    before=${before%"$word"}
    folder=$(dirname "$(realpath "$program")")
    _convolution_offer "$word" < <(
        if [[ $before =~ --machine[[:space:]]+$ ]]; then
            echo host
            find "$folder/../share/convsim/machines" "$folder/../sim/machines" -name '*.cfg' 2>/dev/null | sed 's|.*/||; s|[.]cfg$||' | sort
            compgen -f -- "$word"
        elif [[ $word == -* ]]; then
            "$program" --help 2>/dev/null | grep -oE -- '--[a-z][a-z0-9-]*' | sort
        else
            echo run
            compgen -f -- "$word"
        fi
    )
}

complete -o filenames -F _convolution_cachesim cachesim
complete -F _convolution_program bench experiment sconv-plan sconv-gen onnx2layers
if [ -e "$(dirname "${BASH_SOURCE[0]}")/variables" ]; then
    _convolution_before=$(complete -p make 2>/dev/null | sed -n 's/.* -F \([^ ]*\) .*/\1/p')
    complete -F _convolution_make make
    # shellcheck disable=SC2046  # names are words
    complete -F _convolution_program $(cd "$(dirname "${BASH_SOURCE[0]}")/.." && .ci/facts | awk -F'\t' '$1 == "question" { print $3 } $3 ~ /^program:/ { print substr($3, 9) }')
fi
