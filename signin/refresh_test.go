package signin_test

import (
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tools-in-shell/tis/signin"
	"github.com/tools-in-shell/tis/signin/signintest"
)

// signedIn is a world that has been signed in to.
func signedIn(t *testing.T) (*signintest.World, string, *signin.Store, signin.Server) {
	t.Helper()
	w, _, s := world(t)
	dir, st := storeIn(t)
	mustLogin(t, st, s)
	return w, dir, st, s
}

func ago(d time.Duration) string { return time.Now().Add(-d).Format(time.RFC3339Nano) }

func TestATokenIsRefreshedBeforeItsEnd(t *testing.T) {
	w, dir, st, s := signedIn(t)
	first, err := st.Source(s).Token(t.Context())
	require.NoError(t, err)
	again, err := st.Source(s).Token(t.Context())
	require.NoError(t, err)
	assert.Equal(t, first, again)
	assert.Equal(t, 1, w.Count("/token"), "a token is used as long as it is good")
	change(t, dir, func(r map[string]any) { r["refresh_at"] = ago(time.Second) })
	second, err := st.Source(s).Token(t.Context())
	require.NoError(t, err)
	assert.NotEqual(t, first, second)
	assert.True(t, accepted(t, w, second))
	assert.Equal(t, 2, w.Count("/token"))
}

func TestAFailureThatMayPassLeavesAGoodTokenInUse(t *testing.T) {
	w, dir, st, s := signedIn(t)
	first, err := st.Source(s).Token(t.Context())
	require.NoError(t, err)
	w.Change(func(w *signintest.World) { w.TokenStatus = 503 })
	change(t, dir, func(r map[string]any) { r["refresh_at"] = ago(time.Second) })
	token, err := st.Source(s).Token(t.Context())
	require.NoError(t, err)
	assert.Equal(t, first, token)

	change(t, dir, func(r map[string]any) { r["expires_at"] = ago(time.Second) })
	_, err = st.Source(s).Token(t.Context())
	require.ErrorContains(t, err, "503")
	require.NotErrorIs(t, err, signin.ErrSignIn, "it may go well the next time")
	w.Change(func(w *signintest.World) { w.TokenStatus = 0 })
	_, err = st.Source(s).Token(t.Context())
	require.NoError(t, err)
}

func TestARefreshTokenThatIsOver(t *testing.T) {
	w, _, st, s := signedIn(t)
	token, err := st.Source(s).Token(t.Context())
	require.NoError(t, err)
	w.RevokeAll()
	_, err = st.Source(s).Renew(t.Context(), token)
	require.ErrorIs(t, err, signin.ErrSignIn)
	assert.NotContains(t, err.Error(), "secret")
	state, err := st.State(s)
	require.NoError(t, err)
	assert.False(t, state.In)
	assert.Contains(t, state.Ended, "invalid_grant")
	assert.NotContains(t, state.Ended, "secret", "what the server repeats of the token is not shown")
	token, err = st.Source(s).Token(t.Context())
	require.NoError(t, err)
	assert.Empty(t, token, "a token that is over is not sent")
	asked := w.Count("/token")
	_, err = st.Source(s).Renew(t.Context(), "x")
	require.ErrorIs(t, err, signin.ErrSignIn)
	assert.Equal(t, asked, w.Count("/token"), "nor asked for again")
	mustLogin(t, st, s)
}

func TestATokenWithoutARefreshToken(t *testing.T) {
	w, _, s := world(t)
	dir, st := storeIn(t)
	w.Change(func(w *signintest.World) { w.NoRefresh = true })
	mustLogin(t, st, s)
	_, err := st.Source(s).Token(t.Context())
	require.NoError(t, err)
	change(t, dir, func(r map[string]any) { r["expires_at"], r["refresh_at"] = ago(time.Second), ago(time.Minute) })
	state, err := st.State(s)
	require.NoError(t, err)
	assert.Equal(t, "the token has expired", state.Ended)
	_, err = st.Source(s).Token(t.Context())
	require.ErrorIs(t, err, signin.ErrSignIn)
}

// A refresh token that is used twice is taken for stolen by the server, and
// everything is revoked.
func TestManyRefreshAtOnceAndOneDoes(t *testing.T) {
	w, dir, st, s := signedIn(t)
	old, err := st.Source(s).Token(t.Context())
	require.NoError(t, err)
	w.RevokeAccess()
	var wg sync.WaitGroup
	got := make([]string, 20)
	for i := range got {
		wg.Go(func() {
			own := signin.NewStore(dir) // as another process would have
			token, err := own.Source(s).Renew(t.Context(), old)
			if assert.NoError(t, err) {
				got[i] = token
			}
		})
	}
	wg.Wait()
	for _, token := range got {
		assert.Equal(t, got[0], token)
	}
	assert.True(t, accepted(t, w, got[0]))
	assert.Equal(t, 2, w.Count("/token"))
	assert.Empty(t, w.Wrong())
}

func TestASignInIsOfOneURL(t *testing.T) {
	_, dir, st, s := signedIn(t)
	other := s
	other.URL += "/"
	token, err := st.Source(other).Token(t.Context())
	require.NoError(t, err)
	assert.Empty(t, token)

	// A file that was put in another one's place.
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	require.NoError(t, err)
	change(t, dir, func(r map[string]any) { r["url"] = other.URL })
	_, err = st.Source(s).Token(t.Context())
	require.ErrorContains(t, err, files[0]+" is damaged")
	found, err := st.Logout(t.Context(), s)
	require.NoError(t, err)
	assert.True(t, found)
	state, err := st.State(s)
	require.NoError(t, err)
	assert.Equal(t, signin.State{}, state)
}

func TestMissingRightsAreAskedForNextTime(t *testing.T) {
	w, _, st, s := signedIn(t)
	require.NoError(t, st.Source(s).Miss(t.Context(), []string{"write"}))
	mustLogin(t, st, s)
	w.Change(func(w *signintest.World) { w.Scope = "read write" })
	token, err := st.Source(s).Token(t.Context())
	require.NoError(t, err)
	assert.True(t, accepted(t, w, token))
}

func TestLogoutWhenTheServerCannotBeTold(t *testing.T) {
	w, dir, st, s := signedIn(t)
	w.Auth.Close()
	found, err := st.Logout(t.Context(), s)
	assert.True(t, found)
	require.ErrorContains(t, err, "could not be told")
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	require.NoError(t, err)
	assert.Empty(t, files, "here it is over all the same")
}
