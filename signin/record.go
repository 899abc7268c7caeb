package signin

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// record is one sign-in, as its file holds it.
type record struct {
	URL        string    `json:"url"` // the server's, to the letter
	Issuer     string    `json:"issuer"`
	Resource   string    `json:"resource"`
	Token      string    `json:"token_endpoint"`
	Revocation string    `json:"revocation_endpoint,omitempty"`
	Client     identity  `json:"client"`
	Configured bool      `json:"configured,omitempty"` // the client is the config's
	Access     string    `json:"access_token,omitempty"`
	Refresh    string    `json:"refresh_token,omitempty"`
	Scopes     []string  `json:"scopes,omitempty"`
	Wanted     []string  `json:"wanted,omitempty"` // scopes that the server missed
	Since      time.Time `json:"since"`
	RefreshAt  time.Time `json:"refresh_at,omitzero"`
	Expires    time.Time `json:"expires_at,omitzero"` // zero: not known
	Ended      string    `json:"ended,omitempty"`     // why it is over
}

// take puts new tokens into a record.
func (r *record) take(t *tokens, now time.Time) {
	r.Access, r.RefreshAt, r.Expires, r.Ended = t.access, time.Time{}, time.Time{}, ""
	if t.lifetime > 0 {
		r.Expires = now.Add(t.lifetime)
		r.RefreshAt = r.Expires.Add(-min(time.Minute, t.lifetime/4))
	}
	if t.refresh != "" {
		r.Refresh = t.refresh
	}
	if t.scopes != nil {
		r.Scopes = t.scopes
	}
}

func (r *record) expired(now time.Time) bool { return !r.Expires.IsZero() && !now.Before(r.Expires) }
func (r *record) due(now time.Time) bool     { return !r.RefreshAt.IsZero() && !now.Before(r.RefreshAt) }

// of reports whether the record is of this very server and client.
func (r *record) of(s Server) bool {
	return r.URL == s.URL && (s.Client.ID == "" && !r.Configured || s.Client.ID != "" && r.Configured && r.Client.ID == s.Client.ID)
}

// client is the record's, with the secret of the config.
func (r *record) client(s Server) identity {
	id := r.Client
	if r.Configured {
		id.Secret = s.Client.Secret
	}
	return id
}

// Store is the folder of the sign-ins. It is safe for concurrent use, also by
// several processes.
type Store struct{ dir string }

// NewStore is the store in a folder, which is made when it is first needed.
func NewStore(dir string) *Store { return &Store{dir} }

// file is where a server's sign-in is kept.
func (st *Store) file(url string) string {
	sum := sha256.Sum256([]byte(url))
	return filepath.Join(st.dir, hex.EncodeToString(sum[:12])+".json")
}

// maxRecord is the size of the largest record, in bytes.
const maxRecord = 256 << 10

// read is the record of a URL, nil when there is none.
func (st *Store) read(url string) (*record, error) {
	path := st.file(url)
	fi, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("the sign-in's file: %w", err)
	case exposed(fi):
		return nil, fmt.Errorf("the sign-in's file %s can be read by others; run: chmod 600 %s", path, path)
	case !fi.Mode().IsRegular() || fi.Size() > maxRecord:
		return nil, fmt.Errorf("the sign-in's file %s is not one that tis wrote; remove it and sign in again", path)
	}
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("the sign-in's file: %w", err)
	}
	var r record
	if json.Unmarshal(raw, &r) != nil || r.URL != url {
		return nil, fmt.Errorf("the sign-in's file %s is damaged; remove it and sign in again", path)
	}
	return &r, nil
}

// write replaces the record of its URL, whole or not at all.
func (st *Store) write(r *record) error {
	raw, err := json.Marshal(r)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(st.dir, ".signin-*") // 0600
	if err != nil {
		return fmt.Errorf("keeping the sign-in: %w", err)
	}
	_, err = f.Write(raw)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), st.file(r.URL))
	}
	if err != nil {
		os.Remove(f.Name())
		return fmt.Errorf("keeping the sign-in: %w", err)
	}
	return nil
}

// remove forgets the record of a URL.
func (st *Store) remove(url string) error {
	if err := os.Remove(st.file(url)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing the sign-in: %w", err)
	}
	return nil
}

// lock keeps the record of a URL for one at a time, in this process and in
// others, until unlock. It waits as long as ctx.
func (st *Store) lock(ctx context.Context, url string) (unlock func(), err error) {
	if err := os.MkdirAll(st.dir, 0o700); err != nil {
		return nil, fmt.Errorf("the folder of the sign-ins: %w", err)
	}
	f, err := os.OpenFile(st.file(url)+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("the sign-in's lock: %w", err)
	}
	for {
		held, err := tryLock(f)
		if held {
			return func() { f.Close() }, nil
		}
		if err != nil {
			f.Close()
			return nil, fmt.Errorf("the sign-in's lock: %w", err)
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, context.Cause(ctx)
		case <-time.After(10 * time.Millisecond):
		}
	}
}
