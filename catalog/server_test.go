package catalog_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tools-in-shell/tis/catalog"
)

// onDemand is a catalog of one server that load loads.
func onDemand(load func(context.Context) ([]*catalog.Tool, error)) *catalog.Catalog {
	return catalog.New([]catalog.Source{{Name: "docs", Description: "Product documentation", Load: load}}, nil, catalog.Options{})
}

func call(ctx context.Context, c *catalog.Catalog) *catalog.Error {
	_, err := c.Resolve(ctx, []string{"docs", "find"}, nil, nil)
	return err
}

func TestLoadFailures(t *testing.T) {
	signIn := &catalog.Error{Code: catalog.ConnectionRequired, Message: "sign in"}
	for name, x := range map[string]struct {
		err       error
		code      catalog.Code
		retryable bool
	}{
		"a sign-in passes":           {signIn, catalog.ConnectionRequired, false},
		"a wrapped sign-in passes":   {fmt.Errorf("x: %w", signIn), catalog.ConnectionRequired, false},
		"any other error may pass":   {errors.New("no\nanswer"), catalog.Unavailable, true},
		"another code is no outcome": {&catalog.Error{Code: catalog.ToolError}, catalog.Unavailable, true},
	} {
		t.Run(name, func(t *testing.T) {
			c := onDemand(func(context.Context) ([]*catalog.Tool, error) { return nil, x.err })
			err := call(context.Background(), c)
			require.Equal(t, x.code, err.Code)
			require.Equal(t, x.retryable, err.Retryable)
			require.NotContains(t, err.Message, "\n")
			require.False(t, c.Servers()[0].Loaded)
		})
	}
	c := onDemand(func(context.Context) ([]*catalog.Tool, error) { panic("boom") })
	require.Equal(t, catalog.Unavailable, call(context.Background(), c).Code)
	require.Equal(t, catalog.Unavailable, call(context.Background(), c).Code)
}

func TestCallersAtTheSameTimeShareAFailedLoadToo(t *testing.T) {
	var loads atomic.Int32
	begun, goOn := make(chan struct{}), make(chan struct{})
	c := onDemand(func(context.Context) ([]*catalog.Tool, error) {
		if loads.Add(1) == 1 {
			close(begun)
		}
		<-goOn
		return nil, errors.New("no")
	})
	var wg sync.WaitGroup
	wg.Go(func() { call(context.Background(), c) })
	<-begun
	for range 5 {
		wg.Go(func() {
			if err := call(context.Background(), c); err == nil || err.Code != catalog.Unavailable {
				t.Error(err)
			}
		})
	}
	time.Sleep(20 * time.Millisecond) // the five wait by now; one that comes late would load again
	root, err := c.Resolve(context.Background(), nil, nil, nil)
	require.Nil(t, err, "help does not wait for a load")
	require.Contains(t, root.Text, "docs (not loaded)")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	require.Equal(t, catalog.Unavailable, call(ctx, c).Code, "who is cancelled does not wait")
	close(goOn)
	wg.Wait()
	require.EqualValues(t, 1, loads.Load())
}

func TestALoadThatItsCallerGaveUpIsTriedByWhoWaits(t *testing.T) {
	var loads atomic.Int32
	begun := make(chan struct{})
	c := onDemand(func(ctx context.Context) ([]*catalog.Tool, error) {
		if loads.Add(1) == 1 {
			close(begun)
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return []*catalog.Tool{tool("docs", "find", `{}`)}, nil
	})
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { call(ctx, c) })
	<-begun
	wg.Go(func() {
		if err := call(context.Background(), c); err != nil {
			t.Error(err)
		}
	})
	time.Sleep(10 * time.Millisecond)
	cancel()
	wg.Wait()
	require.EqualValues(t, 2, loads.Load())
}

