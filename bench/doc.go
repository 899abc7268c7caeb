// Package main measures tis. Its benchmarks take every step of a run apart:
//
//	go test -run '^$' -bench . ./bench
//
// The program itself runs tis and its peers in turn on the same scripts and
// prints one table of ratios; it installs what it needs from Debian and npm
// into a folder of its own:
//
//	go run ./bench
//
// docs/performance.md holds the last table and says how it was made. guard.json
// holds the counts that the guard test compares with. Start reading at
// bench_test.go for the steps and at main.go for the peers.
package main
