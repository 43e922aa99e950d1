#!/usr/bin/env bash
# Installs what building, testing and the demo need, from the system's own packages. Asks for nothing, and touches
# nothing when everything is there. Tested on Debian 12.
set -euo pipefail

. /etc/os-release

packages=(g++ make cmake ninja-build ccache pkg-config git python3 python3-pip python3-pytest python3-jinja2
          python3-numpy zstd libdnnl-dev libhwy-dev libcli11-dev libfmt-dev libpcre2-dev libxxhash-dev libssl-dev
          libexpected-dev libutf8proc-dev libgtest-dev libzip-dev librsvg2-bin)
case "${ID:-} ${VERSION_ID:-}" in
  "debian 12")
    packages+=(libboost1.81-dev libboost-json1.81-dev) ;;  # the unversioned packages are 1.74, without JSON
  "debian 13" | "ubuntu 24.04")
    # Debian 13 builds and passes the demo. Ubuntu's names (main and universe) and Boost are the same; not run there.
    packages+=(libboost1.83-dev libboost-json1.83-dev) ;;
  *)
    [ -n "${LOOSELEAF_SKIP_SETUP:-}" ] && exit 0
    echo "setup: knows Debian 12 and 13 and Ubuntu 24.04, not '${PRETTY_NAME:-this system}'; install the equivalents of:" \
         "${packages[*]} Boost >= 1.81 with JSON, then set LOOSELEAF_SKIP_SETUP=1" >&2
    exit 1 ;;
esac
# libFuzzer and a clang that compiles the standard library's ranges; Debian 13 and Ubuntu 24.04 name them the same.
[ -n "${LOOSELEAF_SETUP_CLANG:-}" ] && packages+=(clang-19 libclang-rt-19-dev llvm-19)
# The notebook of examples/notebooks, which the tests run: 70 packages that nothing else needs. python3-munkres is for
# apt's sake: of what fonttools accepts it would take SciPy first, which asks for another Boost than ours.
[ -n "${LOOSELEAF_SETUP_NOTEBOOK:-}" ] && packages+=(python3-nbclient python3-nbformat python3-ipykernel python3-matplotlib
                                                     python3-munkres)
[ -n "${LOOSELEAF_SKIP_SETUP:-}" ] && exit 0

missing=()
for package in "${packages[@]}"; do
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "setup: run as root: apt-get install ${missing[*]}" >&2; exit 1; }
  as_root=(sudo)
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
echo "setup: installing ${#missing[@]} packages: ${missing[*]}" >&2
quietly() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive "$@" >"$log" 2>&1 </dev/null && return
  cat "$log" >&2
  echo "setup: '$*' failed; its output is above" >&2
  exit 1
}
[ ${#as_root[@]} -eq 0 ] || sudo -v  # a password, if one is needed, is asked for before output is held back
quietly apt-get -q update
quietly apt-get -q install -y --no-install-recommends "${missing[@]}"
