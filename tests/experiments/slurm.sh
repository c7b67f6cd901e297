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
# Runs the script of an array in the background, as Slurm would: in names of logs, %a is replaced.
printf '%s\n' "$@" >"$FAKE/words"
for word in "$@"; do
    case $word in
    --output=*) out=${word#*=} ;;
    --array=0-*) last=${word#--array=0-} ;;
    esac
done
cp "$word" "$FAKE/script.$$"
touch "$FAKE/job.$$"
echo $$
(
    grep -qx -e --hold "$FAKE/words" && sleep 30
    for ((i = 0; i <= last; i++)); do
        (cd / && SLURM_ARRAY_TASK_ID=$i sh "$FAKE/script.$$") >"${out//%a/$i}" 2>&1
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
printf '#!/bin/sh\nrm "$FAKE/job.$1"\n' >"$work/bin/scancel"
chmod +x "$work"/bin/*
fake() { # fake PROGRAM ARGUMENTS...: on a cluster of these commands
    PATH=$work/bin:$PATH "$1" MACHINE=toy MODEL=tests/data/three.csv LAUNCHER=slurm "${@:2}" >"$work/out" 2>"$work/err" </dev/null
}
succeeds() { # succeeds PROGRAM ARGUMENTS...
    fake "$@"
    status=$?
    check "$*: exit status $status: $(tail -n 1 "$work/err")" [ "$status" -eq 0 ]
}
grid='VARY=L1.size=1K,2K L2.ways=2,4'
"$sweep" "RESULTS=$work/plain" MACHINE=toy MODEL=tests/data/three.csv "$grid" STORE=no >/dev/null 2>&1
csv_rows "$work/plain/toy/sweep/three/sweep.csv" >"$work/first"
hostile="$work/it's 100; touch $work/PWNED \$(touch $work/PWNED) \"; touch $work/PWNED; \""
succeeds "$sweep" "RESULTS=$hostile" "$grid" SHARES=2 "SLURM=--comment='two words' \$HOME;\`touch $work/PWNED\` --x=\"a 'b'\""
check "results in a folder of any name" cmp -s "$work/first" <(csv_rows "$hostile/toy/sweep/three/sweep.csv")
check "logs are beside them: $(ls "$hostile/store.sqlite.parts")" [ "$(cat "$hostile/store.sqlite.parts/"[01].log | grep -c '^host ')" -eq 2 ]
check "SLURM is split into words: $(cat "$work/fake/words")" \
    [ "$(grep -cxF -e "--comment=two words" -e "\$HOME;\`touch" -e "$work/PWNED\`" -e "--x=a 'b'" "$work/fake/words")" -eq 4 ]
check "progress was shown: $(cat "$work/err")" grep -q 'Slurm job [0-9]*  simulating; [0-2] of 2 jobs running or waiting' "$work/err"
rm "$work/fake/words"
succeeds "$sweep" "RESULTS=$hostile" "$grid" SHARES=2
check "what is done is no job" [ ! -e "$work/fake/words" ]
succeeds "$experiment" "RESULTS=$hostile" ALGO=base TIMING=0 OBSERVE=0
check "an experiment in a folder of any name" [ -s "$hostile/toy/three/layers.csv" ]
check "its output is passed on: $(cat "$work/out")" grep -q '^open ' "$work/out"
check "its part of the store is merged" [ "$(find "$hostile/store.sqlite.parts" -name '*-0.sqlite' | wc -l)" -eq 0 ]
check "nothing in these names was executed" [ ! -e "$work/PWNED" ]
echo 3 >"$work/fake/failures" # a controller that is started again
succeeds "$sweep" "RESULTS=$work/silent" "$grid" SHARES=2
check "a silent squeue is no end: $(cat "$work/err")" cmp -s "$work/first" <(csv_rows "$work/silent/toy/sweep/three/sweep.csv")
PATH=$work/bin:$PATH refuses "SLURM: a quote is not closed: '--comment='two words'" MACHINE=toy MODEL=tests/data/three.csv LAUNCHER=slurm "$grid" "SLURM=--comment='two words"

# Jobs that fail, that come to no end, and that are interrupted.
fails() { # fails WORDS PROGRAM ARGUMENTS...
    fake "${@:2}"
    check "${*:2}: succeeds" [ $? -ne 0 ]
    check "${*:2}: '$1' is not in: $(cat "$work/err")" grep -q -- "$1" "$work/err"
}
fails "^experiment: job [0-9]*_0 failed, .*: experiment: unknown micro-kernel 'none'.*; see $work/failed/store.sqlite.parts/[0-9]*-0.log; run it again" \
    "$experiment" "RESULTS=$work/failed" OBSERVE=0 TIMING=0 UKR=none
fails "LAUNCHER=slurm: needs a store, not STORE=no" "$experiment" "RESULTS=$work/failed" STORE=no
fake "$sweep" "RESULTS=$work/held" "$grid" SHARES=2 SLURM=--hold &
pid=$!
for _ in $(seq 100); do [ ! -e "$work"/fake/job.* ] && sleep 0.1; done
rm "$work"/fake/job.*
wait $pid
check "a job that was cancelled: $(cat "$work/err")" grep -q 'sweep: job [0-9]*_0 failed, was cancelled, or ran out of time: it wrote nothing; .*; run it again' "$work/err"
PATH=$work/bin:$PATH "$sweep" MACHINE=toy MODEL=tests/data/three.csv LAUNCHER=slurm "RESULTS=$work/held" "$grid" SHARES=2 SLURM=--hold >"$work/out" 2>"$work/err" </dev/null &
pid=$!
for _ in $(seq 100); do grep -q '^Slurm job' "$work/err" || sleep 0.1; done
kill -TERM $pid
wait $pid
check "an interruption: $(cat "$work/err")" grep -q '^sweep: interrupted; job [0-9]* was cancelled, what is done is kept$' "$work/err"
check "... cancels the job: $(ls "$work/fake")" [ "$(find "$work/fake" -name 'job.*' | wc -l)" -eq 0 ]

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


arguments=("RESULTS=$work/results" MACHINE=toy MODEL=tests/data/three.csv "$grid" LAUNCHER=slurm SHARES=3)
run() { "$sweep" "${arguments[@]}" "$@" >"$work/out" 2>"$work/err" </dev/null; }
find_job() { # job becomes the number of one that waits
    for _ in $(seq 100); do
        job=$(squeue -h -o %A | head -n 1)
        [ -n "$job" ] && break
        sleep 0.1
    done
}
run SLURM=--partition=none
check "a partition that is not there: $?" [ $? -ne 0 ]
check "sbatch's complaint is passed on: $(cat "$work/err")" grep -q 'sbatch submits no job: .*partition' "$work/err"
check "and no store is left: $(ls "$work/results")" [ ! -e "$work/results/store.sqlite" ]
run SLURM=--begin=now+1hour & # jobs that come to no end; then the next time
pid=$!
find_job
scancel "$job"
wait $pid
check "cancelled jobs make it fail: $?" [ $? -ne 0 ]
check "what is missing is named: $(cat "$work/err")" grep -q "sweep: job ${job}_0 failed, was cancelled, or ran out of time: .*; run it again" "$work/err"
run
check "the next run makes it: $(tail -n 1 "$work/err")" cmp -s "$work/first" <(csv_rows "$work/results/toy/sweep/three/sweep.csv")
check "each job had its share" [ "$(cat "$work"/results/store.sqlite.parts/?.log | grep -c '^0 of 12 simulations from the store')" -eq 3 ]

# Times: each job has a node for itself.
sed '/^stem/d' tests/data/three.csv >"$work/two.csv"
times() {
    "$peers" MORE=1 "RESULTS=$work/times" "MODEL=tests/data/three.csv,$work/two.csv" REPS=2 HOT=0 RULER=0 LAUNCHER=slurm "$@" \
        >"$work/out" 2>"$work/err" </dev/null
}
times SLURM=--begin=now+1hour &
pid=$!
find_job
check "a job that times asks for a node of its own" [ "$(scontrol show job "$job" | grep -c 'OverSubscribe=NO')" -ge 1 ]
scancel "$job"
wait $pid
check "cancelled, it fails: $?" [ $? -ne 0 ]
check "and says so: $(cat "$work/err")" grep -q "peers: job $job did not get to its end: .*/store.sqlite.parts/$job.err; run it again" "$work/err"
times
status=$?
check "times of a cluster: exit status $status: $(tail -n 1 "$work/err")" [ "$status" -eq 0 ]
check "its output is passed on" grep -q '^two: 2 rounds: ' "$work/out"
check "the tables are there" [ "$(csv_rows "$work/times/host/peers/three+two/model.csv" | wc -l)" -gt 1 ]

# ---- an experiment ----
whole() {
    "$experiment" "RESULTS=$work/whole" MODEL=tests/data/three.csv ALGO=base,sconv_is REPS=2 OBSERVE=0 RULER=0 LAUNCHER=slurm "$@" \
        >"$work/out" 2>"$work/err" </dev/null
}
whole SLURM=--begin=now+1hour &
pid=$!
find_job
check "an experiment asks for a node of its own" [ "$(scontrol show job "$job" | grep -c 'OverSubscribe=NO')" -ge 1 ]
kill -TERM "$(pgrep -P $pid)" # not the shell of the function
wait $pid
check "an interruption cancels: $(squeue -h) $(cat "$work/err")" [ -z "$(squeue -h)" ]
whole
check "an experiment of a cluster: exit status $?: $(tail -n 1 "$work/err")" [ $? -eq 0 ]
check "it says which CPU it ran on: $(head -n 1 "$work/out")" grep -q "^host $(hostname), ." "$work/out"
check "and its results are there" [ "$(csv_rows "$work/whole/host/three/layers.csv" | wc -l)" -eq 7 ]
finish
