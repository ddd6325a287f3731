#!/usr/bin/env bash
# Builds and serves the web site of the trial: Debian's HTML documentation, served by Debian's nginx on loopback.
#
#   site.sh build    unpacks the documentation to $TRIAL/web, replacing what is there
#   site.sh serve    serves it until it is stopped
#
# run.sh uses both. TRIAL is the folder for everything (default: trial, next to this file), PORT the port (default: 18089).
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
TRIAL=${TRIAL:-$here/trial}
PORT=${PORT:-18089}

# One documentation set on each line: its folder on the site, its start page below /usr/share/doc, and its Debian package,
# followed by the package's names in other releases.
sets=(
	"handbook   debian-handbook/html        debian-handbook"
	"libstdcxx  gcc-*-base/libstdc++        libstdc++-12-doc libstdc++-14-doc libstdc++-13-doc"
	"postgresql postgresql-doc-*/html       postgresql-doc-15 postgresql-doc-17 postgresql-doc-16"
	"sqlite     sqlite3                     sqlite3-doc"
	"python     python3.*/html              python3.11-doc python3.13-doc python3.12-doc"
	"policy     debian-policy/policy.html   debian-policy"
)
# SETS chooses some of them for a short trial.
if [ -n "${SETS:-}" ]; then
	chosen=()
	for set in "${sets[@]}"; do
		if [[ " $SETS " == *" ${set%% *} "* ]]; then
			chosen+=("$set")
		fi
	done
	sets=("${chosen[@]}")
fi
# Packages that the sets link to.
helpers=(libjs-sphinxdoc libjs-jquery libjs-underscore)

die() {
	echo "site.sh: $*" >&2
	exit 1
}

# known reports whether Debian has a package of this name.
known() {
	apt-cache show --no-all-versions "$1" >/dev/null 2>&1
}

# first_known prints the name that this release of Debian uses.
first_known() {
	local name
	for name in "$@"; do
		if known "$name"; then
			echo "$name"
			return
		fi
	done
	die "apt knows none of: $*; try apt-get update"
}

# fetch_packages downloads and unpacks the packages. It installs nothing.
fetch_packages() {
	local set names package
	known debian-handbook || apt-get update -q >&2 </dev/null || die "apt-get update failed; it has to be run as root once"
	mkdir -p "$TRIAL/debs" "$TRIAL/unpacked"
	names=("${helpers[@]}")
	for set in "${sets[@]}"; do
		read -r _ _ set <<<"$set"
		# shellcheck disable=SC2086 # several names
		names+=("$(first_known $set)")
	done
	for package in "${names[@]}"; do
		if ! compgen -G "$TRIAL/debs/${package}_*.deb" >/dev/null; then
			(cd "$TRIAL/debs" && apt-get download -q "$package" </dev/null >&2)
		fi
		dpkg-deb -x "$TRIAL/debs/${package}"_*.deb "$TRIAL/unpacked"
	done
}

# untie redirects absolute links to the unpacked files, and removes dangling ones.
untie() {
	local link target
	find "$TRIAL/unpacked/usr/share" -type l | while read -r link; do
		target=$(readlink "$link")
		if [ "${target#/}" != "$target" ]; then
			ln -sfn "$TRIAL/unpacked$target" "$link"
		fi
	done
	find "$TRIAL/unpacked/usr/share" -xtype l -delete
}

# build copies the sets, so that the pages can be edited, and writes the page that links to them.
build() {
	local set folder from pattern
	fetch_packages
	untie
	rm -rf "$TRIAL/web"
	mkdir -p "$TRIAL/web"
	{
		echo '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Documentation</title></head><body>'
		echo '<h1>Documentation</h1><ul>'
	} >"$TRIAL/web/index.html"
	for set in "${sets[@]}"; do
		read -r folder pattern _ <<<"$set"
		from=$(compgen -G "$TRIAL/unpacked/usr/share/doc/$pattern" | sort | tail -n 1) || die "no $pattern in the packages"
		cp -rL --preserve=timestamps "$from" "$TRIAL/web/$folder"
		start_pages "$folder"
	done
	echo '</ul></body></html>' >>"$TRIAL/web/index.html"
	printf 'User-agent: *\nDisallow: /private/\n' >"$TRIAL/web/robots.txt"
	echo "$(find "$TRIAL/web" -type f -name '*.htm*' | wc -l) HTML pages, $(find "$TRIAL/web" -type f | wc -l) files," \
		"$(du -sh "$TRIAL/web" | cut -f 1) in $TRIAL/web"
}

