package intercept

import (
	"fmt"
	"io"

	"github.com/tools-in-shell/tis/catalog"
)

// maxLinks is how many links of one result are told about.
const maxLinks = 5

// tellLinks says on stderr how to read the resources that a result names.
func (i *Interceptor) tellLinks(std Stdio, call catalog.Call, links []string) {
	told := 0
	for n, uri := range links {
		line := i.Catalog.ResourceLine(call.Tool.Server, uri)
		if line == "" {
			continue
		}
		if told == maxLinks {
			fmt.Fprintf(std.Stderr, "tools: and %d more resources\n", len(links)-n)
			return
		}
		told++
		io.WriteString(std.Stderr, "tools: to read it: "+line+"\n")
	}
}
