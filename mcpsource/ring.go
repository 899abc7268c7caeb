package mcpsource

import (
	"strings"
	"sync"
)

// ring keeps the last of what a server wrote on stderr.
type ring struct {
	mu    sync.Mutex
	buf   []byte
	fresh int // bytes at the end of buf that came since mark
}

const ringSize = 64 << 10

func (r *ring) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := len(p)
	if len(p) > ringSize {
		p = p[len(p)-ringSize:]
	}
	r.buf = append(r.buf, p...)
	if over := len(r.buf) - ringSize; over > 0 {
		r.buf = append(r.buf[:0], r.buf[over:]...)
	}
	r.fresh = min(r.fresh+len(p), len(r.buf))
	return n, nil
}

// mark forgets, for lastLine, what was written so far.
func (r *ring) mark() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fresh = 0
}

// String is all that is kept, from the start of a line.
func (r *ring) String() string {
	r.mu.Lock()
	text := string(r.buf)
	r.mu.Unlock()
	if len(text) == ringSize {
		text = text[strings.IndexByte(text, '\n')+1:]
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// lastLine is the last line since mark that has anything on it.
func (r *ring) lastLine() string {
	r.mu.Lock()
	text := strings.ToValidUTF8(string(r.buf[len(r.buf)-r.fresh:]), "\uFFFD")
	r.mu.Unlock()
	text = strings.TrimSpace(text)
	return strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
}
