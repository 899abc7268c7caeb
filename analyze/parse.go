package analyze

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// MaxSize is the size of the largest script, in bytes.
const MaxSize = 4 << 20

// Script is a parsed script. It is safe for concurrent use as long as nobody
// changes File.
type Script struct {
	// File is the syntax tree, comments included.
	File *syntax.File
	// Text is what was parsed.
	Text string

	once  sync.Once
	found *findings
}

// ParseError says why a text is no script, and where.
type ParseError struct {
	Name    string
	Line    int // from 1; 0 when unknown
	Col     int // from 1, in bytes; 0 when unknown
	Message string
}

func (e *ParseError) Error() string {
	var b strings.Builder
	if e.Name != "" {
		b.WriteString(e.Name + ":")
	}
	if e.Line > 0 {
		fmt.Fprintf(&b, "%d:%d:", e.Line, e.Col)
	}
	if b.Len() > 0 {
		b.WriteByte(' ')
	}
	return b.String() + e.Message
}

// Parse parses text as bash. name is used in messages. The error is a
// *ParseError: a syntax error, a text over [MaxSize], or one that is nested
// too deeply (see [CheckNesting]).
func Parse(text, name string) (*Script, error) {
	file, err := parse(newParser(), text, name)
	if err != nil {
		return nil, err
	}
	return &Script{File: file, Text: text}, nil
}

func newParser() *syntax.Parser {
	return syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true))
}

func parse(p *syntax.Parser, text, name string) (*syntax.File, error) {
	if len(text) > MaxSize {
		return nil, &ParseError{Name: name, Message: fmt.Sprintf("the script is larger than %d bytes", MaxSize)}
	}
	file, err := p.Parse(guard(text), name)
	if err != nil {
		return nil, parseError(err, name)
	}
	if pos, ok := tooDeep(text, file); ok {
		return nil, &ParseError{Name: name, Line: int(pos.Line()), Col: int(pos.Col()), Message: errNesting.Error()}
	}
	return file, nil
}

func parseError(err error, name string) *ParseError {
	out := &ParseError{Name: name, Message: err.Error()}
	var pos syntax.Pos
	if e, ok := errors.AsType[syntax.ParseError](err); ok {
		pos, out.Message = e.Pos, e.Text
	} else if e, ok := errors.AsType[syntax.LangError](err); ok {
		pos = e.Pos
		out.Message = strings.TrimPrefix(e.Error(), fmt.Sprintf("%s:%s: ", e.Filename, e.Pos))
		out.Message = strings.TrimPrefix(out.Message, fmt.Sprintf("%s: ", e.Pos))
	}
	out.Line, out.Col = int(pos.Line()), int(pos.Col())
	return out
}

// guard reads text for the parser.
func guard(text string) io.Reader { return &guardReader{text: text} }
