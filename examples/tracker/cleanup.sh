# Deletes a merged branch. The call is written out in full, so the script is
# held before anything has run, and starts after the answer.
set -e
tools tracker delete-branch branch=fix-typo
tools tracker list-branches | jq -r '.branches[].name'
