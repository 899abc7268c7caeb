# Triage: label what has no label yet, comment on what is old, print a table.
set -euo pipefail

label_for() {
  case $1 in
    *crash*|*500*|*Flaky*) echo bug ;;
    *Typo*) echo chore ;;
    *) echo feature ;;
  esac
}

tools tracker list-issues state=open \
  | jq -c '.issues[] | select(.label == "")' \
  | while read -r issue; do
      number=$(jq .number <<< "$issue")
      title=$(jq -r .title <<< "$issue")
      label=$(label_for "$title")
      tools tracker add-label "number=$number" "label=$label" > /dev/null
      if (( $(jq .age_days <<< "$issue") > 30 )); then
        tools tracker create-comment "number=$number" --body "Still wanted? It is ${label} work and older than a month." > /dev/null
      fi
    done

tools tracker list-issues state=open | jq -r '.issues[] | "#\(.number)\t\(.label)\t\(.age_days)d\t\(.title)"'
echo "$(tools tracker list-branches | jq '[.branches[] | select(.merged)] | length') merged branch can be deleted"
