#!/usr/bin/env bash
# Programs that tests and pages need and pip cannot bring: installed where that is ours to do.
set -euo pipefail

# program or R package that must be there, and the Debian package that has it
needed=(
  "Rscript r-base-core"
  "R:ncdf4 r-cran-ncdf4"
  "R:reticulate r-cran-reticulate"
  "chromium chromium"
  "wrk wrk"
)

there() {
  case "$1" in
    R:*) Rscript -e "quit(status = !requireNamespace('${1#R:}', quietly = TRUE))" >/dev/null 2>&1 ;;
    *) command -v "$1" >/dev/null ;;
  esac
}

missing=()
for pair in "${needed[@]}"; do
  read -r what package <<<"$pair"
  there "$what" || missing+=("$package")
done
[ "${#missing[@]}" -eq 0 ] && exit 0

if command -v apt-get >/dev/null && [ "$(id -u)" -eq 0 ]; then
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq
  apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
else
  echo "missing: ${missing[*]} (Debian and Ubuntu: sudo apt-get install ${missing[*]})" >&2
  exit 1
fi
