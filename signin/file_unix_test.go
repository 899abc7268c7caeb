//go:build unix

package signin_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAFileThatOthersCanReadIsNotUsed(t *testing.T) {
	_, dir, st, s := signedIn(t)
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	require.NoError(t, err)
	require.NoError(t, os.Chmod(files[0], 0o640))
	_, err = st.Source(s).Token(t.Context())
	require.ErrorContains(t, err, "can be read by others; run: chmod 600 "+files[0])
}
