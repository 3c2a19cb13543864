#!/bin/bash
# Prints the tests that failed in the last run of each module, with what they logged. The console of the build does not show that.
# Usage: src/build/failures.sh [lines of log for each class, 60 by default]
cd "$(dirname "$0")/../.."
lines=${1:-60}
find . -path '*/target/*' -name 'TEST-*.xml' | sort | while read -r report; do
  grep -qE '^ *<(failure|error)' "$report" || continue
  class=$(basename "$report" .xml)
  class=${class#TEST-}
  echo "== $class ($(dirname "$report"))"
  grep -B1 -A6 -E '^ *<(failure|error)' "$report" | cut -c1-400
  log=$(dirname "$report")/$class-output.txt
  [ ! -s "$log" ] || { echo "-- The end of $log:"; tail -n "$lines" "$log"; }
done
