# Deletes the branches that are merged. Both calls are written out in full, so
# the script is held before anything has run, and a person is asked about both
# at once. After the answers the same script runs.
set -e
tools tracker delete-branch branch=fix-typo
tools tracker delete-branch branch=pg-driver
tools tracker list-branches | jq -r '.branches[].name'
