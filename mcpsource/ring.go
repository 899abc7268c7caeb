package mcpsource

import (
	"strings"
	"sync"
)

// ring keeps the last of what a server wrote on stderr.
type ring struct {
	mu  sync.Mutex
	buf []byte
}

const ringSize = 64 << 10

func (r *ring) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.buf = append(r.buf, p...)
	if over := len(r.buf) - ringSize; over > 0 {
		r.buf = append(r.buf[:0], r.buf[over:]...)
	}
	return len(p), nil
}

func (r *ring) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.ToValidUTF8(string(r.buf), "\uFFFD")
}

func (r *ring) lastLine() string {
	lines := strings.Split(strings.TrimSpace(r.String()), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
