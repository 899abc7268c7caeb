package mcpsource

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestSecretsAreTakenOut(t *testing.T) {
	s := newSecrets(ServerConfig{
		Env:     map[string]string{"GITHUB_TOKEN": "abc", "LEVEL": "info", "MODE": "a longer value", "PART": "longer value"},
		Headers: map[string]string{"Authorization": "Bearer tok-en", "X-Api-Key": "k3y"},
		Args:    []string{"-y", "package", "--token", "first-one", "--password=second-one", "--header", "Authorization: Bearer third-one", "src/auth.go"},
		URL:     "https://me:pass-word@host/mcp?key=fourth%2Fone",
	})
	for _, secret := range []string{"abc", "a longer value", "longer value", "Bearer tok-en", "tok-en", "k3y", "first-one", "second-one", "third-one", "pass-word", "fourth/one", "fourth%2Fone"} {
		assert.Equal(t, "<***>", s.redact("<"+secret+">"), secret)
	}
	for _, word := range []string{"info", "package", "Bearer", "src/auth.go", "--token", "-y"} {
		assert.Equal(t, word, s.redact(word))
	}
}

func TestTheRingKeepsTheEnd(t *testing.T) {
	var r ring
	assert.Empty(t, r.String())
	assert.Empty(t, r.lastLine())
	r.Write([]byte("one\ntwo\n\n"))
	assert.Equal(t, "one\ntwo\n\n", r.String())
	assert.Equal(t, "two", r.lastLine())
	r.mark()
	assert.Empty(t, r.lastLine(), "what an earlier start said is old")
	line := strings.Repeat("x", 999) + "\n"
	for range 200 {
		r.Write([]byte(line))
	}
	r.Write([]byte("last"))
	assert.LessOrEqual(t, len(r.String()), ringSize)
	assert.True(t, strings.HasPrefix(r.String(), "x"), "it begins with a whole line")
	assert.Zero(t, (len(r.String())-4)%1000)
	assert.Equal(t, "last", r.lastLine())
	r.Write([]byte(strings.Repeat("y", 3*ringSize)))
	assert.LessOrEqual(t, len(r.buf), ringSize)
}

func TestTheEmptyCursorIsSent(t *testing.T) {
	for _, tc := range []struct{ params, want string }{
		{``, `{"cursor":""}`},
		{`null`, `{"cursor":""}`},
		{`{}`, `{"cursor":""}`},
		{` { } `, `{"cursor":""}`},
		{`{"_meta":{"a":1.10}}`, `{"cursor":"","_meta":{"a":1.10}}`},
	} {
		assert.Equal(t, tc.want, string(withEmptyCursor([]byte(tc.params))))
	}
}

func TestClip(t *testing.T) {
	assert.Equal(t, "abc", clip("abc", 3))
	assert.Equal(t, "abc...", clip("abcd", 3))
	assert.Equal(t, "a...", clip("a☃b", 3), "no half characters")
}
