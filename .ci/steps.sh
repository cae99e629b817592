# Steps, lanes and tools of the gate. Sourced by .ci/run.

scratch=$(mktemp -d)
touch "$scratch/steps" "$scratch/skipped" "$scratch/elsewhere"
lanes=()
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# stop ends what still runs, and removes the scratch files.
stop() {
	local pid
	for pid in ${lanes[@]+"${lanes[@]}"}; do
		kill -- "-$pid" 2>/dev/null || true
	done
	wait
	rm -rf "$scratch"
}

# A lane is a shell that runs parts one after the other. A step is what a part does under one
# heading: it lasts until the next begins, or the lane ends.
current=
began=0
spent=0

# processor sets cpu to the processor seconds that this shell's commands have used.
processor() {
	local file=$scratch/times.$BASHPID
	times >"$file" # in a subshell it would tell of the subshell
	cpu=$(awk -F'[ms ]' 'NR == 2 { print int(60*$1 + $2 + 60*$4 + $5) }' "$file")
}

# finish ends the current step, with a word for its result.
finish() {
	[ -n "$current" ] || return 0
	processor
	printf '%6d s %6d s  %-8s %s\n' $((SECONDS - began)) $((cpu - spent)) "$1" "$current" >>"$scratch/steps"
	printf -- '-- %s: %d s, %d CPU s\n' "$1" $((SECONDS - began)) $((cpu - spent))
	current=
}

# step begins a step, and prints its heading.
step() {
	finish passed
	processor
	current=$* began=$SECONDS spent=$cpu
	printf '\n== %4d s: %s\n' "$SECONDS" "$current"
}

# skip ends the current step because this machine lacks something that others have. It exits
# where nothing may be left out.
skip() {
	printf 'SKIPPED: %s: %s\n' "$current" "$*"
	if [ -n "${CI:-}" ]; then
		echo "CI is set, so no step may be skipped"
		exit 1
	fi
	printf '%s: %s\n' "$current" "$*" >>"$scratch/skipped"
	finish SKIPPED
}

# elsewhere ends the current step because this kind of machine cannot run it at all.
elsewhere() {
	printf 'NOT RUN HERE: %s: %s\n' "$current" "$*"
	printf '%s: %s\n' "$current" "$*" >>"$scratch/elsewhere"
	finish "not here"
}

# busy starts four busy loops for each processor. They end with idle, or with the gate. They are
# not this shell's children, so that their time is not counted as the step's.
busy() {
	local n
	touch "$scratch/busy"
	(
		for ((n = 4 * $(getconf _NPROCESSORS_ONLN); n > 0; n--)); do
			while [ -e "$scratch/busy" ]; do
				for ((i = 0; i < 10000; i++)); do :; done
			done </dev/null >/dev/null 2>&1 &
		done
	)
}

# idle ends the busy loops.
idle() { rm -f "$scratch/busy"; }

# install installs packages. It fails where it may not, or finds no apt-get.
install() {
	local root=()
	if ! command -v apt-get >/dev/null; then
		echo "no apt-get to install $* by"
		return 1
	fi
	if [ "$(id -u)" -ne 0 ]; then
		if ! sudo -n true 2>/dev/null; then
			echo "no right to install $*: neither root nor sudo without a password"
			return 1
		fi
		root=(sudo -n)
	fi
	echo "installing $*"
	# A list that cannot be fetched matters only if a package is not found then.
	${root[@]+"${root[@]}"} apt-get update -q || true
	${root[@]+"${root[@]}"} env DEBIAN_FRONTEND=noninteractive apt-get install -qy "$@" </dev/null
}

# need PACKAGES COMMAND... succeeds if one of the commands is there, if need be after it has
# installed the packages. If not, it skips the current step.
need() {
	local packages=$1
	shift
	command -v "$@" >/dev/null && return
	# shellcheck disable=SC2086 # several packages
	install $packages && command -v "$@" >/dev/null && return
	skip "there is no $1, and it cannot be installed"
	return 1
}

# lane runs parts. Its shell must not be part of a condition, or failures would be ignored.
lane() {
	local number=$1 part
	shift
	trap 'finish FAILED' EXIT
	for part; do
		"part_$part"
	done
	finish passed
	trap - EXIT
	touch "$scratch/passed.$number"
}

# lanes runs lanes at once, each given as the names of its parts. What the first prints is seen
# at once, what the others print when all have ended. The first failure ends all.
lanes() {
	local i parts=("$@")
	rm -f "$scratch"/passed.*
	lanes=()
	set -m # each lane is a process group, so that it can be ended
	for i in "${!parts[@]}"; do
		# shellcheck disable=SC2086 # several parts
		if [ "$i" -eq 0 ]; then
			(lane "$i" ${parts[i]}) </dev/null &
		else
			(lane "$i" ${parts[i]}) </dev/null >"$scratch/out.$i" 2>&1 &
		fi
		lanes+=($!)
	done
	set +m
	for i in "${!parts[@]}"; do
		wait -n || break
	done
	for i in "${!parts[@]}"; do
		[ -e "$scratch/passed.$i" ] || failed
	done
	lanes=()
	[ ${#parts[@]} -eq 1 ] || printf '\n== what was done beside\n'
	for i in "${!parts[@]}"; do
		[ "$i" -eq 0 ] || cat "$scratch/out.$i"
	done
}

# failed prints what led to a failure, and exits.
failed() {
	local i
	for i in "${!lanes[@]}"; do
		# A lane that was killed has left no file.
		if [ ! -e "$scratch/passed.$i" ] && [ -e "$scratch/out.$i" ] && ! kill -0 "${lanes[i]}" 2>/dev/null; then
			cat "$scratch/out.$i"
		fi
	done
	conclude FAILED
	exit 1
}

# conclude prints the table of steps, and what was left out. It exits with status 3 if a step was
# skipped.
conclude() {
	printf '\n== %4d s: steps, with their time, and their processor seconds\n' "$SECONDS"
	cat "$scratch/steps"
	awk '{ sum += $3 } END { printf "%8s %6d s  in all\n", "", sum }' "$scratch/steps"
	if [ -s "$scratch/elsewhere" ]; then
		printf '\n== not run, as this kind of machine cannot:\n'
		cat "$scratch/elsewhere"
	fi
	if [ -s "$scratch/skipped" ]; then
		printf '\n== SKIPPED, so this is not the whole of it:\n'
		cat "$scratch/skipped"
	fi
	if [ "${1:-}" = FAILED ]; then
		printf '\n== %4d s: FAILED\n' "$SECONDS"
	elif [ -s "$scratch/skipped" ]; then
		printf '\n== %4d s: nothing failed, but not everything ran\n' "$SECONDS"
		exit 3
	elif [ -s "$scratch/elsewhere" ]; then
		printf '\n== %4d s: all passed that this kind of machine can run\n' "$SECONDS"
	else
		printf '\n== %4d s: all passed\n' "$SECONDS"
	fi
}