# start_pages links to the index pages of one set. A set with an index page needs no others, except the libstdc++ reference,
# whose menu is a script.
start_pages() {
	local page
	(
		cd "$TRIAL/web"
		if [ -e "$1/index.html" ]; then
			find "$1" -maxdepth 2 \( -name index.html -o -name files.html -o -name annotated.html -o -name modules.html -o -name namespaces.html \)
		else
			find "$1" -mindepth 2 -maxdepth 2 -name 'index.html'
		fi
	) | sort | while read -r page; do
		echo "<li><a href=\"/$page\">$page</a></li>" >>"$TRIAL/web/index.html"
	done
}

# configure writes nginx's configuration: a static site with ETag and Last-Modified. Two folders differ:
#   /postgresql/ is behind a proxy that drops conditional headers, as on many sites: every answer is a 200, and only the
#                mid-fetch filter saves its bytes;
#   /sqlite/     is compressed on the way, so that its answers are chunked and their ETags weak.
configure() {
	local user=""
	if [ "$(id -u)" -eq 0 ]; then
		user="user root;" # maybe only root can read the folder
	fi
	mkdir -p "$TRIAL/nginx"
	cat >"$TRIAL/nginx/nginx.conf" <<-END
		$user
		worker_processes 1;
		daemon off;
		pid $TRIAL/nginx/nginx.pid;
		error_log $TRIAL/nginx/error.log;
		events { worker_connections 512; }
		http {
			include /etc/nginx/mime.types;
			default_type application/octet-stream;
			log_format trial '\$msec \$status \$bytes_sent \$request_method \$request_uri "\$http_if_none_match"';
			access_log $TRIAL/nginx/access.log trial;
			client_body_temp_path $TRIAL/nginx/body;
			proxy_temp_path $TRIAL/nginx/proxy;
			fastcgi_temp_path $TRIAL/nginx/fastcgi;
			uwsgi_temp_path $TRIAL/nginx/uwsgi;
			scgi_temp_path $TRIAL/nginx/scgi;
			etag on;
			log_not_found off;
			sendfile on;
			keepalive_requests 100000;
			server {
				listen 127.0.0.1:$PORT default_server;
				server_name localhost;
				root $TRIAL/web;
				location / { }
				location /postgresql/ {
					proxy_pass http://127.0.0.1:$PORT;
					proxy_set_header Host behind;
					proxy_set_header If-None-Match "";
					proxy_set_header If-Modified-Since "";
				}
				location /sqlite/ { gzip on; gzip_types text/css application/javascript; }
			}
			server {
				listen 127.0.0.1:$PORT;
				server_name behind;
				root $TRIAL/web;
				access_log off;
			}
		}
	END
}

# nginx prints the path of the program, and installs Debian's package if it is missing.
nginx_program() {
	if ! PATH=$PATH:/usr/sbin command -v nginx; then
		[ "$(id -u)" -eq 0 ] || die "nginx is not installed; as root: apt-get install nginx-light"
		DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends nginx-light >&2 </dev/null
		PATH=$PATH:/usr/sbin command -v nginx
	fi
}

case ${1:-} in
build) build ;;
serve)
	program=$(nginx_program)
	configure
	exec "$program" -p "$TRIAL/nginx" -e "$TRIAL/nginx/error.log" -c "$TRIAL/nginx/nginx.conf"
	;;
*) die "usage: site.sh build | serve" ;;
esac
