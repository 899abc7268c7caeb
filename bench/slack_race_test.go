//go:build race

package main

// slack is how many times the kept allocations a step may make: pools give
// less back under the race detector.
const slack = 1.5
