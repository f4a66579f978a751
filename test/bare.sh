#!/usr/bin/env bash
# Runs tests as on a machine with Node and npm alone: the path has what every Debian has, ONLY_PATH hides what is found
# elsewhere. `npm run test:bare -- FILE ...`; without files, a few that want each kind of program: they must pass, and
# the line that installs what was missing must be said in the end.
set -euo pipefail
wanted=()
if [ $# = 0 ]; then
  set -- test/store/leads/lead.test.ts test/store/copy/copy.test.ts test/jobs/reports/hostile-files.test.ts test/look/measure.test.ts
  wanted=(chromium postgresql sqlite3)
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/bin"
dpkg-query -W -f '${Essential} ${Package}\n' | sed -n 's/^yes //p' | xargs dpkg -L | grep -E '^(/usr)?/s?bin/.' |
  xargs ln -sf -t "$folder/bin" "$(command -v npm)" "$(command -v npx)"
env -u CI ONLY_PATH=1 PATH="$PWD/node_modules/.bin:$folder/bin" vitest run "$@" | tee "$folder/log"
for missing in "${wanted[@]}"; do
  if ! grep -q "^  apt-get install .*$missing" "$folder/log"; then echo "FAILED: the summary lacks $missing" >&2; exit 1; fi
done
