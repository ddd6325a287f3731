#!/usr/bin/env bash
# Runs the trial on real pages; see README.md. It takes about ten minutes. Exit code 0 means that arcrawl archived again
# exactly the pages that were edited.
#
#   TRIAL    folder for everything                (trial, next to this file)
#   PORT     port of the site, on 127.0.0.1       (18089)
#   SETS     documentation sets of site.sh        (all; "policy sqlite" makes a short trial)
#   INITIAL  first wait of every URI              (6m; the first pass must end before)
#   EDITS    number of edited pages               (40)
#   LIMIT    maximum seconds of each pass         (2400)
#   ARCRAWL  the program                          (bin/arcrawl, built if missing)
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
TRIAL=${TRIAL:-$here/trial}
PORT=${PORT:-18089}
INITIAL=${INITIAL:-6m}
EDITS=${EDITS:-40}
LIMIT=${LIMIT:-2400}
ARCRAWL=${ARCRAWL:-$root/bin/arcrawl}
export TRIAL PORT

base=http://127.0.0.1:$PORT
crawl=$TRIAL/crawl
log=$crawl/crawl.log
quiet=20 # seconds without a visit after which a pass has ended
site_pid="" crawl_pid=""

say() { echo "$(date +%T) $*"; }
die() {
	echo "run.sh: $*" >&2
	exit 1
}

# stop ends the processes that this script started.
stop() {
	[ -z "$crawl_pid" ] || kill -TERM "$crawl_pid" 2>/dev/null || true
	[ -z "$site_pid" ] || kill -TERM "$site_pid" 2>/dev/null || true
	wait
}
trap stop EXIT

configure() {
	rm -rf "$crawl"
	mkdir -p "$crawl"
	cat >"$crawl/arcrawl.toml" <<-END
		[operator]
		name = "arcrawl trial"
		contact = "https://github.com/arcrawl/arcrawl"

		[storage]
		state = "state"
		warc = "warc"
		log = "crawl.log"
		min_free = "100MB"

		[crawl]
		workers = 16
		grace = "10s"

		[warc]
		max_size = "64MiB"

		[fetch]
		allow_networks = ["127.0.0.0/8"]

		[politeness]            # the server is our own
		delay_factor = 0.0
		min_delay = "0s"
		valence = 8

		[[wait]]
		mime = ".*"
		rule = "classic"
		initial = "$INITIAL"
		min = "1m"
		max = "28d"

		[scope]
		max_hops = 200
		max_links = 50000

		[seeds]
		uris = ["$base/"]
	END
}

start() {
	"$here/site.sh" serve >"$TRIAL/site.out" 2>&1 &
	site_pid=$!
	for _ in $(seq 600); do # site.sh may have to install nginx first
		curl -sf -o /dev/null "$base/" && break
		kill -0 "$site_pid" 2>/dev/null || die "nginx ended: $(cat "$TRIAL/site.out" "$TRIAL/nginx/error.log")"
		sleep 0.2
	done
	curl -sf -o /dev/null "$base/" || die "nginx does not answer at $base/"
	"$ARCRAWL" check --config "$crawl/arcrawl.toml" || die "the configuration is wrong"
	"$ARCRAWL" run --config "$crawl/arcrawl.toml" >"$crawl/arcrawl.out" 2>&1 &
	crawl_pid=$!
}

alive() {
	kill -0 "$crawl_pid" 2>/dev/null || die "arcrawl ended: $(tail -n 5 "$crawl/arcrawl.out")"
	[ "$SECONDS" -lt "$1" ] || die "not over within $LIMIT s: $(tail -n 2 "$log")"
}

# visits counts the lines of the log.
visits() { if [ -e "$log" ]; then wc -l <"$log"; else echo 0; fi; }

# first_pass waits until every known URI was visited.
first_pass() {
	local before=-1 now limit=$((SECONDS + LIMIT))
	while now=$(visits) && { [ "$now" -ne "$before" ] || [ "$now" -lt 10 ]; }; do
		before=$now
		alive "$limit"
		sleep "$quiet"
	done
	local again
	again=$(awk '$2 > 0 && $5 !~ /P$/ && seen[$4]++ == 1' "$log" | wc -l)
	[ "$again" -eq 0 ] || die "$again URIs were visited twice already: the first pass took longer than INITIAL=$INITIAL, choose a longer one"
}

# known lists the URIs of the first pass that were answered, each with its file.
known() {
	head -n "$mark" "$log" | awk -v base="$base" '
		$2 > 0 && $5 !~ /P$/ {
			file = substr($4, length(base) + 1)
			sub(/\?.*/, "", file)
			if (file ~ /\/$/) file = file "index.html"
			print $4, file, $2, $7
		}' | sort -u
}

# edit changes some pages, removes one, and adds one that an edited page links to. It writes the changed URIs to
# $TRIAL/expected.
edit() {
	known >"$TRIAL/known"
	awk '$3 == 200 && $4 ~ /^text\/html/ && $2 !~ /%/ { print $2 }' "$TRIAL/known" | sort -u |
		shuf -n "$((EDITS + 1))" --random-source=<(yes) >"$TRIAL/touched"
	local files file
	mapfile -t files <"$TRIAL/touched"
	rm "$TRIAL/web${files[0]}"
	for file in "${files[@]:1}"; do
		echo '<p>This page was edited during the crawl.</p>' >>"$TRIAL/web$file"
	done
	echo '<p>See also <a href="/added.html">the page that was added</a>.</p>' >>"$TRIAL/web${files[1]}"
	echo '<!DOCTYPE html><title>Added</title><p>This page was not there before.</p>' >"$TRIAL/web/added.html"
	awk 'NR == FNR { touched[$1] = 1; next } $2 in touched { print $1 }' "$TRIAL/touched" "$TRIAL/known" | sort -u >"$TRIAL/expected"
	say "edited $((${#files[@]} - 1)) pages, removed one, added one; $(wc -l <"$TRIAL/expected") known URIs are not what they were"
}

