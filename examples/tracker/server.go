package main

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/png"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type (
	none     struct{}
	stateArg struct {
		State string `json:"state,omitempty" jsonschema:"open, closed or all; default all"`
	}
	numberArg struct {
		Number int `json:"number" jsonschema:"the issue's number"`
	}
	labelArg struct {
		Number int    `json:"number" jsonschema:"the issue's number"`
		Label  string `json:"label" jsonschema:"bug, feature or chore"`
	}
	commentArg struct {
		Number int    `json:"number" jsonschema:"the issue's number"`
		Body   string `json:"body" jsonschema:"the comment's text"`
	}
	titleArg struct {
		Title string `json:"title" jsonschema:"the issue's title"`
	}
	branchArg struct {
		Branch string `json:"branch" jsonschema:"the branch's name"`
	}

	issuesOut struct {
		Issues []issue `json:"issues"`
	}
	commentsOut struct {
		Comments []comment `json:"comments"`
	}
	branchesOut struct {
		Branches []branch `json:"branches"`
	}
	done struct {
		OK bool `json:"ok"`
	}
)

// The annotations: what a tool says of itself.
func reads() *mcp.ToolAnnotations { return &mcp.ToolAnnotations{ReadOnlyHint: true} }

func changes() *mcp.ToolAnnotations { return &mcp.ToolAnnotations{DestructiveHint: new(bool)} }

func destroys() *mcp.ToolAnnotations {
	yes := true
	return &mcp.ToolAnnotations{DestructiveHint: &yes}
}

// add registers one tool whose result is structured.
func add[In, Out any](server *mcp.Server, name, description string, a *mcp.ToolAnnotations, f func(context.Context, In) (Out, error)) {
	mcp.AddTool(server, &mcp.Tool{Name: name, Description: description, Annotations: a},
		func(ctx context.Context, _ *mcp.CallToolRequest, in In) (*mcp.CallToolResult, Out, error) {
			out, err := f(ctx, in)
			return nil, out, err
		})
}

func newServer(s *store) *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "tracker", Version: "1.0.0"}, nil)
	add(server, "list_issues", "List issues. Oldest number first.", reads(), func(ctx context.Context, in stateArg) (issuesOut, error) {
		list, err := s.issues(ctx, in.State)
		return issuesOut{list}, err
	})
	add(server, "list_comments", "List the comments of an issue.", reads(), func(ctx context.Context, in numberArg) (commentsOut, error) {
		list, err := s.comments(ctx, in.Number)
		return commentsOut{list}, err
	})
	add(server, "list_branches", "List branches and whether they are merged.", reads(), func(ctx context.Context, _ none) (branchesOut, error) {
		list, err := s.branches(ctx)
		return branchesOut{list}, err
	})
	add(server, "add_label", "Label an issue.", changes(), func(ctx context.Context, in labelArg) (done, error) {
		return done{true}, s.change(ctx, "issue", "UPDATE issues SET label = ? WHERE number = ?", in.Label, in.Number)
	})
	add(server, "create_comment", "Comment on an issue.", changes(), func(ctx context.Context, in commentArg) (done, error) {
		return done{true}, s.change(ctx, "issue", "INSERT INTO comments (issue, author, body) SELECT number, 'agent', ? FROM issues WHERE number = ?", in.Body, in.Number)
	})
	add(server, "create_issue", "Create an issue.", changes(), func(ctx context.Context, in titleArg) (issue, error) {
		res, err := s.db.ExecContext(ctx, "INSERT INTO issues (title) VALUES (?)", in.Title)
		if err != nil {
			return issue{}, err
		}
		n, err := res.LastInsertId()
		return issue{Number: int(n), Title: in.Title, State: "open"}, err
	})
	add(server, "close_issue", "Close an issue.", changes(), func(ctx context.Context, in numberArg) (done, error) {
		return done{true}, s.change(ctx, "issue", "UPDATE issues SET state = 'closed' WHERE number = ?", in.Number)
	})
	add(server, "delete_branch", "Delete a branch for good.", destroys(), func(ctx context.Context, in branchArg) (done, error) {
		return done{true}, s.change(ctx, "branch", "DELETE FROM branches WHERE name = ?", in.Branch)
	})
	mcp.AddTool(server, &mcp.Tool{Name: "burndown", Description: "Draw the ages of the open issues as a picture.", Annotations: reads()},
		func(ctx context.Context, _ *mcp.CallToolRequest, _ none) (*mcp.CallToolResult, any, error) {
			list, err := s.issues(ctx, "open")
			if err != nil {
				return nil, nil, err
			}
			picture, err := bars(list)
			if err != nil {
				return nil, nil, err
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.ImageContent{Data: picture, MIMEType: "image/png"}}}, nil, nil
		})
	return server
}

// bars draws one bar an issue, as high as it is old.
func bars(list []issue) ([]byte, error) {
	img := image.NewRGBA(image.Rect(0, 0, 20*max(len(list), 1), 100))
	for x := range img.Bounds().Dx() {
		for y := range 100 {
			img.Set(x, y, color.White)
			if i := x / 20; i < len(list) && x%20 > 3 && 100-y <= min(list[i].AgeDays, 100) {
				img.Set(x, y, color.RGBA{0x2b, 0x6c, 0xb0, 0xff})
			}
		}
	}
	var b bytes.Buffer
	err := png.Encode(&b, img)
	return b.Bytes(), err
}
