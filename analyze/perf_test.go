package analyze

import (
	"strings"
	"testing"
	"time"
)

func TestPerfTmp(t *testing.T) {
	for name, unit := range map[string]string{"calls": "tools g l a=b\n", "eval": "eval 'tools g l; x'\n", "braces": "tools g l {a,b}{a,b}{a,b}{a,b}{a,b}{a,b}\n",  "seq": "tools {1..9999999} \n", "bad": "eval 'tools ('\n", "bracew": "tools {a,b}{a,b}{a,b}{a,b}"+strings.Repeat("x",100000)+"\n"} {
		for _, n := range []int{1 << 20, 4 << 20} {
			text := strings.Repeat(unit, n/len(unit))
			a := time.Now()
			s, err := Parse(text, "")
			b := time.Since(a)
			if err == nil {
				s.findings()
			}
			t.Log(name, n, b, time.Since(a), err)
		}
	}
}
