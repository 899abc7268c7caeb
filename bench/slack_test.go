//go:build !race

package main

// slack is how many times the kept allocations a step may make.
const slack = 1.1
