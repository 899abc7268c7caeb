"""Sums up the output of go test -json: a line a package, what failed in full, and the counts.

usage: summary.py FILE      exit 1 when anything failed, or when nothing was tested
"""
import collections, json, sys

output = collections.defaultdict(list)  # (package, test or None) -> lines
ended = {}
for line in open(sys.argv[1], encoding="utf-8", errors="replace"):
    try:
        event = json.loads(line)
    except ValueError:
        print(line, end="")
        continue
    key = (event.get("Package") or event.get("ImportPath"), event.get("Test"))
    if event["Action"] in ("output", "build-output"):
        output[key].append(event["Output"])
    elif event["Action"] in ("pass", "fail", "skip", "build-fail"):
        ended[key] = event["Action"].removeprefix("build-")
        if event["Action"] != "build-fail" and not event.get("Test"):
            print(f"{event['Action']:4} {event['Package']} {event.get('Elapsed', 0)}s")

started = {(package, test) for package, test in output if test}
for key in sorted(started - set(ended), key=str):
    ended[key] = "fail"  # a panic or a time-out took it away
tests = collections.Counter(how for (_, test), how in ended.items() if test)
packages = collections.Counter(how for (_, test), how in ended.items() if not test)
for (package, test), how in sorted(ended.items(), key=str):
    if how == "fail":
        print(f"\n--- {package} {test or ''}")
        print("".join(output[package, test]), end="")
    elif how == "skip" and test:
        print(f"skipped: {package} {test}")
print(f"\n{tests['pass']} tests passed, {tests['fail']} failed, {tests['skip']} skipped; {packages['pass']} packages passed, {packages['fail']} failed, {packages['skip']} without tests")
sys.exit(1 if tests["fail"] or packages["fail"] or not tests["pass"] else 0)
