package report

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"
)

// Capture keeps the head and the tail of a stream, in bounded memory. It is
// safe for concurrent use.
type Capture struct {
	mu    sync.Mutex
	front int // how much of the head is kept
	half  int // how much of the tail
	head  []byte
	tail  []byte // a ring once it is full
	at    int    // where the ring begins
	total int64
	lines int
	last  byte
}

// NewCapture keeps up to limit bytes, two at least.
func NewCapture(limit int) *Capture {
	limit = max(limit, 2)
	return &Capture{front: limit - limit/2, half: limit / 2}
}

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
	if room := c.front - len(c.head); room > 0 {
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
	head := whole(string(c.head))
	for i := 0; i < utf8.UTFMax-1 && tail != "" && !utf8.RuneStart(tail[0]); i++ {
		tail = tail[1:]
	}
	lost := c.total - int64(len(head)+len(tail))
	head, tail = strings.ToValidUTF8(head, "\uFFFD"), strings.ToValidUTF8(tail, "\uFFFD")
	if !strings.HasSuffix(head, "\n") {
		head += "\n"
	}
	return head + fmt.Sprintf("[... %d bytes are missing here ...]\n", lost) + tail
}

// whole is s without the beginning of a character at its end.
func whole(s string) string {
	for i := len(s) - 1; i >= 0 && i >= len(s)-utf8.UTFMax; i-- {
		if utf8.RuneStart(s[i]) {
			if !utf8.FullRuneInString(s[i:]) {
				return s[:i]
			}
			break
		}
	}
	return s
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
