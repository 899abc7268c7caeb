package report

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
)

// Capture keeps the head and the tail of a stream, in bounded memory. It is
// safe for concurrent use.
type Capture struct {
	mu    sync.Mutex
	half  int
	head  []byte
	tail  []byte // a ring once it is full
	at    int    // where the ring begins
	total int64
	lines int
	last  byte
}

// NewCapture keeps about limit bytes.
func NewCapture(limit int) *Capture { return &Capture{half: max(limit/2, 1)} }

// Write never fails.
func (c *Capture) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(p)
	if n == 0 {
		return 0, nil
	}
	c.total += int64(n)
	c.lines += bytes.Count(p, []byte("\n"))
	c.last = p[n-1]
	if room := c.half - len(c.head); room > 0 {
		k := min(room, len(p))
		c.head, p = append(c.head, p[:k]...), p[k:]
	}
	if len(p) > c.half {
		p = p[len(p)-c.half:]
	}
	if room := c.half - len(c.tail); room > 0 {
		k := min(room, len(p))
		c.tail, p = append(c.tail, p[:k]...), p[k:]
	}
	for len(p) > 0 {
		k := copy(c.tail[c.at:], p)
		c.at, p = (c.at+k)%c.half, p[k:]
	}
	return n, nil
}

// missing is how many bytes were dropped.
func (c *Capture) missing() int64 { return c.total - int64(len(c.head)+len(c.tail)) }

// String is what was kept, with a line between head and tail that says how much
// is missing. It is valid UTF-8.
func (c *Capture) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	tail := string(c.tail[c.at:]) + string(c.tail[:c.at])
	if c.missing() == 0 {
		return strings.ToValidUTF8(string(c.head)+tail, "\uFFFD")
	}
	head := strings.ToValidUTF8(string(c.head), "")
	if !strings.HasSuffix(head, "\n") {
		head += "\n"
	}
	return head + fmt.Sprintf("[... %d bytes are missing here ...]\n", c.missing()) + strings.ToValidUTF8(tail, "")
}

// Truncated reports whether anything was dropped.
func (c *Capture) Truncated() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.missing() > 0
}

// Lines is how many lines the whole stream had; a last one without an end counts.
func (c *Capture) Lines() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.total > 0 && c.last != '\n' {
		return c.lines + 1
	}
	return c.lines
}
