package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The test binary is the client that the protocol's conformance suite starts,
// too: it does with tis what a person and an agent do.
const asClient = "TIS_TEST_AS_CONFORMANCE_CLIENT"

// conformanceClient uses the server at the URL that the suite gives last: it
// calls every tool, signs in when tis says so, and calls again.
func conformanceClient() int {
	url := os.Args[len(os.Args)-1]
	dir, err := os.MkdirTemp("", "tis-conformance-")
	if err != nil {
		return 1
	}
	defer os.RemoveAll(dir)
	server := map[string]any{"url": url}
	var known struct {
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
	}
	if json.Unmarshal([]byte(os.Getenv("MCP_CONFORMANCE_CONTEXT")), &known) == nil && known.ID != "" {
		server["oauth"] = map[string]any{"client_id": known.ID, "client_secret": known.Secret}
	}
	config, err := json.Marshal(map[string]any{
		"mcpServers":   map[string]any{"srv": server},
		"capabilities": []any{map[string]any{"ref": "tool_approval", "config": map[string]any{"mode": "off"}}},
	})
	if err != nil || os.WriteFile(filepath.Join(dir, "tis.json"), config, 0o600) != nil {
		return 1
	}
	tis := func(args ...string) *exec.Cmd {
		cmd := exec.Command(os.Args[0], args...)
		cmd.Dir, cmd.Env = dir, []string{asProgram + "=1", "HOME=" + dir, "PATH=" + os.Getenv("PATH")}
		return cmd
	}
	work := filepath.Join(dir, "work") // not above the sign-ins
	if os.Mkdir(work, 0o700) != nil {
		return 1
	}
	const everyTool = `set -o pipefail
tools srv --help | sed -n 's/^  \([^ ]*\).*/\1/p' | while read -r t; do
  line=$(tools srv "$t" --help | head -n 1)
  eval "$line" || exit 1
done`
	for range 3 {
		out, err := tis("run", "-c", "tis.json", "--dir", work, script(dir, everyTool)).CombinedOutput()
		fmt.Printf("%s", out)
		if err == nil {
			return 0
		}
		if !strings.Contains(string(out), "tis login srv") {
			return 1
		}
		if !browseThrough(tis("login", "-c", "tis.json", "--timeout", "20s", "srv")) {
			return 1
		}
	}
	return 1
}

func script(dir, text string) string {
	name := filepath.Join(dir, "script.sh")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		panic(err)
	}
	return name
}

// browseThrough runs `tis login` and goes where it says.
func browseThrough(login *exec.Cmd) bool {
	stdout, err := login.StdoutPipe()
	if err != nil || login.Start() != nil {
		return false
	}
	var said strings.Builder
	login.Stderr = &said
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		resp, err := (&http.Client{Timeout: 10 * time.Second}).Get(lines.Text())
		if err != nil {
			break
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
	err = login.Wait()
	fmt.Print(said.String())
	return err == nil
}

// clientScenarios are those of the suite for clients. The ones that do not
// apply say why.
var clientScenarios = map[string]string{
	"elicitation-sep1034-client-defaults": "servers cannot ask a person while a script runs",
	"auth/metadata-var2":                  otherIssuer,
	"auth/metadata-var3":                  otherIssuer,
	"auth/basic-cimd":                     "tis has no page of its own on the web that could be its client id; it registers, and the suite warns",
	"auth/client-credentials-jwt":         noPerson,
	"auth/client-credentials-basic":       noPerson,
}

const (
	otherIssuer = "the document names another issuer than the server did, which tis refuses as RFC 8414 says"
	noPerson    = "tis signs a person in; a client without one has its token in the config"
)

func TestThePartOfAClientInTheConformanceSuite(t *testing.T) {
	suite, ok := npm(t, "node_modules", ".bin", "conformance")
	if !ok {
		return
	}
	list, err := exec.Command(suite, "list").Output()
	require.NoError(t, err)
	_, clients, _ := strings.Cut(string(list), "Client scenarios")
	exe, err := os.Executable()
	require.NoError(t, err)
	seen := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^  - (\S+)`).FindAllStringSubmatch(clients, -1) {
		name := m[1]
		seen[name] = true
		if clientScenarios[name] != "" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(suite, "client", "--command", exe, "--scenario", name, "--verbose", "-o", t.TempDir())
			cmd.Env = append(os.Environ(), asClient+"=1")
			out, err := cmd.CombinedOutput()
			assert.NoError(t, err, string(out))
		})
	}
	for name := range clientScenarios {
		assert.True(t, seen[name], "%s is a scenario of the suite", name)
	}
}
