package mcpsource_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tools-in-shell/tis/mcpsource"
)

func TestARedactorTakesOutTheSecretsOfEveryServer(t *testing.T) {
	redact := mcpsource.Redactor([]mcpsource.ServerConfig{
		{Env: map[string]string{"API_TOKEN": `a"b`}, Args: []string{"--password", "hunter2"}},
		{URL: "https://u:pass1234@example.com/?key=k123", Headers: map[string]string{"Authorization": "Bearer bearer-1"}},
	}, "further", "")
	assert.Equal(t, `*** *** *** *** *** *** plain`, redact(`a"b a\"b hunter2 k123 bearer-1 further plain`))
}
