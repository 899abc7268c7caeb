//go:build !unix

package runner

// release does nothing: there are no named pipes.
func (*run) release() {}
