package catalog

import (
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// An exponent is reckoned with as big integers would have it.
func TestShiftedExponents(t *testing.T) {
	digits := rapid.OneOf(rapid.StringMatching(`[0-9]{0,60}`), rapid.StringMatching(`0{0,3}10{16,40}`), rapid.StringMatching(`9{17,40}`))
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.SampledFrom([]string{"", "+", "-"}).Draw(rt, "sign") + digits.Draw(rt, "digits")
		by := rapid.OneOf(rapid.Int64Range(-3, 3), rapid.Int64Range(-1e9, 1e9)).Draw(rt, "by")
		want := new(big.Int)
		want.SetString("0"+strings.TrimLeft(text, "+-"), 10)
		if strings.HasPrefix(text, "-") {
			want.Neg(want)
		}
		want.Add(want, big.NewInt(by))
		require.Equal(rt, want.String(), shifted(text, by))
	})
}

func TestALongExponentTakesNoTime(t *testing.T) {
	for _, n := range []string{"1e" + strings.Repeat("9", 4_000_000), "1e-1" + strings.Repeat("0", 4_000_000), "0." + strings.Repeat("0", 4_000_000) + "1e4000001"} {
		begun := time.Now()
		_, err := Canonical([]byte(`{"n":` + n + `}`))
		require.NoError(t, err)
		require.Less(t, time.Since(begun), 5*time.Second)
	}
}
