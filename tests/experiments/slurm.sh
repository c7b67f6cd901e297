#!/usr/bin/env bash
# Work on a cluster: first with fake commands of Slurm, then with a Slurm of one node, which this test starts and stops.
# The second part is skipped without Slurm or without root. Run from the project's folder; BUILD has the programs
# (default build).
set -u

sweep=$(realpath -s "${BUILD:-build}/sweep")
peers=$(realpath -s "${BUILD:-build}/peers")
experiment=$(realpath -s "${BUILD:-build}/experiment")
program=$sweep
# shellcheck source=tests/check.bash
. tests/check.bash

# ---- fake commands of Slurm ----
mkdir "$work/bin" "$work/fake"
export FAKE=$work/fake
cat >"$work/bin/sbatch" <<'END'
#!/bin/bash
# Runs the script in the background, as Slurm would: in names of logs, %a, %j and %% are replaced.
out=/dev/null err= array=
for word in "$@"; do
    printf '%s\n' "$word" >>"$FAKE/words"
    case $word in
    --output=*) out=${word#*=} ;;
    --error=*) err=${word#*=} ;;
    --array=*) array=${word#*=} ;;
    esac
    script=$word
done
name() {
    local text=$1
    text=${text//%%/$'\001'}
    text=${text//%a/$2}
    text=${text//%j/$$}
    echo "${text//$'\001'/%}"
}
cp "$script" "$FAKE/script.$$"
touch "$FAKE/job.$$"
echo $$
(
    all=${array:-0-0}
    for ((i = ${all%-*}; i <= ${all#*-}; i++)); do
        [ -z "$array" ] || export SLURM_ARRAY_TASK_ID=$i
        log=$(name "$out" "$i")
        SLURM_JOB_ID=$$ sh "$FAKE/script.$$" >"$log" 2>"$([ -n "$err" ] && name "$err" "$i" || echo "$log.err")"
    done
    rm "$FAKE/job.$$"
) >/dev/null 2>&1 </dev/null &
END
cat >"$work/bin/squeue" <<'END'
#!/bin/bash
# The first calls fail, as many as a file says.
n=$(cat "$FAKE/failures" 2>/dev/null || echo 0)
if [ "$n" -gt 0 ]; then
    echo $((n - 1)) >"$FAKE/failures"
    echo "slurm_load_jobs error: Unable to contact slurm controller (connect failure)" >&2
    exit 1
fi
[ -e "$FAKE/job.${*: -1}" ] && echo "${*: -1}"
exit 0
END
chmod +x "$work"/bin/*
fake() { # fake PROGRAM ARGUMENTS...: on a cluster of these commands
    rm -f "$work"/fake/words
    PATH=$work/bin:$PATH "$1" MACHINE=toy MODEL=tests/data/three.csv LAUNCHER=slurm "${@:2}" >"$work/out" 2>"$work/err" </dev/null
    status=$?
    check "$*: exit status $status: $(tail -n 1 "$work/err")" [ "$status" -eq 0 ]
}
grid='VARY=L1.size=1K,2K L2.ways=2,4'
"$sweep" "RESULTS=$work/plain" MACHINE=toy MODEL=tests/data/three.csv "$grid" STORE=no >/dev/null 2>&1
csv_rows "$work/plain/toy/sweep/three/sweep.csv" >"$work/first"
hostile="$work/it's 100 %a; touch $work/PWNED \$(touch $work/PWNED) \"; touch $work/PWNED; \""
fake "$sweep" "RESULTS=$hostile" "$grid" SHARES=2 "SLURM=--comment='two words' \$HOME;\`touch $work/PWNED\` --x=\"a 'b'\""
check "results in a folder of any name" cmp -s "$work/first" <(csv_rows "$hostile/toy/sweep/three/sweep.csv")
check "logs are beside them: $(ls "$hostile/store.sqlite.parts")" [ "$(cat "$hostile/store.sqlite.parts/"[01].log | grep -c '^host ')" -eq 2 ]
check "SLURM is split into words: $(cat "$work/fake/words")" \
    [ "$(grep -cxF -e "--comment=two words" -e "\$HOME;\`touch" -e "$work/PWNED\`" -e "--x=a 'b'" "$work/fake/words")" -eq 4 ]
fake "$experiment" "RESULTS=$hostile" ALGO=base TIMING=0 OBSERVE=0
check "an experiment in a folder of any name" [ -s "$hostile/toy/three/layers.csv" ]
check "nothing in these names was executed" [ ! -e "$work/PWNED" ]
# A controller that is started again.
echo 3 >"$work/fake/failures"
fake "$sweep" "RESULTS=$work/silent" "$grid" SHARES=2
check "a silent squeue is no end: $(cat "$work/err")" cmp -s "$work/first" <(csv_rows "$work/silent/toy/sweep/three/sweep.csv")
check "silence is said: $(cat "$work/err")" grep -q '^squeue does not answer (.*Unable to contact .*); it is asked again for 10 minutes$' "$work/err"
check "so is its end: $(cat "$work/err")" grep -qx 'squeue answers again' "$work/err"
PATH=$work/bin:$PATH refuses "SLURM: a quote is not closed: '--comment='two words'" MACHINE=toy MODEL=tests/data/three.csv LAUNCHER=slurm "$grid" "SLURM=--comment='two words"

# ---- Slurm ----
skip() {
    echo "slurm: $passed passed, $failed failed; the rest was skipped: $*"
    [ "$failed" -eq 0 ]
    exit
}
for tool in munged mungekey slurmctld slurmd sbatch squeue scancel; do
    command -v $tool >/dev/null || skip "$tool is not installed (packages munge, slurmctld, slurmd, slurm-client)"
done
[ "$(id -u)" -eq 0 ] || skip "starting Slurm's daemons needs root"

# ---- a cluster of this computer ----
chmod 755 "$work" # munge wants its folders safe
mkdir "$work/munge" "$work/state" "$work/spool"
chmod 700 "$work/munge"
mungekey --create --keyfile="$work/munge/key" 2>/dev/null
cat >"$work/slurm.conf" <<END
ClusterName=test
SlurmctldHost=$(hostname -s)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$work/munge.socket
CryptoType=crypto/munge
SlurmctldPort=46817
SlurmdPort=46818
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
ReturnToService=2
KillWait=2
SchedulerParameters=sched_min_interval=100000
NodeName=$(hostname -s) CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO
END
export SLURM_CONF=$work/slurm.conf
started=()
stop() {
    scancel --user=root 2>/dev/null
    for pid in "${started[@]}"; do kill "$pid" 2>/dev/null; done
    for pid in "${started[@]}"; do wait "$pid" 2>/dev/null; done
    rm -rf "$work"
}
trap stop EXIT
munged --foreground --force --socket="$work/munge.socket" --key-file="$work/munge/key" --pid-file="$work/munge/pid" \
    --seed-file="$work/munge/seed" --log-file="$work/munge/log" >"$work/munged.out" 2>&1 &
started+=($!)
slurmctld -D >"$work/slurmctld.out" 2>&1 &
started+=($!)
slurmd -D >"$work/slurmd.out" 2>&1 &
started+=($!)
for _ in $(seq 100); do
    sinfo -h -o %T 2>/dev/null | grep -qx idle && break
    sleep 0.1
done
sinfo -h -o %T 2>/dev/null | grep -qx idle ||
    skip "the daemons do not come up here: $(cat "$work"/{munged,slurmctld,slurmd}.out "$work"/*.log 2>/dev/null | grep -i 'error\|fatal' | tail -n 1)"

# ---- sweeps ----
dir=$work/results/toy/sweep/three
arguments=("RESULTS=$work/results" MACHINE=toy "MODEL=tests/data/three.csv" 'VARY=L1.size=1K,2K L2.ways=2,4')
"$sweep" "${arguments[@]}" STORE=no >/dev/null 2>&1
csv_rows "$dir/sweep.csv" >"$work/first"

find_job() { # job becomes the number of one that waits
    for _ in $(seq 100); do
        job=$(squeue -h -o %A | head -n 1)
        [ -n "$job" ] && break
        sleep 0.1
    done
}
run() { "$sweep" "${arguments[@]}" LAUNCHER=slurm SHARES=3 "$@" >"$work/out" 2>"$work/err" </dev/null; }
run SLURM=--partition=none
check "a partition that is not there: $?" [ $? -ne 0 ]
check "sbatch's complaint is passed on: $(cat "$work/err")" grep -q 'sbatch submits no job: .*partition' "$work/err"
check "and no store is left: $(ls "$work/results")" [ ! -e "$work/results/store.sqlite" ]
run
status=$?
check "a job array: exit status $status: $(tail -n 1 "$work/err")" [ "$status" -eq 0 ]
check "its results are the same" cmp -s "$work/first" <(csv_rows "$dir/sweep.csv")
check "all are in the store: $(cat "$work/out")" grep -q '^36 of 36 simulations from the store' "$work/out"
check "each job had its share: $(cat "$work"/results/store.sqlite.parts/*.log)" \
    [ "$(cat "$work"/results/store.sqlite.parts/?.log | grep -c '^0 of 12 simulations from the store')" -eq 3 ]
check "jobs say where they ran" [ "$(grep -lc '^host ' "$work"/results/store.sqlite.parts/?.log | wc -l)" -eq 3 ]
check "and progress was shown: $(cat "$work/err")" grep -q 'Slurm job [0-9]*  simulating; ' "$work/err"

# A job that does not get to the end: missing work is named, and done the next time.
rm -rf "$work"/results/store.sqlite*
run SLURM=--begin=now+1hour &
pid=$!
find_job
scancel "$job"
wait $pid
check "cancelled jobs make it fail: $?" [ $? -ne 0 ]
check "what is missing is named: $(cat "$work/err")" grep -q '36 of 36 simulations have no result (0 failed), such as three .*; run it again' "$work/err"
run
check "the next run makes it: $(tail -n 1 "$work/err")" cmp -s "$work/first" <(csv_rows "$dir/sweep.csv")

# ---- times ----
sed '/^stem/d' tests/data/three.csv >"$work/two.csv"
times() {
    "$peers" "RESULTS=$work/times" "MODEL=tests/data/three.csv,$work/two.csv" REPS=2 HOT=0 RULER=0 LAUNCHER=slurm SHARES=2 "$@" \
        >"$work/out" 2>"$work/err" </dev/null
}
times SLURM=--begin=now+1hour &
pid=$!
find_job
check "jobs that time ask for a node of their own" [ "$(scontrol show job "$job" | grep -c 'OverSubscribe=NO')" -ge 1 ]
scancel "$job"
wait $pid
check "cancelled, it fails: $?" [ $? -ne 0 ]
check "and says what is missing: $(cat "$work/err")" grep -q '2 of 2 networks have no result (0 failed), such as three; .*run it again' "$work/err"
times
status=$?
check "times of a cluster: exit status $status: $(tail -n 1 "$work/err")" [ "$status" -eq 0 ]
check "they say where they are from: $(cat "$work/out")" \
    [ "$(grep -cE '^(three|two) was timed by another process, [-0-9]+ [:0-9]+ UTC, on core [0-9]+ of .*\(' "$work/out")" -eq 2 ]
check "so does host.txt" grep -q '^two was timed by another process' "$work/times/host/peers/three+two/host.txt"
check "the tables are there" [ "$(csv_rows "$work/times/host/peers/three+two/model.csv" | wc -l)" -gt 1 ]
check "each job timed one network" [ "$(cat "$work"/times/store.sqlite.parts/?.log | grep -c '^1 of 1 networks timed, on core')" -eq 2 ]
times
check "a finished run is followed by new times" [ "$(cat "$work"/times/store.sqlite.parts/?.log | grep -c '^1 of 1 networks timed, on core')" -eq 2 ]

# ---- an experiment ----
whole() {
    "$experiment" "RESULTS=$work/whole" MODEL=tests/data/three.csv ALGO=base,sconv_is REPS=2 OBSERVE=0 RULER=0 LAUNCHER=slurm "$@" \
        >"$work/out" 2>"$work/err" </dev/null
}
whole SLURM=--begin=now+1hour &
pid=$!
find_job
check "an experiment asks for a node of its own" [ "$(scontrol show job "$job" | grep -c 'OverSubscribe=NO')" -ge 1 ]
scancel "$job"
wait $pid
check "cancelled, it fails: $?" [ $? -ne 0 ]
check "and says so: $(cat "$work/err")" grep -q "experiment: job $job did not get to its end: .*/store.sqlite.parts/$job.err; run it again" "$work/err"
whole
status=$?
check "an experiment of a cluster: exit status $status: $(tail -n 1 "$work/err")" [ "$status" -eq 0 ]
check "it says which CPU it ran on: $(head -n 1 "$work/out")" grep -q "^host $(hostname), ." "$work/out"
check "so does its host.txt" grep -q '^timed on core: ' "$work/whole/host/three/host.txt"
check "its output is passed on" grep -q '^tables$' "$work/out"
check "and its results are there" [ "$(csv_rows "$work/whole/host/three/layers.csv" | wc -l)" -eq 7 ]
check "its part of the store is merged" [ "$(find "$work/whole/store.sqlite.parts" -name '*.sqlite' | wc -l)" -eq 0 ]
check "what it simulated is kept" grep -q '^\([0-9]*\) of \1 simulations from the store' <("$experiment" "RESULTS=$work/untimed" \
    MODEL=tests/data/three.csv ALGO=base,sconv_is TIMING=0 OBSERVE=0 "STORE=$work/whole/store.sqlite" </dev/null 2>/dev/null)
whole UKR=none
check "what a job complains of is passed on: $(cat "$work/err")" grep -q "^experiment: unknown micro-kernel 'none'" "$work/err"
check "with its exit status: $(tail -n 1 "$work/err")" grep -q '^experiment: job [0-9]* failed with exit status [1-9]' "$work/err"
whole MODEL=nowhere.csv
check "what is wrong everywhere is no job: $(cat "$work/err")" [ "$(grep -c "^experiment: cannot open 'nowhere.csv'" "$work/err")" -eq "$(wc -l <"$work/err")" ]
whole STORE=no
check "nor is one without a store: $(cat "$work/err")" grep -q 'LAUNCHER=slurm: needs a store, not STORE=no' "$work/err"

echo "slurm: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
