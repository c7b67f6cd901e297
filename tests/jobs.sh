#!/usr/bin/env bash
# Runs commands side by side, as many as there are cores: each line of standard input is a job, a name and a command.
# The output of a job is printed when the job ends: all output of a failed job, else skipped parts and the last line.
# The last line lists the names of failed jobs. JOBS: how many run at a time. Each job has a process group of its own: a
# signal that ends this script (Ctrl-C, SIGTERM, SIGHUP) ends all processes of all jobs.
set -um

jobs=${JOBS:-$(nproc)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

end_all() { # end_all STATUS
    local job
    trap '' INT TERM HUP
    for job in $(jobs -p); do kill -TERM -- "-$job"; done 2>/dev/null
    wait 2>/dev/null
    exit "$1"
}
trap 'end_all 130' INT
trap 'end_all 143' TERM
trap 'end_all 129' HUP
TIMEFORMAT='%R s, %U s + %S s of CPU'
MAKEFLAGS=$(sed -E 's/ *-j[0-9]*\>//; s/ *--jobserver-[a-z]*=[^ ]*//g' <<<"${MAKEFLAGS-}") # jobs share no slots with make
export MAKEFLAGS
running=0
total=0
failed=()

# Runs a job with the default action for Ctrl-C, even if this script ignores Ctrl-C. Writes the job's output, times and
# exit status.
run() { # run NAME COMMAND
    { time env --default-signal=INT,QUIT bash -c "$2" >"$work/$1.out" 2>&1 </dev/null; } 2>"$work/$1.time"
    echo $? >"$work/$1.status"
    mv "$work/$1.status" "$work/$1.ended"
}

show() { # show NAME: what is to be said of a job that ended
    local status said
    status=$(cat "$work/$1.ended")
    said=$(tail -n 1 "$work/$1.out")
    if [ "$status" -eq 0 ]; then
        grep 'skipped: ' "$work/$1.out"
        echo "ok      $1 ($(cat "$work/$1.time")): ${said:-nothing said}"
    else
        failed+=("$1")
        echo "FAILED  $1 ($(cat "$work/$1.time")), exit status $status:"
        cat "$work/$1.out"
    fi
    rm "$work/$1".*
}

wait_for_one() {
    local file
    wait -n || { failed+=("a job that left nothing"); running=0; }
    for file in "$work"/*.ended; do
        [ -e "$file" ] || continue
        show "$(basename "$file" .ended)"
        running=$((running - 1))
    done
}

while read -r name command; do
    while [ "$running" -ge "$jobs" ]; do wait_for_one; done
    run "$name" "$command" &
    running=$((running + 1))
    total=$((total + 1))
done
while [ "$running" -gt 0 ]; do wait_for_one; done

echo "$total jobs, ${#failed[@]} failed${failed[*]:+: ${failed[*]}}"
[ "$total" -gt 0 ] && [ ${#failed[@]} -eq 0 ]
