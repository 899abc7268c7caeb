# Triage: label what has no label yet, ask about what is old, print a table.
# Every call is a read or a plain change, so the script runs straight through.
set -euo pipefail

label_for() {
  case $1 in
    *crash*|*500*|*Flaky*) echo bug ;;
    *Slow*|*Upgrade*) echo chore ;;
    *) echo feature ;;
  esac
}

tools tracker list-issues state=open \
  | jq -c '.issues[] | {number, title, age_days, labels, comments}' \
  | while read -r issue; do
      number=$(jq .number <<< "$issue")
      if jq -e '.labels == []' <<< "$issue" > /dev/null; then
        label=$(label_for "$(jq -r .title <<< "$issue")")
        tools tracker add-label "number=$number" "label=$label" > /dev/null
      fi
      if jq -e '.age_days > 30 and .comments == 0' <<< "$issue" > /dev/null; then
        tools tracker create-comment "number=$number" --body "Nobody has looked at this for a month. Still wanted?" > /dev/null
      fi
    done

printf '%-4s %-8s %4s %8s  %s\n' '#' LABEL DAYS COMMENTS TITLE
tools tracker list-issues state=open \
  | jq -r '.issues | sort_by(.labels[0], .number)[] | [.number, .labels[0], .age_days, .comments, .title] | @tsv' \
  | while IFS=$'\t' read -r number label days comments title; do
      printf '%-4s %-8s %4s %8s  %s\n' "$number" "$label" "$days" "$comments" "$title"
    done

merged=$(tools tracker list-branches | jq -r '[.branches[] | select(.merged) | .name] | join(", ")')
echo "merged branches: $merged"
