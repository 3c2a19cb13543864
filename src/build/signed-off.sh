#!/bin/bash
# Fails if a commit of a range, such as main..HEAD, has no sign-off of its author, and prints these commits.
# Merges and commits of bots need none.
set -euo pipefail
commits=$(git rev-list --no-merges "$1")
missing=0
for commit in $commits; do
  author=$(git show -s --format='%an <%ae>' "$commit")
  if [[ $author != *'[bot] <'* ]] &&
    ! git show -s --format='%(trailers:key=Signed-off-by,valueonly)' "$commit" | grep -qxF "$author"; then
    echo "$(git show -s --format='%h %s' "$commit"): lacks the line Signed-off-by: $author"
    missing=$((missing + 1))
  fi
done
[ "$missing" -eq 0 ] || { echo "Sign off with: git rebase --signoff ${1%%..*}" && exit 1; }
