#!/usr/bin/env bash
# Runs tests as on a machine with Node and npm alone: the path has what every Debian has, ONLY_PATH hides what is found
# elsewhere. `bash test/bare.sh FILE ...`; without files, each file that skips something where a program is missing;
# with `all`, the whole of `npm test`. Both must pass, and say in the end the line that installs what was missing.
set -euo pipefail
wanted=()
run=(vitest run --project sqlite)
if [ $# = 0 ] || [ "$1" = all ]; then wanted=(chromium postgresql sqlite3); fi
if [ "${1:-}" = all ]; then
  run=(npm test)
elif [ $# = 0 ]; then
  mapfile -t files < <(grep -rlE '(skip|run)If\(|skip: !' test --include='*.test.ts' --exclude-dir=node_modules)
  run+=("${files[@]}")
else
  run=(vitest run "$@")
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/bin"
dpkg-query -W -f '${Essential} ${Package}\n' | sed -n 's/^yes //p' | xargs dpkg -L | grep -E '^(/usr)?/s?bin/.' |
  xargs ln -sf -t "$folder/bin" "$(command -v npm)" "$(command -v npx)"
env -u CI ONLY_PATH=1 PATH="$PWD/node_modules/.bin:$folder/bin" "${run[@]}" | tee "$folder/log"
for missing in "${wanted[@]}"; do
  if ! grep -q "^  apt-get install .*$missing" "$folder/log"; then echo "FAILED: the summary lacks $missing" >&2; exit 1; fi
done
