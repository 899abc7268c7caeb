package analyze

import (
	"errors"
	"io"
	"runtime"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// The parser, the interpreter and everything that walks a tree recurse as deep
// as the script is nested, and a Go stack that runs out takes the whole process
// with it. Two bounds keep them far from that: one on the parser's own
// recursion while it reads, one on the depth of the tree it returns, which
// is larger for what the parser reads in a loop (a && b && c ...).
const (
	maxFrames = 30_000 // calls on the parser's stack: over 1,000 levels of any construct
	maxDepth  = 10_000 // nodes from the root to a leaf of the tree
	maxBraces = 1_000  // unquoted braces in one word, each a level of brace expansion
	readEvery = 8 << 10
)

var errNesting = errors.New("the script is nested too deeply")

// CheckNesting reports whether text can be parsed and run without exhausting
// the stack, whatever its quotes, comments and unfinished constructs. It says
// nothing about syntax errors. Its time is linear in the text. The runner
// checks every text with it that a script hands to eval, trap or source.
func CheckNesting(text string) error {
	if len(text) > MaxSize {
		return errors.New("the text is larger than 4 MiB")
	}
	if len(text) < maxBraces { // each level takes at least one byte
		return nil
	}
	file, err := newParser().Parse(guard(text), "")
	if errors.Is(err, errNesting) {
		return err
	}
	if err == nil {
		if _, ok := tooDeep(text, file); ok {
			return errNesting
		}
	}
	return nil
}

// guardReader hands text to the parser in small pieces and stops as soon as
// the stack of the reading goroutine has grown by more than maxFrames calls.
// Between two looks the parser sees at most readEvery bytes, so it
// cannot get much deeper.
type guardReader struct {
	text   string
	offset int
	next   int // offset at which to look again
	base   int // calls on the stack at the first read
	pcs    [1]uintptr
}

func (g *guardReader) Read(p []byte) (int, error) {
	if g.offset >= g.next {
		if g.offset == 0 {
			if len(g.text) > readEvery {
				g.base = stackCalls()
			}
		} else if runtime.Callers(g.base+maxFrames, g.pcs[:]) > 0 {
			return 0, errNesting
		}
		g.next = g.offset + readEvery
	}
	if g.offset == len(g.text) {
		return 0, io.EOF
	}
	n := copy(p, g.text[g.offset:])
	g.offset += n
	return n, nil
}

// stackCalls counts the calls on the caller's stack, roughly.
func stackCalls() int {
	pcs := make([]uintptr, 256)
	n := 0
	for {
		m := runtime.Callers(n, pcs)
		n += m
		if m < len(pcs) {
			return n
		}
	}
}

// tooDeep looks for the first node that lies too deep in the tree of text. It
// never goes deeper itself.
func tooDeep(text string, file *syntax.File) (at syntax.Pos, found bool) {
	// No construct makes four nodes of each of its bytes.
	if len(text) < maxDepth/4 && strings.Count(text, "{") <= maxBraces {
		return at, false
	}
	depth := 0
	syntax.Walk(file, func(n syntax.Node) bool {
		if n == nil {
			depth--
			return false
		}
		if found {
			return false
		}
		if depth >= maxDepth || tooManyBraces(n) {
			at, found = n.Pos(), true
			return false
		}
		depth++
		return true
	})
	return at, found
}

// tooManyBraces looks at a word; braces in quotes stand in nodes of their own.
func tooManyBraces(n syntax.Node) bool {
	call, ok := n.(*syntax.CallExpr)
	if !ok {
		if iter, ok := n.(*syntax.WordIter); ok {
			return bracesIn(iter.Items)
		}
		return false
	}
	return bracesIn(call.Args)
}

func bracesIn(words []*syntax.Word) bool {
	for _, w := range words {
		n := 0
		for _, part := range w.Parts {
			if lit, ok := part.(*syntax.Lit); ok {
				n += strings.Count(lit.Value, "{")
			}
		}
		if n > maxBraces {
			return true
		}
	}
	return false
}
