#!/usr/bin/env bash
# What needs a look this week: pull requests, issues and errors, noted and told.
set -euo pipefail
export LC_ALL=C
owner=acme
repo=api

tools github list-pull-requests '{"owner":"acme","repo":"api","state":"open"}' > pulls.json
tools github list-issues '{"owner":"acme","repo":"api","state":"open","labels":["bug"]}' > issues.json
tools sentry find-projects '{"organizationSlug":"acme"}' > projects.json

old=$(jq '[.[] | select(.created_at < "2026-01-01")] | length' pulls.json)
if [ "$old" -gt 3 ]; then
  tools slack slack-post-message channel_id=C024BE91L text="There are old pull requests"
fi

jq -r '.[].number' pulls.json | while read -r n; do
  tools github get-pull-request-status owner="$owner" repo="$repo" pull_number="$n" |
    jq -r --arg n "$n" '"\($n) \(.state)"'
done | sort > states.txt

grep -c failure states.txt || echo "none failed"
tools github search-code '{"q":"TODO repo:acme/api"}' | jq '.total_count'
tools memory create-entities '{"entities":[{"name":"acme/api","entityType":"repo","observations":["reviewed"]}]}'
tools memory search-nodes query=acme/api | jq -r '.entities[0].name'

for f in pulls.json issues.json; do
  wc -c < "$f"
done
tools shortcut stories-search '{"name":"flaky"}' | head -5
tools filesystem read-text-file path=/srv/notes.txt
