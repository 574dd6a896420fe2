#!/usr/bin/env bash
# Installs llama.cpp's server from Debian unstable into a folder of its own, with the C library that it needs: it does
# not replace packages of the system. The program is then /usr/local/bin/llama-server.
set -euo pipefail
root=/opt/atoll-test-llama
packages=$root/packages
mkdir -p "$packages"/{state/lists/partial,cache/archives/partial}
touch "$packages/state/status"
cat >"$packages/unstable.sources" <<'SOURCES'
Types: deb
URIs: http://deb.debian.org/debian
Suites: unstable
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
SOURCES
options=(
  -o "Dir::Etc::sourcelist=$packages/unstable.sources" -o Dir::Etc::sourceparts=/dev/null
  -o "Dir::State=$packages/state" -o "Dir::State::status=$packages/state/status" -o "Dir::Cache=$packages/cache"
  -o APT::Sandbox::User=root -qq
)
apt-get "${options[@]}" update
apt-get "${options[@]}" --yes --no-install-recommends --download-only install llama.cpp-tools
for package in "$packages"/cache/archives/*.deb; do dpkg-deb -x "$package" "$root"; done
rm -r "$packages"
libraries=$root/usr/lib/$(dpkg-architecture -q DEB_HOST_MULTIARCH 2>/dev/null || echo x86_64-linux-gnu)
loader=$(echo "$root"/usr/lib*/ld-linux-*.so.*)
# llama.cpp looks for its back ends beside the program that runs, which is the loader.
cp --remove-destination "$loader" "$libraries/ggml/backends0/"
cat >/usr/local/bin/llama-server <<PROGRAM
#!/bin/sh
exec "$libraries/ggml/backends0/$(basename "$loader")" --library-path "$libraries:$libraries/llama" "$root/usr/bin/llama-server" "\$@"
PROGRAM
chmod +x /usr/local/bin/llama-server
llama-server --version
