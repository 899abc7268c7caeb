package dialect

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"mvdan.cc/sh/v3/syntax"
)

func parse(t *testing.T, text string) *syntax.File {
	t.Helper()
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	require.NoError(t, err)
	return file
}

func TestFindListsEveryDifferenceInSourceOrder(t *testing.T) {
	found := Find(parse(t, "echo ${PIPESTATUS[0]} 3>f\nread -n 1 x <>g; printf -v y a\n"))
	var places []string
	for _, d := range found {
		places = append(places, fmt.Sprintf("%d:%d", d.Node.Pos().Line(), d.Node.Pos().Col()))
	}
	assert.Equal(t, []string{"1:6", "1:23", "2:13", "2:18"}, places)
}

func TestCheckNamesPlaceCodeAndTheOtherWay(t *testing.T) {
	assert.NoError(t, Check(parse(t, "read -r x; printf '%s' a; x=([1]=b); echo \"${x[@]:-}\" \"${x[0]:-d}\"; [[ a =~ \"b\"c.* ]]\n")))
	err := Check(parse(t, "\n  printf -v y a\n"))
	assert.EqualError(t, err, "2:3: TIS002: printf -v is not supported; use x=$(printf ...)")
}