# second_pass waits until every known URI was visited again, and the added page for the first time. A page that was
# already missing in the first pass is not waited for: it is due after an hour (trouble.gone_after).
second_pass() {
	local limit=$((SECONDS + LIMIT)) left
	while left=$(unvisited) && [ "$left" -gt 0 ]; do
		alive "$limit"
		sleep 5
	done
}

unvisited() {
	tail -n "+$((mark + 1))" "$log" | awk -v added="$base/added.html" '
		NR == FNR { if ($3 != 404 && $3 != 410) left[$1] = 1; next }
		{ delete left[$4]; if ($4 == added) found = 1 }
		END { n = !found; for (u in left) n++; print n }' "$TRIAL/known" -
}

# row summarizes some lines of the log as a row of the table.
row() {
	awk -v pass="$1" -v sent="$2" -v archived="$3" '
		{ visits++; uri[$4] = 1 }
		$2 == 304 { same++; next }
		/midFetchAbort/ { off++; next }
		$2 == 200 { whole++; next }
		{ other++ }
		END {
			for (u in uri) uris++
			printf "| %s | %d | %d | %d | %d | %d | %d | %.1f MB | %.1f MB |\n", pass, uris, visits, whole, same, off, other, sent / 1e6, archived / 1e6
		}'
}

# sent adds up the bytes that nginx sent between two times, from its log.
sent() { awk -v from="$1" -v to="$2" '$1 >= from && $1 < to { n += $3 } END { print n + 0 }' "$TRIAL/nginx/access.log"; }

archived() { du -cb "$crawl"/warc/* | tail -n 1 | cut -f 1; }

evaluate() {
	{
		echo "| pass | URIs | visits | 200, read whole | 304 | broken off | other | sent by nginx | archive grew |"
		echo "|---|---|---|---|---|---|---|---|---|"
		head -n "$mark" "$log" | row first "$(sent 0 "$edited_at")" "$archived_at_mark"
		sed -n "$((mark + 1)),${end}p" "$log" | row second "$(sent "$edited_at" 9e9)" "$(($(archived) - archived_at_mark))"
	} | tee "$TRIAL/summary.md"
	# Every answer of the second pass that is not unchanged counts as changed.
	sed -n "$((mark + 1)),${end}p" "$log" | awk 'NR == FNR { known[$1] = 1; next }
		$4 in known && $12 !~ /(^|,)unchanged(,|$)/ { print $4 }' "$TRIAL/known" - | sort -u >"$TRIAL/changed"
	if ! diff "$TRIAL/expected" "$TRIAL/changed" >"$TRIAL/difference"; then
		echo "expected (<) and found (>) changes differ:"
		head -n 20 "$TRIAL/difference"
		return 1
	fi
	echo "changed: exactly the $(wc -l <"$TRIAL/expected") URIs of the pages that were edited or removed" | tee -a "$TRIAL/summary.md"
}

# foreign reads the archive with warcio, if make test has installed it.
foreign() {
	local file records=0 faults=0 n bad
	if ! [ -d "$root/internal/foreign/node_modules/warcio" ]; then
		echo "warcio is not installed; no foreign reader read the archive (scripts/test-deps installs it)"
		return
	fi
	for file in "$crawl"/warc/*.warc.gz; do
		node --max-old-space-size=4096 "$root/internal/foreign/check.mjs" "$file" >"$TRIAL/warcio.out" </dev/null
		n=$(grep -c '"type":' "$TRIAL/warcio.out")
		bad=$(grep '"type":' "$TRIAL/warcio.out" | grep -vc '"errors":\[\]' || true)
		records=$((records + n)) faults=$((faults + bad))
	done
	rm -f "$TRIAL/warcio.out"
	echo "warcio read $records records in $(compgen -G "$crawl/warc/*.warc.gz" | wc -l) files, $faults of them faulty" | tee -a "$TRIAL/summary.md"
	[ "$faults" -eq 0 ]
}

[ -x "$ARCRAWL" ] || make -C "$root" build
mkdir -p "$TRIAL"
say "building the site"
"$here/site.sh" build
rm -f "$TRIAL/nginx/access.log"
configure
start
say "first pass"
first_pass
mark=$(visits) edited_at=$(date +%s) archived_at_mark=$(archived)
say "the first pass is over: $mark visits"
edit
say "second pass, due $INITIAL after the first"
second_pass
end=$(visits)
say "the second pass is over: $((end - mark)) visits; stopping"
kill -TERM "$crawl_pid"
code=0
wait "$crawl_pid" || code=$?
crawl_pid=""
[ "$code" -eq 0 ] || die "arcrawl ended with exit code $code: $(tail -n 5 "$crawl/arcrawl.out")"
evaluate
foreign
say "all is well; the archive is in $crawl/warc, the log is $log, the table in $TRIAL/summary.md"
