package approvals

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/tools-in-shell/tis/catalog"
)

// Fingerprint identifies an exact call: the tool as it is defined now, and the
// input by its meaning, so that spaces, the order of keys and the spelling of a
// number don't matter. The input is one that catalog.Object has passed.
func Fingerprint(call catalog.Call) (string, error) {
	input, err := catalog.Canonical(call.Input)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%d\n", identity(call.Tool), len(input))
	h.Write(input)
	return hex.EncodeToString(h.Sum(nil)), nil
}

// identity is a tool as it is defined now.
func identity(t *catalog.Tool) string { return t.RegistryName() + "@" + t.Digest() }