func TestServersLoadSideBySideWithKeepVisible(t *testing.T) {
	var sources []catalog.Source
	for i := range 8 {
		name := fmt.Sprintf("s%d", i)
		sources = append(sources, catalog.Source{Name: name, Description: "common", Load: func(context.Context) ([]*catalog.Tool, error) {
			return []*catalog.Tool{tool(name, "find", `{}`)}, nil
		}})
	}
	c := catalog.New(sources, nil, catalog.Options{KeepVisible: []string{"s0 find", "s1 find"}})
	require.Empty(t, c.Warnings())
	req, err := c.Resolve(context.Background(), []string{"search", "common"}, nil, nil)
	require.Nil(t, err)
	require.Equal(t, 8, strings.Count(req.Text, "\n"))
	require.Len(t, c.Direct(), 2)
	require.Empty(t, c.Warnings())
}

func TestServersThatCannotBeUsed(t *testing.T) {
	c := catalog.New([]catalog.Source{
		{Name: "dead", Unavailable: &catalog.Error{Code: catalog.Unavailable, Retryable: true, Message: "it died"}},
		{Name: "locked", Unavailable: &catalog.Error{Code: catalog.ConnectionRequired, Message: "sign in"}},
		{Name: "offline"},
	}, nil, catalog.Options{})
	for line, code := range map[string]catalog.Code{"dead x": "unavailable", "dead --help": "unavailable", "locked x": "connection_required", "offline x": "unavailable"} {
		_, err := c.Resolve(context.Background(), strings.Fields(line), nil, nil)
		require.Equal(t, code, err.Code, line)
		_, needs, err := c.ResolveLiteral(strings.Fields(line))
		require.Empty(t, needs)
		require.Equal(t, code, err.Code, line)
	}
	req, err := c.Resolve(context.Background(), nil, nil, nil)
	require.Nil(t, err)
	for _, row := range []string{"dead (unavailable)", "locked (sign-in required)", "offline (not loaded)"} {
		require.Contains(t, req.Text, row)
	}
	require.Equal(t, catalog.UnknownCommand, c.LoadServer(context.Background(), "nope").Code)
}

func TestASearchLoadsWhatMatchesAndLeavesOutWhatFails(t *testing.T) {
	var asked []string
	var mu sync.Mutex
	src := func(name, desc string, err error) catalog.Source {
		return catalog.Source{Name: name, Description: desc, Load: func(context.Context) ([]*catalog.Tool, error) {
			mu.Lock()
			defer mu.Unlock()
			asked = append(asked, name)
			return []*catalog.Tool{tool(name, "find_page", `{"required":["q"]}`)}, err
		}}
	}
	c := catalog.New([]catalog.Source{src("docs", "Product documentation of the shop", nil), src("wiki", "Documentation too", errors.New("no")), src("mail", "Send a letter to the boss", nil)}, nil, catalog.Options{})
	req, err := c.Resolve(context.Background(), []string{"search", "the", "documentations"}, nil, nil)
	require.Nil(t, err)
	require.ElementsMatch(t, []string{"docs", "wiki"}, asked)
	require.Equal(t, "tools docs find-page '{\"q\":\"...\"}'  # Does find_page.\n", req.Text)
}

func TestABigCatalogCostsNothingUntilItIsNamed(t *testing.T) {
	var sources []catalog.Source
	for i := range 20 {
		src := catalog.Source{Name: fmt.Sprintf("s%d", i), Loaded: true}
		for j := range 500 {
			src.Tools = append(src.Tools, tool(src.Name, fmt.Sprintf("tool_%d", j), `{"type":"object"}`))
		}
		sources = append(sources, src)
	}
	perRun := testing.AllocsPerRun(10, func() { catalog.New(sources, nil, catalog.Options{KeepVisible: []string{"s1 tool_1"}}) })
	require.Less(t, perRun, 300.0)
}

func BenchmarkNewAndOneCall(b *testing.B) {
	src := catalog.Source{Name: "s", Loaded: true}
	for j := range 200 {
		src.Tools = append(src.Tools, tool("s", fmt.Sprintf("tool_%d", j), typed))
	}
	for b.Loop() {
		c := catalog.New([]catalog.Source{src}, nil, catalog.Options{})
		if _, err := c.Resolve(context.Background(), []string{"s", "tool-7", "n=1", "s=2"}, nil, nil); err != nil {
			b.Fatal(err)
		}
	}
}
